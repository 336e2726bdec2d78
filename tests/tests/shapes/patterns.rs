//! Every pattern that a parameter may be: the key sees the names that it binds.

#![expect(clippy::toplevel_ref_arg, clippy::trivially_copy_pass_by_ref, reason = "they are patterns too")]

use ratelimit_runtime::{RateLimited, rate_limit};

use crate::{Bodies, at_once};

struct Order {
    buyer: String,
    lines: Vec<u32>,
    paid: bool,
}

struct Id(u64);

fn order(buyer: &str, lines: &[u32]) -> Order {
    Order { buyer: buyer.to_owned(), lines: lines.to_vec(), paid: true }
}

#[test]
fn parameters_may_be_destructured() {
    static BODIES: Bodies = Bodies::new();

    #[rate_limit(key = (a, b, nested), max = 1, window = "1h")]
    fn tuple((a, (b, mut nested)): (u8, (String, Vec<u8>)), _: u8) -> Option<(u8, String, Vec<u8>)> {
        BODIES.run();
        nested.push(a);
        Some((a, b, nested))
    }

    #[rate_limit(key = buyer, cost = lines.iter().sum(), max = 5, window = "1h")]
    fn fields(Order { buyer, lines, .. }: Order) -> Option<(String, Vec<u32>)> {
        BODIES.run();
        Some((buyer, lines))
    }

    #[rate_limit(key = id, max = 1, window = "1h", when = !skip)]
    fn wrapped(Id(id): Id, Order { paid: skip, .. }: &Order) -> Option<u64> {
        BODIES.run();
        Some(id)
    }

    assert_eq!(tuple((1, ("tea".to_owned(), vec![2])), 0), Some((1, "tea".to_owned(), vec![2, 1])));
    assert_eq!(tuple((1, ("tea".to_owned(), vec![2])), 1), None);
    assert_eq!(fields(order("ada", &[1, 3])), Some(("ada".to_owned(), vec![1, 3])));
    assert_eq!(fields(order("ada", &[1, 1])), None);
    assert_eq!(fields(order("ada", &[1])), Some(("ada".to_owned(), vec![1])));
    let unpaid = Order { paid: false, ..order("ada", &[]) };
    assert_eq!([wrapped(Id(1), &unpaid), wrapped(Id(1), &unpaid)], [Some(1), None]);
    assert_eq!(wrapped(Id(1), &order("ada", &[])), Some(1));
    assert_eq!(BODIES.count(), 5);
}

#[test]
fn parameters_may_be_mutable_borrowed_bound_or_ignored() {
    static BODIES: Bodies = Bodies::new();

    #[rate_limit(key = count, max = 1, window = "1h")]
    fn mutable(mut count: u32, mut words: Vec<u32>) -> Option<Vec<u32>> {
        BODIES.run();
        count += 1;
        words.push(count);
        Some(words)
    }

    #[rate_limit(key = (word, number), max = 1, window = "1h")]
    fn borrowed(ref word: String, ref mut number: u32) -> Option<u32> {
        BODIES.run();
        *number += 1;
        Some(*number + u32::from(word.is_empty()))
    }

    #[rate_limit(key = (whole.len(), first), max = 1, window = "1h")]
    fn bound(whole @ [first, .., _last]: [u8; 3], &(left, _): &(u8, u8), _: &str) -> Option<[u8; 3]> {
        BODIES.run();
        Some([whole[2], first, left])
    }

    #[rate_limit(key = "y", max = 1, window = "1h")]
    fn closure_like([(_x, y), ..]: [(u8, u8); 2]) -> Option<u8> {
        BODIES.run();
        Some(y)
    }

    assert_eq!([mutable(6, vec![]), mutable(6, vec![])], [Some(vec![7]), None]);
    assert_eq!([borrowed(String::new(), 6), borrowed(String::new(), 6)], [Some(8), None]);
    assert_eq!([bound([1, 2, 3], &(4, 5), ""), bound([1, 2, 3], &(4, 5), "")], [Some([3, 1, 4]), None]);
    assert_eq!([closure_like([(1, 2), (3, 4)]), closure_like([(3, 2), (1, 4)])], [Some(2), None]);
    assert_eq!(BODIES.count(), 4);
}

#[test]
fn parameters_of_an_async_function_may_be_destructured() {
    static BODIES: Bodies = Bodies::new();

    #[rate_limit(key = (buyer, id), max = 1, window = "1h")]
    async fn place(
        Order { buyer, mut lines, .. }: Order,
        Id(id): Id,
        _: impl FnOnce(),
        (ref word, _): (String, u8),
    ) -> Result<usize, RateLimited> {
        BODIES.run();
        std::future::ready(()).await;
        lines.push(1);
        Ok(buyer.len() + word.len() + lines.len())
    }

    let call = || at_once(place(order("ada", &[1]), Id(1), || {}, ("tea".to_owned(), 1)));
    assert_eq!(call().unwrap(), 8);
    assert!(call().is_err());
    assert_eq!(BODIES.count(), 1);
}
