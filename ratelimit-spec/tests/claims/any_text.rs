//! No text, however odd, makes a parser panic, and none gets past the rules.

use std::time::Duration;

use proptest::prelude::*;
use ratelimit_spec::{
    Algorithm, LimitSpec, Mode, did_you_mean, parse_duration, parse_rate, parse_window, rules,
};

fn read_by_every_parser(text: &str) {
    if let Ok(spec) = text.parse::<LimitSpec>() {
        assert_eq!(spec.validate(), Ok(()), "{text:?}");
        assert_eq!(spec.to_string().parse(), Ok(spec), "{text:?}");
    }
    if let Ok((_, window)) = parse_rate(text) {
        assert_eq!(rules::window(window), Ok(()), "{text:?}");
    }
    if let Ok(window) = parse_window(text) {
        assert_eq!(rules::window(window), Ok(()), "{text:?}");
    }
    for error in [
        text.parse::<LimitSpec>().err(),
        text.parse::<Algorithm>().err(),
        text.parse::<Mode>().err(),
        parse_rate(text).err(),
        parse_duration(text).err(),
    ] {
        let message = error.map_or_else(String::new, |error| error.to_string());
        assert!(!message.contains('\n') && message.chars().count() < 250, "{message:?}");
    }
    let _ = did_you_mean(text, &["max", "window", "algorithm"]);
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in any::<String>()) {
        read_by_every_parser(&text);
    }

    #[test]
    fn text_close_to_a_limit_is_read_or_refused(
        text in "[0-9]{0,21}[ ]?[/.=]?[0-9]{0,21}(\\.[0-9]{0,21})?[ ]?(n|u|µ|m|s|min|h|d|y|M|ns|us|ms|mn)?[ ]?[0-9]{0,3}(s|ns)?( (algorithm|buckets|burst|initial|bukets)=?(gcra|token_bucket|[0-9]{0,11}))*"
    ) {
        read_by_every_parser(&text);
    }

    #[test]
    fn durations_are_read_as_humantime_reads_them(
        text in "( ?[0-9]{1,4}(\\.[0-9]{1,3})? ?(ns|us|µs|ms|s|sec|min|m|h|hours|d|w|M|y|x|é|-|,|)){0,4} ?"
    ) {
        prop_assert_eq!(parse_duration(&text).ok(), humantime::parse_duration(&text).ok(), "{:?}", text);
    }
}

#[test]
fn parts_that_add_up_past_the_longest_duration_are_refused() {
    for text in [
        "18446744073709551615s 1000000000ns",
        "18446744073709551615s 999999999ns 1ns",
        "18446744073709551615s 1s",
        "99999999999999999999s",
        "600000000000y",
        "0.0000000001s",
    ] {
        let message = parse_duration(text).unwrap_err().to_string();
        assert!(message.contains("longer than a duration can be"), "{text}: {message}");
        read_by_every_parser(text);
    }
    assert_eq!(parse_duration("18446744073709551615s 999999999ns"), Ok(Duration::MAX));
}

#[test]
fn a_very_long_text_is_refused_in_a_short_message() {
    let long = "9".repeat(1_000_000);
    for text in
        [long.clone(), format!("{long}s"), format!("1/{long}"), format!("{long}/s"), "x".repeat(1_000_000)]
    {
        read_by_every_parser(&text);
    }
}
