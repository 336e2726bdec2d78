//! What holds for a budget without keys, however it is set out: a sliding window by permits, and a steady flow in one word.

use std::sync::Arc;

use loom::thread;

use super::{Steps, WINDOW, model};
use crate::{Algorithm, LimitSpec, Limiter};

/// Of `max` permits at once, set out.
fn limiter(max: u32, algorithm: Algorithm) -> Limiter {
    let spec = LimitSpec::new(max, WINDOW).with_algorithm(algorithm);
    let spec = if algorithm.takes_buckets() { spec.with_buckets(1) } else { spec };
    let limiter = Limiter::with_clock(spec, Steps::new()).unwrap();
    assert_eq!(limiter.used(), 0);
    limiter
}

fn two_calls_for_the_last_permit_admit_one(algorithm: Algorithm) {
    model(move || {
        let limiter = Arc::new(limiter(1, algorithm));
        let beside = limiter.clone();
        let other = thread::spawn(move || beside.try_acquire().is_ok());
        let this = limiter.try_acquire().is_ok();
        assert!(this != other.join().unwrap());
        assert_eq!(limiter.used(), 1);
    });
}

fn what_is_charged_while_the_budget_is_looked_at_is_charged_once(algorithm: Algorithm) {
    model(move || {
        let limiter = Arc::new(limiter(2, algorithm));
        limiter.try_acquire().unwrap();
        let beside = limiter.clone();
        let other = thread::spawn(move || beside.try_acquire().is_ok());
        let used = limiter.used();
        assert!(used == 1 || used == 2);
        assert!(other.join().unwrap());
        assert_eq!(limiter.used(), 2);
    });
}

fn a_refund_gives_back_one_permit_whoever_comes_meanwhile(algorithm: Algorithm) {
    model(move || {
        let limiter = Arc::new(limiter(1, algorithm));
        let permit = limiter.try_acquire().unwrap();
        let beside = limiter.clone();
        let other = thread::spawn(move || beside.try_acquire().is_ok());
        permit.refund();
        let this = limiter.try_acquire().is_ok();
        assert!(this != other.join().unwrap());
    });
}

fn a_permit_taken_beside_a_reset_is_of_the_life_in_which_it_counts(algorithm: Algorithm) {
    model(move || {
        // Leaked, so that it can be shared without a count.
        let limiter: &'static Limiter = Box::leak(Box::new(limiter(1, algorithm)));
        let other = thread::spawn(move || limiter.reset());
        let permit = limiter.try_acquire().unwrap();
        other.join().unwrap();
        permit.refund();
        assert_eq!(limiter.used(), 0);
    });
}

macro_rules! hold_for {
    ($($module:ident: $algorithm:expr),* $(,)?) => {
        $(
            mod $module {
                hold_for! { @each $algorithm,
                    two_calls_for_the_last_permit_admit_one,
                    what_is_charged_while_the_budget_is_looked_at_is_charged_once,
                    a_refund_gives_back_one_permit_whoever_comes_meanwhile,
                    a_permit_taken_beside_a_reset_is_of_the_life_in_which_it_counts,
                }
            }
        )*
    };
    (@each $algorithm:expr, $($claim:ident),* $(,)?) => {
        $(
            #[test]
            fn $claim() {
                super::$claim($algorithm);
            }
        )*
    };
}

hold_for! {
    sliding_window: crate::Algorithm::SlidingWindow,
    gcra: crate::Algorithm::Gcra,
}
