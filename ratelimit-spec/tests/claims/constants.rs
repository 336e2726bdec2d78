//! Specs as constants: what is not set, what is checked when compiling.

use std::time::Duration;

use ratelimit_spec::{Algorithm, LimitSpec, SpecError, rules};

const SECOND: Duration = Duration::from_secs(1);

// Compiling is the test.
const DECLARED: LimitSpec = LimitSpec::new(10, SECOND)
    .with_algorithm(Algorithm::TokenBucket)
    .with_burst(20)
    .with_initial(0)
    .declared();
const DENIES_ALL: LimitSpec = LimitSpec::new(0, SECOND).checked();
const VALID: Result<(), SpecError> = LimitSpec::new(10, SECOND).with_buckets(1000).validate();
const BUCKETS: Result<u32, SpecError> = rules::buckets(1000);

#[test]
fn everything_works_in_constants() {
    const READ: (u32, Duration, Algorithm, u32, u32, u32) = (
        DECLARED.max(),
        DECLARED.window(),
        DECLARED.algorithm(),
        DECLARED.buckets(),
        DECLARED.burst(),
        DECLARED.initial(),
    );
    assert_eq!(READ, (10, SECOND, Algorithm::TokenBucket, 20, 20, 0));
    assert_eq!(DENIES_ALL.burst(), 0);
    assert_eq!(VALID, Ok(()));
    assert_eq!(BUCKETS, Ok(1000));
}

#[test]
fn the_default_algorithm_is_sliding_window() {
    assert_eq!(LimitSpec::new(1, SECOND).algorithm(), Algorithm::SlidingWindow);
}

#[test]
fn default_buckets_follow_the_window() {
    let one_ns = Duration::from_nanos(1);
    for (window, buckets) in [
        (one_ns, 20),
        (SECOND, 20),
        (SECOND + one_ns, 50),
        (10 * SECOND, 50),
        (10 * SECOND + one_ns, 60),
        (rules::MAX_WINDOW, 60),
        (Duration::MAX, 60),
    ] {
        assert_eq!(LimitSpec::new(1, window).buckets(), buckets, "{window:?}");
    }
}

#[test]
fn burst_is_max_and_initial_is_burst_unless_set() {
    let bucket = LimitSpec::new(7, SECOND).with_algorithm(Algorithm::TokenBucket);
    assert_eq!((bucket.burst(), bucket.initial()), (7, 7));
    assert_eq!((bucket.with_burst(9).burst(), bucket.with_burst(9).initial()), (9, 9));
    assert_eq!((bucket.with_initial(3).burst(), bucket.with_initial(3).initial()), (7, 3));
}

#[test]
fn an_unset_option_is_not_the_same_as_one_set_to_its_default() {
    let spec = LimitSpec::new(7, SECOND);
    assert_ne!(spec, spec.with_buckets(spec.buckets()));
    assert_eq!(spec, spec.with_algorithm(Algorithm::SlidingWindow));
}

#[test]
#[should_panic(expected = "`window` must be above 0")]
fn a_checked_spec_panics_with_the_broken_rule() {
    let _ = LimitSpec::new(1, Duration::ZERO).checked();
}

#[test]
#[should_panic(expected = "`max = 0` would deny every call; write at least 1, or `mode = \"off\"`")]
fn a_declared_spec_has_a_max_of_at_least_1() {
    let _ = LimitSpec::new(0, SECOND).declared();
}

#[test]
#[should_panic(expected = "`buckets` must be between 1 and 1000")]
fn a_declared_spec_is_checked_too() {
    let _ = LimitSpec::new(1, SECOND).with_buckets(0).declared();
}
