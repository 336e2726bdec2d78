//! What a spec may be.

use std::time::Duration;

use ratelimit_spec::{Algorithm, AlgorithmOption, LimitSpec, rules};

const SECOND: Duration = Duration::from_secs(1);

fn at_fault(spec: LimitSpec) -> Option<&'static str> {
    spec.validate().err().map(|error| error.argument())
}

#[test]
fn a_max_of_0_is_valid_by_every_algorithm_and_denies_all() {
    for algorithm in Algorithm::ALL {
        let spec = LimitSpec::new(0, SECOND).with_algorithm(algorithm);
        assert_eq!(spec.validate(), Ok(()), "{algorithm}");
        assert_eq!((spec.burst(), spec.initial()), (0, 0), "{algorithm}");
    }
}

#[test]
fn a_declared_max_is_1_to_the_largest_u32() {
    assert_eq!(rules::max(1), Ok(1));
    assert_eq!(rules::max(u64::from(u32::MAX)), Ok(u32::MAX));
    assert!(rules::max(0).is_err());
    assert!(rules::max(u64::from(u32::MAX) + 1).is_err());
    assert!(rules::max(u64::MAX).is_err());
}

#[test]
fn a_window_is_1_ns_to_100_years_by_every_algorithm_without_buckets() {
    for algorithm in Algorithm::ALL.into_iter().filter(|algorithm| !algorithm.takes_buckets()) {
        let window = |window| at_fault(LimitSpec::new(1, window).with_algorithm(algorithm));
        assert_eq!(window(Duration::ZERO), Some("window"), "{algorithm}");
        assert_eq!(window(Duration::from_nanos(1)), None, "{algorithm}");
        assert_eq!(window(rules::MAX_WINDOW), None, "{algorithm}");
        assert_eq!(window(rules::MAX_WINDOW + Duration::from_nanos(1)), Some("window"), "{algorithm}");
        assert_eq!(window(Duration::MAX), Some("window"), "{algorithm}");
    }
}

#[test]
fn a_sliding_window_has_at_least_1_ns_for_each_bucket() {
    for buckets in [1, 2, 20, 999, 1000] {
        let window = |nanos| LimitSpec::new(1, Duration::from_nanos(nanos)).with_buckets(buckets);
        assert_eq!(at_fault(window(u64::from(buckets))), None);
        assert_eq!(at_fault(window(u64::from(buckets) - 1)), Some("window"));
    }
    // The default of 20 as well.
    assert_eq!(at_fault(LimitSpec::new(1, Duration::from_nanos(20))), None);
    assert_eq!(at_fault(LimitSpec::new(1, Duration::from_nanos(19))), Some("window"));
}

#[test]
fn buckets_are_1_to_1000() {
    for (buckets, fault) in [(0, Some("buckets")), (1, None), (1000, None), (1001, Some("buckets"))] {
        assert_eq!(at_fault(LimitSpec::new(1, SECOND).with_buckets(buckets)), fault, "{buckets}");
        assert_eq!(rules::buckets(u64::from(buckets)).ok(), fault.is_none().then_some(buckets));
    }
    assert!(rules::buckets(u64::MAX).is_err());
}

#[test]
fn a_burst_that_is_set_is_at_least_1() {
    for algorithm in Algorithm::ALL.into_iter().filter(|algorithm| algorithm.takes_burst()) {
        // Smaller or larger than `max`, both are of use.
        let spec = LimitSpec::new(5, SECOND).with_algorithm(algorithm);
        assert_eq!(at_fault(spec.with_burst(0)), Some("burst"), "{algorithm}");
        assert_eq!(at_fault(spec.with_burst(1)), None, "{algorithm}");
        assert_eq!(at_fault(spec.with_burst(u32::MAX)), None, "{algorithm}");
    }
    assert!(rules::burst(u64::from(u32::MAX) + 1).is_err());
}

#[test]
fn initial_is_at_most_burst() {
    let spec = LimitSpec::new(5, SECOND).with_algorithm(Algorithm::TokenBucket);
    assert_eq!(at_fault(spec.with_initial(0)), None);
    assert_eq!(at_fault(spec.with_initial(5)), None);
    assert_eq!(at_fault(spec.with_initial(6)), Some("initial"));
    assert_eq!(at_fault(spec.with_initial(6).with_burst(6)), None);
    assert_eq!(at_fault(spec.with_initial(5).with_burst(4)), Some("initial"));
    assert!(rules::initial(u64::MAX, u32::MAX).is_err());
}

#[test]
fn an_option_is_refused_with_an_algorithm_that_does_not_take_it() {
    for algorithm in Algorithm::ALL {
        let spec = LimitSpec::new(5, SECOND).with_algorithm(algorithm);
        for (option, with_option) in [
            (AlgorithmOption::Buckets, spec.with_buckets(5)),
            (AlgorithmOption::Burst, spec.with_burst(5)),
            (AlgorithmOption::Initial, spec.with_initial(5)),
        ] {
            let expected = (!algorithm.takes(option)).then_some(option.name());
            assert_eq!(at_fault(with_option), expected, "{option:?} {algorithm}");
            assert_eq!(rules::option_fits(option, algorithm).is_ok(), expected.is_none());
        }
    }
}
