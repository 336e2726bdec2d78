//! Limits that are changed while they are in use.

use ratelimit_runtime::{KeyedLimiter, ManualClock, Reason};

use crate::support::{ALGORITHMS, SECOND, limiter};

fn spec(rate: &str, algorithm: &str) -> ratelimit_runtime::LimitSpec {
    format!("{rate} algorithm={algorithm}").parse().unwrap()
}

#[test]
fn what_is_used_is_kept_without_keys_and_for_every_key() {
    for from in ALGORITHMS {
        for to in ALGORITHMS {
            let clock = ManualClock::new();
            let keyed = KeyedLimiter::with_clock(spec("10/1s", from), clock.clone()).unwrap();
            let (single, _) = limiter(&format!("10/1s algorithm={from}"));
            keyed.try_acquire_n("a", 7).unwrap();
            keyed.try_acquire_n("b", 2).unwrap();
            single.try_acquire_n(7).unwrap();
            keyed.set_spec(spec("12/1s", to)).unwrap();
            single.set_spec(spec("12/1s", to)).unwrap();
            let used = (keyed.used("a"), keyed.used("b"), keyed.used("c"), single.used());
            assert_eq!(used, (7, 2, 0, 7), "{from} to {to}");
            assert_eq!(keyed.try_acquire_n("a", 5).unwrap().remaining(), 0, "{from} to {to}");
            assert!(keyed.try_acquire("a").is_err());
            clock.advance(3 * SECOND);
            assert_eq!(keyed.tracked_keys(), 0, "{from} to {to}");
        }
    }
}

#[test]
fn a_limit_of_zero_denies_all_but_looks_whatever_the_burst() {
    for algorithm in ALGORITHMS {
        let burst =
            if ["token_bucket", "leaky_bucket", "gcra"].contains(&algorithm) { " burst=5" } else { "" };
        let (limiter, clock) = limiter(&format!("10/1s algorithm={algorithm}{burst}"));
        limiter.try_acquire_n(3).unwrap();
        limiter.set_spec(spec("0/1s", &format!("{algorithm}{burst}"))).unwrap();
        let denial = limiter.try_acquire().unwrap_err();
        assert_eq!(
            (denial.reason(), denial.retry_after()),
            (Reason::CostExceedsCapacity, None),
            "{algorithm}"
        );
        assert_eq!(limiter.try_acquire_n(0).unwrap().remaining(), 0);
        assert_eq!(limiter.remaining(), 0);
        clock.advance(SECOND);
        limiter.set_spec(spec("10/1s", &format!("{algorithm}{burst}"))).unwrap();
        assert!(limiter.try_acquire_n(2).is_ok(), "{algorithm}");
    }
}

#[test]
fn what_remains_is_of_the_burst_and_in_whole_permits() {
    let (limiter, clock) = limiter("10/1s algorithm=token_bucket burst=3");
    assert_eq!((limiter.remaining(), limiter.used()), (3, 0));
    limiter.try_acquire_n(3).unwrap();
    clock.advance(SECOND / 8);
    assert_eq!((limiter.remaining(), limiter.used()), (1, 2));
}

#[test]
fn a_clock_that_steps_back_and_years_of_idleness_are_survived() {
    for algorithm in ALGORITHMS {
        let (limiter, clock) = limiter(&format!("2/1s algorithm={algorithm}"));
        clock.set(100 * SECOND);
        limiter.try_acquire().unwrap();
        clock.set(SECOND);
        limiter.try_acquire().unwrap();
        let denial = limiter.try_acquire().unwrap_err();
        clock.advance(denial.retry_after().unwrap());
        assert!(limiter.try_acquire().is_ok(), "{algorithm}");
        clock.set(SECOND * (1 << 31));
        assert_eq!(limiter.try_acquire_n(2).unwrap().remaining(), 0, "{algorithm}");
        assert!(limiter.try_acquire().is_err(), "{algorithm}");
    }
}
