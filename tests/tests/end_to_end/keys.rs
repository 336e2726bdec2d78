//! One budget for each distinct value of the key.

use std::net::IpAddr;

use ratelimit_runtime::{RateLimitKey, RateLimited, client_net, rate_limit};

use crate::stats;

#[test]
fn different_values_never_share_a_budget() {
    #[rate_limit(key = (first, second), max = 1, window = "1h")]
    fn call(first: &str, second: &str) -> Result<(), RateLimited> {
        Ok(())
    }

    assert!(call("a", "bc").is_ok());
    assert!(call("ab", "c").is_ok());
    assert!(call("", "abc").is_ok());
    assert!(call("a", "bc").is_err());
}

#[test]
fn the_value_counts_and_not_its_type() {
    #[rate_limit(key = key, max = 1, window = "1h")]
    fn call<K: RateLimitKey>(key: K) -> Result<(), RateLimited> {
        Ok(())
    }

    assert!(call(7_u8).is_ok());
    assert!(call(7_u64).is_err());
    assert!(call("7").is_ok());
    assert!(call("7".to_owned()).is_err());
    assert!(call(-1_i8).is_ok());
    assert!(call(u64::MAX).is_ok());
    assert!(call(Some("")).is_ok());
    assert!(call(None::<&str>).is_ok());
}

#[test]
fn a_derived_key_tells_its_variants_apart() {
    #[derive(RateLimitKey)]
    enum Caller {
        User(u64),
        Team(u64),
        Anonymous,
    }

    #[rate_limit(key = caller, max = 1, window = "1h")]
    fn call(caller: Caller) -> Result<(), RateLimited> {
        Ok(())
    }

    assert!(call(Caller::User(1)).is_ok());
    assert!(call(Caller::Team(1)).is_ok());
    assert!(call(Caller::Anonymous).is_ok());
    assert!(call(Caller::User(1)).is_err());
}

#[test]
fn a_clients_net_is_its_64_for_ipv6() {
    #[rate_limit(key = client_net(ip), max = 1, window = "1h")]
    fn call(ip: IpAddr) -> Result<(), RateLimited> {
        Ok(())
    }

    assert!(call("2001:db8::1".parse().unwrap()).is_ok());
    assert!(call("2001:db8::2".parse().unwrap()).is_err());
    assert!(call("2001:db8:0:1::1".parse().unwrap()).is_ok());
    assert!(call("192.0.2.1".parse().unwrap()).is_ok());
    assert!(call("::ffff:192.0.2.1".parse().unwrap()).is_err(), "a mapped address is the IPv4 one");
}

#[test]
fn past_max_keys_the_rest_share_and_no_known_key_is_dropped() {
    #[rate_limit(key = key, max = 1, window = "1h", max_keys = 100, name = "keys.max_keys")]
    fn call(key: u32) -> Result<(), RateLimited> {
        Ok(())
    }

    assert!((0..100).all(|key| call(key).is_ok()));
    let strangers = (100..5000).filter(|key| call(*key).is_ok()).count();
    assert!(strangers <= 1024, "{strangers} strangers were admitted by 1024 overflow budgets");
    assert!((0..100).all(|key| call(key).is_err()), "a charge was forgotten");
    let stats = stats("keys.max_keys");
    assert_eq!(stats.tracked_keys, 100);
    assert_eq!(stats.overflowed, 4900);
}
