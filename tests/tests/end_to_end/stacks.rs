//! Several limits on one function are one decision.

use ratelimit_runtime::{RateLimited, rate_limit};

use crate::{handle, stats};

#[test]
fn where_one_denies_none_is_charged() {
    #[rate_limit(max = 10, window = "1h", name = "stacks.all")]
    #[rate_limit(key = user, max = 2, window = "1h", name = "stacks.user")]
    #[rate_limit(max = 20, window = "1h", name = "stacks.wide")]
    fn call(user: u8) -> Result<(), RateLimited> {
        Ok(())
    }

    let admitted = |user| (0..50).filter(|_| call(user).is_ok()).count();
    assert_eq!([admitted(1), admitted(2), admitted(3), admitted(4)], [2; 4]);
    assert_eq!(stats("stacks.all").allowed, 8, "192 calls that their user's limit denied charged nothing");
    assert_eq!(admitted(5), 2);
    assert_eq!(admitted(6), 0);
    assert_eq!(
        handle("stacks.user").used(&6_u8),
        0,
        "nor did those that the whole limit denied charge a user"
    );
}

#[test]
fn the_error_names_the_limit_that_frees_last() {
    #[rate_limit(max = 1, window = "1m", name = "stacks.minute")]
    #[rate_limit(max = 1, window = "1h", name = "stacks.hour")]
    #[rate_limit(max = 1, window = "1s", name = "stacks.second")]
    fn call() -> Result<(), RateLimited> {
        Ok(())
    }

    call().unwrap();
    let limited = call().unwrap_err();
    assert_eq!(limited.name(), "stacks.hour");
    assert!(limited.retry_after().unwrap().as_secs() > 3000);
}

#[test]
fn one_permit_stands_for_the_stack() {
    #[rate_limit(max = 10, window = "1h", permit = permit)]
    #[rate_limit(max = 3, window = "1h", name = "stacks.permit")]
    fn call(give_back: bool) -> Result<u32, RateLimited> {
        let remaining = permit.remaining();
        if give_back {
            permit.refund();
        }
        Ok(remaining)
    }

    assert_eq!(call(true).unwrap(), 2, "the least of them");
    assert_eq!(call(false).unwrap(), 2, "it was given back to all");
    assert_eq!(call(false).unwrap(), 1);
    assert_eq!(stats("stacks.permit").refunded, 1);
}

#[test]
fn a_limit_that_does_not_apply_leaves_the_others_in_force() {
    #[rate_limit(max = 2, window = "1h", when = "!internal")]
    #[rate_limit(max = 3, window = "1h")]
    fn call(internal: bool) -> Result<(), RateLimited> {
        Ok(())
    }

    assert_eq!((0..5).filter(|_| call(false).is_ok()).count(), 2);
    assert_eq!((0..5).filter(|_| call(true).is_ok()).count(), 1);
}

#[test]
fn a_stack_may_come_from_cfg_attr_and_by_path() {
    #[cfg_attr(all(), rate_limit(max = 5, window = "1h"))]
    #[::ratelimit_runtime::rate_limit(max = 2, window = "1h")]
    fn call() -> Result<(), RateLimited> {
        Ok(())
    }

    assert_eq!((0..9).filter(|_| call().is_ok()).count(), 2);
}
