//! The expressions of an attribute: when they are evaluated, what they see, what they do.

use std::cell::RefCell;

use ratelimit_runtime::{RateLimited, Reason, rate_limit};

use crate::stats;

#[test]
fn every_expression_is_evaluated_once_and_when_first() {
    thread_local!(static SEEN: RefCell<Vec<&'static str>> = const { RefCell::new(Vec::new()) });

    fn saw<T>(what: &'static str, value: T) -> T {
        SEEN.with_borrow_mut(|seen| seen.push(what));
        value
    }

    #[rate_limit(
        share = saw("share", 1.0),
        cost = saw("cost", 1),
        max = "saw(\"max\", 9)",
        key = saw("key", 1),
        when = "saw(\"when\", limited)",
        window = "1h"
    )]
    fn call(limited: bool) -> Result<(), RateLimited> {
        saw("body", Ok(()))
    }

    call(true).unwrap();
    let mut seen = SEEN.take();
    assert_eq!(seen.first(), Some(&"when"));
    assert_eq!(seen.last(), Some(&"body"));
    seen.sort_unstable();
    assert_eq!(seen, ["body", "cost", "key", "max", "share", "when"]);

    call(false).unwrap();
    assert_eq!(SEEN.take(), ["when", "body"], "the others are not evaluated");
}

#[test]
fn where_when_is_false_the_call_is_neither_limited_nor_counted() {
    #[rate_limit(max = 1, window = "1h", when = "!admin", name = "expressions.when")]
    fn call(admin: bool) -> Result<(), RateLimited> {
        Ok(())
    }

    assert!((0..5).all(|_| call(true).is_ok()));
    assert_eq!(stats("expressions.when").allowed, 0);
    call(false).unwrap();
    assert!(call(false).is_err());
    assert!(call(true).is_ok());
}

#[test]
fn arguments_are_borrowed_and_stay_the_bodys() {
    struct User {
        name: String,
        plan: Plan,
    }
    struct Plan {
        max: u32,
    }

    #[rate_limit(key = (&user.name, words), max = user.plan.max, window = "1h")]
    fn call(user: User, words: Vec<String>) -> Result<(String, Vec<String>), RateLimited> {
        Ok((user.name, words))
    }

    let ada = |max| User { name: "ada".to_owned(), plan: Plan { max } };
    let words = || vec!["blue".to_owned(), "teapot".to_owned()];
    assert_eq!(call(ada(1), words()).unwrap(), ("ada".to_owned(), words()));
    assert!(call(ada(1), words()).is_err());
    assert!(call(ada(2), words()).is_ok(), "a larger plan has room left");
    assert!(call(ada(0), vec![]).is_err(), "a quota of 0 denies");
}

#[test]
fn a_method_sees_self() {
    struct Account {
        id: u64,
    }

    impl Account {
        #[rate_limit(key = "self.id", max = 1, window = "1h")]
        fn withdraw(&mut self) -> Result<u64, RateLimited> {
            Ok(self.id)
        }
    }

    assert!(Account { id: 1 }.withdraw().is_ok());
    assert!(Account { id: 2 }.withdraw().is_ok());
    assert!(Account { id: 1 }.withdraw().is_err());
}

#[test]
fn a_call_takes_its_cost_or_nothing() {
    #[rate_limit(max = 10, window = "1h", cost = "pages", permit = permit)]
    fn print(pages: u32) -> Result<u32, RateLimited> {
        Ok(permit.remaining())
    }

    assert_eq!(print(7).unwrap(), 3);
    assert_eq!(print(4).unwrap_err().remaining(), 3);
    assert_eq!(print(0).unwrap(), 3, "cost 0 only looks");
    assert_eq!(print(3).unwrap(), 0);
    assert_eq!(print(0).unwrap(), 0, "and is always admitted");
    let never = print(11).unwrap_err();
    assert_eq!(never.reason(), Reason::CostExceedsCapacity);
    assert_eq!(never.retry_after(), None);
}

#[test]
fn a_low_share_leaves_room_for_a_high_one() {
    #[rate_limit(max = 10, window = "1h", share = "share")]
    fn call(share: f64) -> Result<(), RateLimited> {
        Ok(())
    }

    let admitted = |share: f64| (0..20).filter(|_| call(share).is_ok()).count();
    assert_eq!(admitted(0.5), 5);
    assert_eq!(admitted(0.5), 0);
    assert_eq!(admitted(0.8), 3);
    assert_eq!(admitted(1.0), 2);
}

#[test]
fn a_refund_counts_failed_logins_only() {
    #[rate_limit(key = "user", max = 2, window = "1h", permit = permit, name = "expressions.login")]
    fn login(user: &str, password: &str) -> Result<bool, RateLimited> {
        let right = password == "open sesame";
        if right {
            permit.refund();
        }
        Ok(right)
    }

    for _ in 0..10 {
        assert!(login("ada", "open sesame").unwrap());
    }
    assert!(!login("ada", "guess").unwrap());
    assert!(!login("ada", "guess").unwrap());
    assert!(login("ada", "open sesame").is_err());
    assert_eq!(stats("expressions.login").refunded, 10);
}

#[test]
fn names_in_the_expansion_are_not_seen_by_the_users() {
    #[rate_limit(key = (LIMITER, key, permit), max = limit, window = "1h")]
    #[expect(non_snake_case, reason = "a parameter may be called like an item of the expansion")]
    fn call(LIMITER: u8, key: u8, permit: u8, limit: u32) -> Result<(u8, u8, u8, u32), RateLimited> {
        Ok((LIMITER, key, permit, limit))
    }

    assert_eq!(call(1, 2, 3, 4).unwrap(), (1, 2, 3, 4));
}
