//! What is one key, and what is two.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::{self, Display};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::num::{NonZeroI8, NonZeroU64};
use std::rc::Rc;
use std::sync::Arc;

use proptest::prelude::*;
use ratelimit_runtime::__private::Key;
use ratelimit_runtime::{KeyEncoder, RateLimitKey, client_net, display};

/// Holds if all of them are one key.
macro_rules! one_key {
    ($first:expr, $($other:expr),+ $(,)?) => {{
        let first = Key::of(&$first);
        $(assert_eq!(first, Key::of(&$other), "{} and {}", stringify!($first), stringify!($other));)+
    }};
}

/// Holds if each of them is a key of its own.
macro_rules! all_differ {
    ($($key:expr),+ $(,)?) => {{
        let keys = [$((Key::of(&$key), stringify!($key))),+];
        for (position, (key, text)) in keys.iter().enumerate() {
            for (other, other_text) in &keys[position + 1..] {
                assert_ne!(key, other, "{text} and {other_text}");
            }
        }
    }};
}

#[test]
fn an_integer_is_one_key_whatever_its_type() {
    one_key!(1u8, 1u16, 1u32, 1u64, 1u128, 1usize, 1i8, 1i16, 1i32, 1i64, 1i128, 1isize, NonZeroU64::MIN);
    one_key!(300u16, 300u32, 300i16, 300i128, 300usize);
    one_key!(-1i8, -1i16, -1i32, -1i64, -1i128, -1isize);
    one_key!(-128i8, -128i64, NonZeroI8::MIN);
    one_key!(i64::MIN, i128::from(i64::MIN));
    one_key!(u64::MAX, u128::from(u64::MAX), i128::from(u64::MAX));
    one_key!(i128::MAX, i128::MAX.cast_unsigned());
}

#[test]
fn two_integers_are_two_keys_at_every_edge() {
    let edges = [8, 16, 32, 64, 127].map(|bits| 1i128.checked_shl(bits).unwrap_or(i128::MAX));
    let mut numbers: Vec<i128> = edges
        .iter()
        .flat_map(|edge| [-1, 0, 1].map(|step| edge.wrapping_add(step)))
        .flat_map(|number| [number, number.wrapping_neg(), !number])
        .chain([0, 1, -1, 7, 127, 128, -128, -129])
        .collect();
    numbers.sort_unstable();
    numbers.dedup();
    let keys: HashMap<Key, i128> = numbers.iter().map(|number| (Key::of(number), *number)).collect();
    assert_eq!(keys.len(), numbers.len());
    all_differ!(-1, u64::MAX, u128::MAX, i128::MAX, i128::MIN);
}

#[test]
fn a_text_is_one_key_whatever_holds_it() {
    for text in ["", "s", "a text that is longer than what is kept of a key as it is"] {
        one_key!(
            *text,
            text,
            &text,
            text.to_owned(),
            Cow::Borrowed(text),
            Cow::<str>::Owned(text.to_owned()),
            Box::<str>::from(text),
            Arc::<str>::from(text),
            Rc::<str>::from(text),
            Box::new(text.to_owned()),
            Arc::new(text.to_owned()),
            display(text),
        );
    }
}

#[test]
fn what_prints_as_a_text_is_the_key_of_that_text() {
    struct InPieces;
    impl Display for InPieces {
        fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            ["the pieces are ", "", "short, and ", "together ", "they are long"]
                .into_iter()
                .try_for_each(|piece| formatter.write_str(piece))
        }
    }
    one_key!(display(InPieces), display(&InPieces), "the pieces are short, and together they are long");
    one_key!(display(7.5), "7.5");
    one_key!(display(format_args!("{}/{}", 1, 2)), "1/2");
}

#[test]
fn a_display_that_fails_is_still_a_key() {
    struct Failing;
    impl Display for Failing {
        fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("so far")?;
            Err(fmt::Error)
        }
    }
    one_key!((display(Failing), 1), ("so far", 1));
}

#[test]
fn the_same_values_in_a_row_are_one_key() {
    one_key!((1, 2), [1, 2], vec![1, 2], *[1, 2].as_slice(), [1, 2].as_slice(), Box::<[u8]>::from([1, 2]));
    one_key!((), [0u8; 0], Vec::<String>::new());
    one_key!(("a", 1u8), (String::from("a"), 1i64));
}

#[test]
fn parts_do_not_run_together() {
    all_differ!(("a", "bc"), ("ab", "c"), ("abc", ""), ("abc",), "abc", ("", "abc"), ["a", "b", "c"]);
    all_differ!((1, (2, 3)), ((1, 2), 3), (1, 2, 3), ((1, 2, 3),), ((1,), (2, 3)), [[1], [2]], [[1, 2]]);
    all_differ!((), ((),), [(), ()], ((), ((),)), ("",), "", (None::<u8>,));
    all_differ!(1, (1,), ((1,),), Some(1), Some(Some(1)), Some((1,)), (Some(1),));
}

#[test]
fn values_of_different_kinds_are_different_keys() {
    all_differ!(Some(""), None::<&str>, "", ());
    all_differ!(7, "7", '7', Some(7), Ok::<u8, u8>(7), Err::<u8, u8>(7), [7]);
    all_differ!(true, false, 1, 0, "true", "false");
    all_differ!(Ok::<_, IpAddr>(7), Err::<u8, _>(IpAddr::from([0, 0, 0, 7])), Err::<u8, u8>(7));
    all_differ!(
        Ipv4Addr::from_bits(7),
        Ipv6Addr::from_bits(7),
        7,
        "0.0.0.7",
        Ipv4Addr::from_bits(7).to_ipv6_mapped()
    );
}

#[test]
fn an_address_is_the_key_of_its_variant() {
    let v4 = Ipv4Addr::new(192, 0, 2, 1);
    let v6 = Ipv6Addr::LOCALHOST;
    one_key!(v4, IpAddr::V4(v4));
    one_key!(v6, IpAddr::V6(v6));
    let socket_v4 = SocketAddrV4::new(v4, 80);
    let socket_v6 = SocketAddrV6::new(v6, 80, 0, 0);
    one_key!(socket_v4, SocketAddr::V4(socket_v4));
    one_key!(socket_v6, SocketAddr::V6(socket_v6));
    all_differ!(
        v4,
        v6,
        socket_v4,
        socket_v6,
        SocketAddrV4::new(v4, 81),
        SocketAddrV6::new(v6, 81, 0, 0),
        SocketAddrV6::new(v6, 80, 1, 0),
        SocketAddrV6::new(v6, 80, 0, 1),
    );
}

#[test]
fn a_client_is_its_ipv6_network_or_its_ipv4_address() {
    let net = |text: &str| client_net(text.parse::<IpAddr>().expect("an address"));
    one_key!(net("2001:db8:1:2::3"), net("2001:db8:1:2:ffff:ffff:ffff:ffff"));
    one_key!(net("192.0.2.1"), net("::ffff:192.0.2.1"), Ipv4Addr::new(192, 0, 2, 1));
    all_differ!(
        net("2001:db8:1:2::3"),
        net("2001:db8:1:3::3"),
        net("192.0.2.1"),
        net("192.0.2.2"),
        net("::192.0.2.1"),
        "2001:db8:1:2::".parse::<IpAddr>().expect("an address"),
    );
    assert_eq!(net("2001:db8::1:2:3:4").to_string(), "2001:db8::/64");
    assert_eq!(net("2001:db8::1:2:3:4").address(), "2001:db8::".parse::<IpAddr>().expect("an address"));
    assert_eq!(net("::ffff:192.0.2.1").to_string(), "192.0.2.1");
}

#[cfg(feature = "uuid")]
#[test]
fn a_uuid_is_its_sixteen_bytes_and_no_number_or_text() {
    let uuid = uuid::Uuid::from_u128(0x0123_4567_89ab_cdef_0123_4567_89ab_cdef);
    one_key!(uuid, &uuid);
    all_differ!(uuid, uuid.as_u128(), uuid.to_string(), uuid.as_bytes(), uuid::Uuid::nil());
}

#[test]
fn every_length_of_key_is_told_apart() {
    let text = "a".repeat(100);
    let mut keys: HashMap<Key, usize> = (0..=100).map(|length| (Key::of(&text[..length]), length)).collect();
    // Beside those, what would be taken for another length if only the bytes counted.
    for length in 0..=100 {
        keys.insert(Key::of(&format!("{}\0", &text[..length])), 1000 + length);
    }
    assert_eq!(keys.len(), 2 * 101);
}

#[test]
fn a_key_of_any_length_is_24_bytes_and_copied() {
    fn copied<T: Copy>(_: T) -> usize {
        size_of::<T>()
    }
    let long = "a".repeat(100_000);
    assert_eq!(copied(Key::of(&long)), 24);
    assert_eq!(Key::of(&long), Key::of(&long.clone()));
    assert_ne!(Key::of(&long), Key::of(&long[1..]));
}

#[test]
fn variants_are_told_by_name_and_by_their_parts() {
    struct Variant(&'static str, Vec<u8>);
    impl RateLimitKey for Variant {
        fn encode(&self, encoder: &mut KeyEncoder) {
            let mut parts = encoder.variant(self.0);
            for part in &self.1 {
                parts.part(part);
            }
        }
    }
    all_differ!(
        Variant("A", vec![]),
        Variant("AB", vec![]),
        Variant("A", vec![1]),
        Variant("A", vec![1, 2]),
        Variant("B", vec![1]),
        "A",
        ("A", 1),
        [Variant("A", vec![]), Variant("A", vec![])],
        (Variant("A", vec![]), 1),
        (Variant("A", vec![1]),),
    );
}

#[cfg(feature = "macros")]
mod derived {
    use super::{Key, RateLimitKey};

    #[derive(RateLimitKey)]
    struct UserId(u64);

    #[derive(RateLimitKey)]
    struct Id<T>(T);

    #[derive(RateLimitKey)]
    struct Cell<'a> {
        row: u8,
        column: &'a str,
    }

    #[derive(RateLimitKey)]
    struct Pair(u8, u8);

    #[derive(RateLimitKey)]
    struct Unit;

    #[test]
    fn a_struct_is_the_key_of_its_fields() {
        one_key!(UserId(7), 7, Id(7u8), Id(Id(7)), Id(UserId(7)));
        one_key!(Cell { row: 1, column: "a" }, ("a", 1));
        one_key!(Pair(1, 2), (1, 2));
        one_key!(Unit, ());
        all_differ!(Pair(1, 2), Pair(2, 1), Id(Pair(2, 2)), UserId(2), Unit);
    }

    #[test]
    fn the_order_in_the_source_is_no_part_of_the_key() {
        mod other {
            #[derive(super::RateLimitKey)]
            pub(super) struct Cell {
                pub(super) column: String,
                pub(super) row: u64,
            }
            #[derive(super::RateLimitKey)]
            pub(super) enum Plan {
                Paid { unit: u8, seats: u8 },
                Free,
            }
        }
        #[derive(RateLimitKey)]
        enum Plan {
            Free,
            Paid { seats: u8, unit: u8 },
        }
        one_key!(Cell { row: 1, column: "a" }, other::Cell { column: "a".to_owned(), row: 1 });
        one_key!(Plan::Free, other::Plan::Free);
        one_key!(Plan::Paid { seats: 1, unit: 2 }, other::Plan::Paid { unit: 2, seats: 1 });
        all_differ!(
            Plan::Free,
            Plan::Paid { seats: 1, unit: 2 },
            Plan::Paid { seats: 2, unit: 1 },
            "Free",
            (1, 2)
        );
    }
}

/// Any key there can be, where equal means the same value.
#[derive(Clone, Debug, PartialEq)]
enum Value {
    Unsigned(u128),
    Negative(i128),
    Bool(bool),
    Char(char),
    Text(String),
    Ip(IpAddr),
    Socket(SocketAddr),
    Client(Ipv6Addr),
    Row(Vec<Value>),
    Option(Option<Box<Value>>),
    Result(Result<Box<Value>, Box<Value>>),
    Variant(&'static str, Vec<Value>),
}

impl RateLimitKey for Value {
    fn encode(&self, encoder: &mut KeyEncoder) {
        match self {
            Self::Unsigned(number) => number.encode(encoder),
            Self::Negative(number) => number.encode(encoder),
            Self::Bool(value) => value.encode(encoder),
            Self::Char(value) => value.encode(encoder),
            Self::Text(text) => text.encode(encoder),
            Self::Ip(ip) => ip.encode(encoder),
            Self::Socket(address) => address.encode(encoder),
            Self::Client(ip) => client_net(*ip).encode(encoder),
            Self::Row(values) => values.encode(encoder),
            Self::Option(value) => value.encode(encoder),
            Self::Result(value) => value.encode(encoder),
            Self::Variant(name, values) => {
                let mut parts = encoder.variant(name);
                for value in values {
                    parts.part(value);
                }
            }
        }
    }
}

/// Few values, so that near ones meet, among them bytes that are tags and ends of the encoding.
fn values() -> impl Strategy<Value = Value> {
    let unsigned =
        prop::sample::select(vec![0, 1, 2, 11, 255, 256, 1 << 32, u128::from(u64::MAX), u128::MAX]);
    let negative = prop::sample::select(vec![-1, -2, -256, -257, i128::from(i64::MIN), i128::MIN]);
    let text = prop_oneof![
        prop::sample::select(vec!["", "a", "b", "ab", "\0", "\u{1}", "\u{b}", "\u{2}\u{1}", "ÿ"]),
        Just("longer than all that is kept of a key"),
        Just("longer than all that is kept of a kez"),
    ];
    let ip = prop::sample::select(vec![[0u8; 4], [1; 4], [11; 4]]);
    let leaf = prop_oneof![
        unsigned.prop_map(Value::Unsigned),
        negative.prop_map(Value::Negative),
        any::<bool>().prop_map(Value::Bool),
        prop::sample::select(vec!['a', '\0', '\u{10ffff}']).prop_map(Value::Char),
        text.prop_map(|text| Value::Text(text.to_owned())),
        ip.clone().prop_map(|ip| Value::Ip(ip.into())),
        ip.clone()
            .prop_map(|[a, b, c, d]| Value::Ip([a, b, c, d, a, b, c, d, a, b, c, d, a, b, c, d].into())),
        (ip.clone(), 0u16..2).prop_map(|(ip, port)| Value::Socket((ip, port).into())),
        (0u16..2, 0u32..2, 0u32..2).prop_map(|(port, flow, scope)| Value::Socket(
            SocketAddrV6::new(Ipv6Addr::LOCALHOST, port, flow, scope).into()
        )),
        (0u16..3).prop_map(|net| Value::Client(Ipv6Addr::new(0x2001, 0xdb8, 0, net, 0, 0, 0, 0))),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        let row = prop::collection::vec(inner.clone(), 0..4);
        prop_oneof![
            3 => row.clone().prop_map(Value::Row),
            1 => prop::option::of(inner.clone()).prop_map(|value| Value::Option(value.map(Box::new))),
            1 => inner.clone().prop_map(|value| Value::Result(Ok(Box::new(value)))),
            1 => inner.prop_map(|value| Value::Result(Err(Box::new(value)))),
            1 => (prop::sample::select(vec!["A", "AB", ""]), row).prop_map(|(name, row)| Value::Variant(name, row)),
        ]
    })
}

proptest! {
    #[test]
    fn keys_are_equal_exactly_where_values_are(values in prop::collection::vec(values(), 100)) {
        let mut seen: HashMap<Key, Value> = HashMap::new();
        for value in values {
            let key = Key::of(&value);
            prop_assert_eq!(key, Key::of(&value.clone()));
            if let Some(other) = seen.insert(key, value.clone()) {
                prop_assert_eq!(other, value);
            }
        }
    }

    #[test]
    fn values_apart_stay_apart_in_any_company(first in values(), second in values(), beside in values()) {
        let apart = first != second;
        prop_assert_eq!(Key::of(&first) != Key::of(&second), apart);
        prop_assert_eq!(Key::of(&(&beside, &first)) != Key::of(&(&beside, &second)), apart);
        prop_assert_eq!(Key::of(&(&first, &beside)) != Key::of(&(&second, &beside)), apart);
        // Two and one of them are never the same row.
        prop_assert_ne!(Key::of(&(&first, &second)), Key::of(&(&first,)));
    }

    #[test]
    fn any_text_is_told_from_any_other(pair in (".{0,40}", ".{0,40}"), split in 0usize..40) {
        let (first, second) = pair;
        prop_assert_eq!(Key::of(&first) == Key::of(&second), first == second);
        // The same characters, split elsewhere.
        let characters: Vec<char> = first.chars().collect();
        let at = split.min(characters.len());
        let left: String = characters[..at].iter().collect();
        let right: String = characters[at..].iter().collect();
        let whole = (first.as_str(), "");
        prop_assert_eq!(Key::of(&(&left, &right)) == Key::of(&whole), right.is_empty());
    }
}
