//! Rates as text: `max/window`.

use std::time::Duration;

use ratelimit_spec::parse_rate;

#[test]
fn a_rate_is_how_many_in_what_time() {
    for (text, max, seconds) in [
        ("100/s", 100, 1),
        ("100/1s", 100, 1),
        ("5/10s", 5, 10),
        ("1000/min", 1000, 60),
        ("1/m", 1, 60),
        ("10/h", 10, 3600),
        ("1/day", 1, 86_400),
        ("1/d", 1, 86_400),
        ("1/week", 1, 604_800),
        ("3/1m 30s", 3, 90),
        ("3/1m30s", 3, 90),
        (" 3 / 90 s ", 3, 90),
        ("4294967295/s", u32::MAX, 1),
    ] {
        assert_eq!(parse_rate(text), Ok((max, Duration::from_secs(seconds))), "{text}");
    }
    assert_eq!(parse_rate("1/ms"), Ok((1, Duration::from_millis(1))));
    assert_eq!(parse_rate("1/µs"), Ok((1, Duration::from_micros(1))));
}

#[test]
fn a_rate_of_0_is_read_and_left_to_the_declaration() {
    assert_eq!(parse_rate("0/s"), Ok((0, Duration::from_secs(1))));
}

#[test]
fn what_is_not_a_rate_is_refused() {
    for text in [
        "",
        "/",
        "100",
        "100/",
        "/s",
        "100/0s",
        "s/100",
        "-1/s",
        "+1/s",
        "1_000/s",
        "1.5/s",
        "4294967296/s",
        "100/s/s",
        "100//s",
        "100 per s",
        "1/2",
        "1/s s",
        "1/1s1",
        "100/101y",
        "٣/s",
    ] {
        assert!(parse_rate(text).is_err(), "{text:?}");
    }
}
