//! Limits as text.

use std::time::Duration;

use proptest::prelude::*;
use ratelimit_spec::{Algorithm, LimitSpec, rules};

fn seconds(max: u32, seconds: u64) -> LimitSpec {
    LimitSpec::new(max, Duration::from_secs(seconds))
}

#[test]
fn limits_are_read_as_the_documentation_writes_them() {
    let bucket = Algorithm::TokenBucket;
    for (text, spec) in [
        ("100/1s", seconds(100, 1)),
        ("100/s buckets=10", seconds(100, 1).with_buckets(10)),
        ("5/1s algorithm=gcra burst=5", seconds(5, 1).with_algorithm(Algorithm::Gcra).with_burst(5)),
        ("10/1m algorithm=token_bucket initial=0", seconds(10, 60).with_algorithm(bucket).with_initial(0)),
        // In any order, with blanks in the window and around.
        ("10/1m initial=0 algorithm=token_bucket", seconds(10, 60).with_algorithm(bucket).with_initial(0)),
        ("  100/1m 30s\tbuckets=10 ", seconds(100, 90).with_buckets(10)),
        ("100/s algorithm=sliding_window", seconds(100, 1)),
        ("0/s", seconds(0, 1)),
        ("0/s algorithm=gcra", seconds(0, 1).with_algorithm(Algorithm::Gcra)),
    ] {
        assert_eq!(text.parse(), Ok(spec), "{text}");
    }
}

#[test]
fn a_limit_prints_its_window_in_the_largest_exact_unit() {
    for (window, text) in [
        (Duration::from_nanos(1), "1/1ns"),
        (Duration::from_nanos(1_000_000_001), "1/1000000001ns"),
        (Duration::from_nanos(1_500), "1/1500ns"),
        (Duration::from_micros(1_500), "1/1500us"),
        (Duration::from_millis(100), "1/100ms"),
        (Duration::from_secs(1), "1/1s"),
        (Duration::from_secs(90), "1/90s"),
        (Duration::from_secs(5400), "1/90m"),
        (Duration::from_secs(7200), "1/2h"),
        (Duration::from_secs(86_400), "1/1d"),
        (rules::MAX_WINDOW, "1/36525d"),
    ] {
        assert_eq!(LimitSpec::new(1, window).to_string(), text);
    }
}

#[test]
fn only_options_that_are_set_are_printed_in_a_fixed_order() {
    let spec = seconds(10, 60).with_initial(3).with_burst(20).with_algorithm(Algorithm::TokenBucket);
    assert_eq!(spec.to_string(), "10/1m algorithm=token_bucket burst=20 initial=3");
    assert_eq!(seconds(10, 60).to_string(), "10/1m");
    assert_eq!(seconds(10, 60).with_buckets(60).to_string(), "10/1m buckets=60");
}

#[test]
fn an_invalid_limit_is_printed_too_but_not_read() {
    for spec in [
        LimitSpec::new(1, Duration::MAX),
        LimitSpec::new(1, Duration::ZERO),
        seconds(1, 1).with_buckets(0),
        seconds(1, 1).with_burst(1),
    ] {
        assert!(spec.to_string().parse::<LimitSpec>().is_err(), "{spec}");
    }
}

#[test]
fn what_is_not_a_limit_is_refused() {
    for text in [
        "",
        "=",
        "100",
        "buckets=10",
        "buckets=10 100/s",
        "100/s buckets",
        "100/s buckets=",
        "100/s buckets = 10",
        "100/s =10",
        "100/s buckets=10=10",
        "100/s buckets=-1",
        "100/s buckets=0",
        "100/s buckets=10 buckets=10",
        "100/s,buckets=10",
        "100/s buckets=10, burst=3",
        "100/s algorithm=gcra buckets=10",
        "100/s algorithm=gcra gcra",
        "100/s mode=off",
        "10/s algorithm=token_bucket initial=11",
    ] {
        assert!(text.parse::<LimitSpec>().is_err(), "{text:?}");
    }
}

/// Windows of every length up to 100 years, round ones and the ends more often than chance would have them.
fn windows() -> impl Strategy<Value = Duration> {
    let longest = u64::try_from(rules::MAX_WINDOW.as_nanos()).unwrap();
    prop_oneof![
        1..=longest,
        1..=2_000_u64,
        Just(longest),
        (1..=36_525_u64).prop_map(|days| days * 86_400_000_000_000),
        (1..=1_000_000_u64).prop_map(|seconds| seconds * 1_000_000_000),
        (1..=1_000_000_u64).prop_map(|millis| millis * 1_000_000),
        (0..62_u32)
            .prop_map(|power| 1 << power)
            .prop_filter("at most 100 years", move |nanos| *nanos <= longest),
    ]
    .prop_map(Duration::from_nanos)
}

/// Any number, 0 and the largest more often than chance would have them.
fn numbers() -> impl Strategy<Value = u32> {
    prop_oneof![any::<u32>(), 0..=1000_u32, Just(u32::MAX)]
}

prop_compose! {
    fn valid_specs()(
        max in numbers(),
        window in windows(),
        algorithm in proptest::sample::select(&Algorithm::ALL),
        buckets in proptest::option::of(1..=1000_u32),
        burst in proptest::option::of(numbers()),
        initial in proptest::option::of(numbers()),
    ) -> LimitSpec {
        let mut spec = LimitSpec::new(max, window).with_algorithm(algorithm);
        if algorithm.takes_buckets() {
            let most = u32::try_from(window.as_nanos()).unwrap_or(u32::MAX);
            if let Some(buckets) = buckets.or((most < spec.buckets()).then_some(1)) {
                spec = spec.with_buckets(buckets.min(most));
            }
        }
        if let Some(burst) = burst.filter(|_| algorithm.takes_burst()) {
            spec = spec.with_burst(burst.max(1));
        }
        if let Some(initial) = initial.filter(|_| algorithm.takes_initial()) {
            spec = spec.with_initial(initial.min(spec.burst()));
        }
        spec
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn every_valid_limit_is_read_as_it_is_printed(spec in valid_specs()) {
        prop_assert_eq!(spec.validate(), Ok(()));
        let text = spec.to_string();
        prop_assert_eq!(text.parse(), Ok(spec), "{}", text);
    }
}
