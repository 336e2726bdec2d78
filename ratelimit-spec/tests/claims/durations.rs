//! Windows as text.

use std::time::Duration;

use ratelimit_spec::{parse_duration, parse_window, rules};

#[test]
fn windows_are_read_as_humantime_writes_them() {
    for (text, window) in [
        ("1s", Duration::from_secs(1)),
        ("100ms", Duration::from_millis(100)),
        ("1m 30s", Duration::from_secs(90)),
        ("1m30s", Duration::from_secs(90)),
        (" 1h ", Duration::from_secs(3600)),
        ("1.5h", Duration::from_secs(5400)),
        ("2 days", Duration::from_secs(172_800)),
        ("5us", Duration::from_micros(5)),
        ("5µs", Duration::from_micros(5)),
        ("1ns", Duration::from_nanos(1)),
        ("1month", Duration::from_secs(2_630_016)),
        ("100 years", rules::MAX_WINDOW),
    ] {
        assert_eq!(parse_window(text), Ok(window), "{text}");
    }
}

#[test]
fn a_window_is_above_0_and_at_most_100_years() {
    for text in ["0", "0s", "0ns 0h"] {
        assert_eq!(parse_duration(text), Ok(Duration::ZERO), "{text}");
        let error = parse_window(text).unwrap_err();
        assert_eq!(error.broken_rule().map(|rule| rule.argument()), Some("window"), "{text}");
    }
    assert!(parse_window("100y").is_ok());
    assert!(parse_window("100y 1ns").is_err());
}

#[test]
fn what_is_not_a_duration_is_refused() {
    for text in ["", " ", "s", "5", "1s 0", "-1s", "1sec/", "1s, 2ms", ".5s", "1.s", "1s2", "1x", "٣s", "1sé"]
    {
        assert!(parse_duration(text).is_err(), "{text:?}");
    }
}
