//! The encoding's own bytes: what can only be seen from inside.

use std::net::{IpAddr, SocketAddr, SocketAddrV6};

use super::*;
use crate::key::{client_net, display};

/// The bytes of a short key.
fn encoding(key: &dyn RateLimitKey) -> Vec<u8> {
    let key = Key::of(key);
    assert!(!key.is_digest(), "a short key");
    let (bytes, length) = key.bytes();
    bytes[..length].to_vec()
}

/// Of each kind, and of each length that kind has.
fn short_keys() -> Vec<Box<dyn RateLimitKey>> {
    let mut keys: Vec<Box<dyn RateLimitKey>> = vec![
        Box::new(0),
        Box::new(-1),
        Box::new(u128::MAX),
        Box::new(i128::MIN),
        Box::new(true),
        Box::new(false),
        Box::new('\0'),
        Box::new('\u{ff}'),
        Box::new(""),
        Box::new("\0"),
        Box::new("ÿ"),
        Box::new(display("printed")),
        Box::new(None::<u8>),
        Box::new(Some(0)),
        Box::new(Some("")),
        Box::new(Ok::<u8, u8>(0)),
        Box::new(Err::<u8, u8>(0)),
        Box::new(()),
        Box::new((0,)),
        Box::new((0, 0)),
        Box::new(((), ())),
        Box::new(IpAddr::from([0; 4])),
        Box::new(IpAddr::from([0; 16])),
        Box::new(client_net([0; 16])),
        Box::new(SocketAddr::from(([0; 4], 0))),
        Box::new(SocketAddr::from(([0; 16], 0))),
    ];
    for bit in 0..64 {
        keys.push(Box::new(1_u64 << bit));
        keys.push(Box::new(!(1_i128 << bit)));
    }
    keys
}

#[test]
fn no_encoding_is_the_beginning_of_another() {
    let encodings: Vec<Vec<u8>> = short_keys().iter().map(|key| encoding(key.as_ref())).collect();
    for (position, first) in encodings.iter().enumerate() {
        for second in &encodings[position + 1..] {
            assert!(!first.starts_with(second) && !second.starts_with(first), "{first:x?} and {second:x?}");
        }
    }
}

#[test]
fn what_is_kept_in_stores_is_encoded_as_ever() {
    assert_eq!(encoding(&0), [0x20]);
    assert_eq!(encoding(&258), [0x22, 2, 1]);
    assert_eq!(encoding(&-2), [0x31, 1]);
    assert_eq!(encoding(&"ab"), [0x0B, b'a', b'b', 0xFF]);
    assert_eq!(encoding(&(1, None::<u8>)), [0x02, 0x21, 1, 0x04, 0x01]);
    assert_eq!(
        encoding(&client_net([0x20, 1, 13, 184, 0, 0, 0, 7, 9, 9, 9, 9, 9, 9, 9, 9])),
        [14, 0x20, 1, 13, 184, 0, 0, 0, 7]
    );
}

#[test]
fn a_digest_is_no_short_key() {
    let long = SocketAddr::V6(SocketAddrV6::new([0; 16].into(), 0, 1, 0));
    assert!(Key::of(&long).is_digest());
}
