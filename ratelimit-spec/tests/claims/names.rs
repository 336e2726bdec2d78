//! Algorithms and modes by name, and what is proposed for a name that does not exist.

use std::collections::HashSet;

use ratelimit_spec::{Algorithm, AlgorithmOption, Mode, did_you_mean};

#[test]
fn every_name_is_read_as_it_is_printed() {
    for algorithm in Algorithm::ALL {
        assert_eq!(algorithm.to_string(), algorithm.name());
        assert_eq!(algorithm.name().parse(), Ok(algorithm));
    }
    for mode in Mode::ALL {
        assert_eq!(mode.to_string(), mode.name());
        assert_eq!(mode.name().parse(), Ok(mode));
    }
}

#[test]
fn all_lists_each_once() {
    assert_eq!(HashSet::from(Algorithm::ALL).len(), Algorithm::ALL.len());
    assert_eq!(HashSet::from(Mode::ALL).len(), Mode::ALL.len());
}

#[test]
fn the_defaults_are_sliding_window_and_enforce() {
    assert_eq!(Algorithm::default(), Algorithm::SlidingWindow);
    assert_eq!(Mode::default(), Mode::Enforce);
}

#[test]
fn names_are_read_exactly() {
    for text in ["", "GCRA", " gcra", "sliding-window", "SlidingWindow"] {
        assert!(text.parse::<Algorithm>().is_err(), "{text:?}");
    }
    assert!("Off".parse::<Mode>().is_err());
}

#[test]
fn each_algorithm_takes_its_own_options() {
    use Algorithm::{FixedWindow, Gcra, LeakyBucket, SlidingLog, SlidingWindow, TokenBucket};
    for (option, takers) in [
        (AlgorithmOption::Buckets, &[SlidingWindow][..]),
        (AlgorithmOption::Burst, &[TokenBucket, LeakyBucket, Gcra]),
        (AlgorithmOption::Initial, &[TokenBucket]),
        (AlgorithmOption::MaxPerCall, &[SlidingWindow, FixedWindow, SlidingLog]),
    ] {
        for algorithm in Algorithm::ALL {
            assert_eq!(algorithm.takes(option), takers.contains(&algorithm), "{option:?} {algorithm}");
        }
    }
}

#[test]
fn a_slip_of_the_keys_is_recognised() {
    let arguments =
        ["max", "window", "rate", "algorithm", "buckets", "burst", "key", "max_keys", "limiter", "cost"];
    for (word, meant) in [
        ("windw", "window"),
        ("widnow", "window"),
        ("windows", "window"),
        ("Window", "window"),
        ("WINDOW", "window"),
        ("max-keys", "max_keys"),
        ("maxkeys", "max_keys"),
        ("kye", "key"),
        ("costs", "cost"),
        ("limit", "limiter"),
        ("algoritm", "algorithm"),
        ("window", "window"),
    ] {
        assert_eq!(did_you_mean(word, &arguments), Some(meant), "{word}");
    }
}

#[test]
fn another_word_is_not_taken_for_a_slip() {
    let arguments = ["max", "window", "rate", "key", "cost", "s"];
    for word in ["", "x", "per", "period", "interval", "name", "ip", &"window".repeat(100)] {
        assert_eq!(did_you_mean(word, &arguments), None, "{word}");
    }
    assert_eq!(did_you_mean("max", &[]), None);
}

#[test]
fn the_nearest_name_wins_and_of_two_the_first() {
    assert_eq!(did_you_mean("burt", &["bursts", "burst"]), Some("burst"));
    assert_eq!(did_you_mean("bat", &["cat", "rat"]), Some("cat"));
}
