//! `impl Trait`, wherever it may stand.

use std::fmt::Display;
use std::future::{Future, Ready, ready};

use futures::future::Either;
use ratelimit_runtime::{RateLimitKey, RateLimited, Reason, rate_limit};

use crate::{Bodies, at_once, is_send};

type Answer<T> = Result<T, RateLimited>;

#[test]
fn impl_trait_is_an_argument_and_a_key() {
    static BODIES: Bodies = Bodies::new();

    #[rate_limit(key = (key, word.as_ref()), max = 1, window = "1h")]
    fn length(key: impl RateLimitKey, word: impl AsRef<str>, then: impl FnOnce(usize)) -> Option<()> {
        BODIES.run();
        then(word.as_ref().len());
        Some(())
    }

    let mut lengths = Vec::new();
    assert!(length(1, "tea", |length| lengths.push(length)).is_some());
    assert!(length("1", String::from("tea"), |length| lengths.push(length)).is_some());
    assert!(length(1_u64, String::from("tea"), |length| lengths.push(length)).is_none());
    assert_eq!((lengths, BODIES.count()), (vec![3, 3], 2));
}

#[test]
fn impl_trait_is_inside_the_return_type() {
    static BODIES: Bodies = Bodies::new();

    #[rate_limit(max = 1, window = "1h")]
    fn option(word: &str) -> Option<impl Iterator<Item = char>> {
        BODIES.run();
        Some(word.chars().rev())
    }

    #[rate_limit(max = 1, window = "1h")]
    fn result(word: &str) -> Result<Box<impl Display + ?Sized>, RateLimited> {
        BODIES.run();
        Ok(Box::<str>::from(word))
    }

    #[rate_limit(max = 1, window = "1h")]
    fn alias(word: &str) -> Answer<impl Display + Clone + use<'_>> {
        BODIES.run();
        Ok(word)
    }

    #[rate_limit(max = 1, window = "1h")]
    async fn asynchronous(word: &str) -> Answer<impl Display + Send> {
        BODIES.run();
        Ok(word)
    }

    assert_eq!(option("tea").unwrap().collect::<String>(), "aet");
    assert!(option("tea").is_none());
    assert_eq!(result("tea").unwrap().to_string(), "tea");
    assert!(result("tea").is_err());
    assert_eq!(alias("tea").unwrap().to_string(), "tea");
    assert!(alias("tea").is_err());
    assert_eq!(at_once(is_send(asynchronous("tea"))).unwrap().to_string(), "tea");
    assert!(at_once(asynchronous("tea")).is_err());
    assert_eq!(BODIES.count(), 4);
}

#[test]
fn a_function_that_returns_a_future_has_a_fallback_of_its_type() {
    static BODIES: Bodies = Bodies::new();

    #[rate_limit(max = 1, window = "1h", fallback = |limited| ready(Err(limited)))]
    fn simple(word: &'static str) -> impl Future<Output = Result<&'static str, RateLimited>> + Send {
        BODIES.run();
        ready(Ok(word))
    }

    #[rate_limit(max = 1, window = "1h", fallback = |limited| Either::Right(ready(Err(limited))))]
    fn either(word: &str) -> impl Future<Output = Result<&str, RateLimited>> {
        BODIES.run();
        Either::Left(async move { Ok(word) })
    }

    #[rate_limit(max = 1, window = "1h", fallback = |_| ready(0))]
    fn named(word: &str) -> Ready<usize> {
        BODIES.run();
        ready(word.len())
    }

    assert_eq!(at_once(is_send(simple("tea"))).unwrap(), "tea");
    assert_eq!(at_once(simple("tea")).unwrap_err().reason(), Reason::Exceeded);
    assert_eq!(at_once(either("tea")).unwrap(), "tea");
    assert_eq!(at_once(either("tea")).unwrap_err().reason(), Reason::Exceeded);
    assert_eq!([at_once(named("tea")), at_once(named("tea"))], [3, 0]);
    assert_eq!(BODIES.count(), 3);
}

#[test]
fn a_function_that_returns_impl_trait_may_wait() {
    static BODIES: Bodies = Bodies::new();

    #[rate_limit(max = 2, window = "1h", wait)]
    fn bare(word: &str) -> impl Iterator<Item = char> {
        BODIES.run();
        word.chars().rev()
    }

    #[rate_limit(max = 2, window = "1h", wait = "1s")]
    fn alias(word: &str) -> Answer<impl Display> {
        BODIES.run();
        Ok(word)
    }

    #[rate_limit(max = 2, window = "1h", wait)]
    async fn asynchronous(word: &str) -> impl Display {
        BODIES.run();
        word
    }

    assert_eq!(bare("tea").chain(bare("pot")).collect::<String>(), "aettop");
    assert_eq!([alias("tea"), alias("pot")].map(|word| word.unwrap().to_string()), ["tea", "pot"]);
    assert_eq!(alias("lid").err().unwrap().reason(), Reason::WaitTooLong);
    assert_eq!(at_once(asynchronous("tea")).to_string(), "tea");
    assert_eq!(BODIES.count(), 5);
}

#[test]
fn a_method_of_a_trait_returns_impl_trait() {
    static BODIES: Bodies = Bodies::new();

    trait Shelf {
        fn items(&self) -> Option<impl Iterator<Item = u8>>;

        #[rate_limit(max = 1, window = "1h")]
        fn labels(&self) -> Option<impl Display> {
            BODIES.run();
            Some("label")
        }
    }

    impl Shelf for Vec<u8> {
        #[rate_limit(key = self, max = 1, window = "1h")]
        fn items(&self) -> Option<impl Iterator<Item = u8>> {
            BODIES.run();
            Some(self.iter().copied())
        }
    }

    let shelf = vec![1, 2];
    assert!(shelf.items().unwrap().eq([1, 2]));
    assert!(shelf.items().is_none());
    assert!(vec![3].items().unwrap().eq([3]));
    assert_eq!(shelf.labels().unwrap().to_string(), "label");
    assert!(vec![].labels().is_none());
    assert_eq!(BODIES.count(), 3);
}
