//! Which function has which budget, and when a call is decided.

use std::future::Future;
use std::panic::Location;

use futures::FutureExt as _;
use ratelimit_runtime::{RateLimited, rate_limit};

#[test]
fn methods_of_one_name_on_two_types_have_a_budget_each() {
    struct Orders;
    struct Returns;

    impl Orders {
        #[rate_limit(max = 1, window = "1h")]
        fn create(&self) -> Result<(), RateLimited> {
            Ok(())
        }
    }

    impl Returns {
        #[rate_limit(max = 1, window = "1h")]
        fn create(&self) -> Result<(), RateLimited> {
            Ok(())
        }
    }

    assert!(Orders.create().is_ok());
    assert!(Returns.create().is_ok());
    assert!(Orders.create().is_err());
    assert!(Returns.create().is_err());
}

#[test]
fn all_instantiations_of_a_generic_function_share_a_budget() {
    #[rate_limit(max = 1, window = "1h")]
    fn call<T>(value: T) -> Result<T, RateLimited> {
        Ok(value)
    }

    assert!(call(1).is_ok());
    assert!(call("one").is_err());
}

#[test]
fn a_trait_methods_body_and_its_override_have_a_budget_each() {
    trait Greet {
        #[rate_limit(max = 1, window = "1h")]
        fn greet(&self) -> Option<&'static str> {
            Some("hello")
        }
    }

    struct Plain;
    struct Polite;

    impl Greet for Plain {}
    impl Greet for Polite {
        #[rate_limit(max = 1, window = "1h")]
        fn greet(&self) -> Option<&'static str> {
            Some("good morning")
        }
    }

    assert_eq!([Plain.greet(), Polite.greet()], [Some("hello"), Some("good morning")]);
    assert_eq!([Plain.greet(), Polite.greet()], [None, None]);
}

#[test]
fn recursion_charges_every_call() {
    #[rate_limit(max = 5, window = "1h")]
    fn down(depth: u32) -> Result<u32, RateLimited> {
        if depth == 0 { Ok(0) } else { down(depth - 1).map(|below| below + 1) }
    }

    assert!(down(5).is_err(), "six calls");
    assert!(down(0).is_err(), "five of them were admitted");
}

#[test]
fn an_async_function_is_decided_at_its_first_poll() {
    #[rate_limit(max = 1, window = "1h")]
    async fn call(number: u8) -> Result<u8, RateLimited> {
        Ok(number)
    }

    let first_made = call(1);
    let first_polled = call(2);
    drop(call(3));
    assert_eq!(first_polled.now_or_never().unwrap().unwrap(), 2);
    assert!(first_made.now_or_never().unwrap().is_err());
}

#[test]
fn a_function_that_returns_a_future_is_decided_at_the_call() {
    #[rate_limit(max = 1, window = "1h")]
    fn call() -> Option<impl Future<Output = u8>> {
        Some(async { 7 })
    }

    let unpolled = call();
    assert!(call().is_none());
    assert_eq!(unpolled.unwrap().now_or_never(), Some(7));
}

#[test]
fn a_caller_is_still_tracked() {
    #[track_caller]
    #[rate_limit(max = 1, window = "1h")]
    fn line() -> Option<u32> {
        Some(Location::caller().line())
    }

    assert_eq!(line(), Some(line!()));
}

#[test]
fn a_function_made_by_a_macro_is_limited() {
    macro_rules! make {
        ($name:ident, $parameter:ident, $max:literal) => {
            #[rate_limit(key = $parameter, max = $max, window = "1h")]
            fn $name($parameter: u8) -> Result<u8, RateLimited> {
                Ok($parameter)
            }
        };
    }
    make!(made, number, 1);

    assert!(made(1).is_ok());
    assert!(made(2).is_ok());
    assert!(made(1).is_err());
}
