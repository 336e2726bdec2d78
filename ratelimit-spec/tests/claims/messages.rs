//! Every message, word for word: lower-case, one sentence, code in backticks, and what to write instead.

use std::time::Duration;

use ratelimit_spec::{
    Algorithm, AlgorithmOption, LimitSpec, Mode, ParseError, SpecError, parse_duration, parse_rate,
    parse_window, rules, unknown,
};

#[track_caller]
fn says<T: std::fmt::Debug, E: std::fmt::Display>(result: Result<T, E>, message: &str) {
    assert_eq!(result.map_err(|error| error.to_string()).unwrap_err(), message);
}

#[test]
fn of_numbers() {
    says(
        rules::max(0),
        "`max = 0` would deny every call; write at least 1, or `mode = \"off\"` to admit every call",
    );
    says(rules::max(5_000_000_000), "`max` must be between 1 and 4294967295, not 5000000000");
    says(rules::buckets(0), "`buckets` must be between 1 and 1000, not 0");
    says(rules::burst(0), "`burst` must be between 1 and 4294967295, not 0");
    says(rules::initial(6, 5), "`initial` must be between 0 and `burst`, which is 5, not 6");
}

#[test]
fn of_windows() {
    says(
        rules::window(Duration::ZERO),
        "`window` must be above 0; write a duration such as `\"1s\"`, `\"100ms\"` or `\"1m 30s\"`",
    );
    says(
        parse_window("101y"),
        "`window` must be at most 100 years, not 885366h; write a duration such as `\"1s\"`, `\"100ms\"` or `\"1m 30s\"`",
    );
    says(
        rules::window_holds_buckets(Duration::from_nanos(5), 20),
        "`window` must be at least 1 ns for each of its `buckets`; 5ns is too short for 20, so write `\"20ns\"` or longer, or fewer `buckets`",
    );
}

#[test]
fn of_options_beside_an_algorithm() {
    let refused = |option, algorithm| rules::option_fits(option, algorithm);
    says(
        refused(AlgorithmOption::Burst, Algorithm::SlidingWindow),
        "`burst` does not go with `sliding_window`; it goes with `token_bucket`, `leaky_bucket` and `gcra`",
    );
    says(
        refused(AlgorithmOption::Buckets, Algorithm::Gcra),
        "`buckets` does not go with `gcra`; it goes with `sliding_window`",
    );
    says(
        refused(AlgorithmOption::Initial, Algorithm::LeakyBucket),
        "`initial` does not go with `leaky_bucket`; it goes with `token_bucket`",
    );
    says(
        refused(AlgorithmOption::MaxPerCall, Algorithm::Gcra),
        "a `max` that each call evaluates does not go with `gcra`; it goes with `sliding_window`, `fixed_window` and `sliding_log`",
    );
}

#[test]
fn of_unknown_names() {
    says(
        "sliding_windw".parse::<Algorithm>(),
        "unknown algorithm `sliding_windw`; did you mean `sliding_window`?",
    );
    says(
        "lru".parse::<Algorithm>(),
        "unknown algorithm `lru`; write `sliding_window`, `fixed_window`, `sliding_log`, `token_bucket`, `leaky_bucket` or `gcra`",
    );
    says("shadwo".parse::<Mode>(), "unknown mode `shadwo`; did you mean `shadow`?");
    says("loud".parse::<Mode>(), "unknown mode `loud`; write `enforce`, `shadow` or `off`");
    assert_eq!(unknown("argument", "x", &["key"]), "unknown argument `x`; write `key`");
    assert_eq!(
        unknown("argument", "\u{7}a\n\"", &["key"]),
        "unknown argument `\\u{7}a\\n\"`; write `key`",
        "on one line"
    );
}

#[test]
fn of_durations() {
    says(
        parse_duration(""),
        "a duration is missing; write one such as `\"1s\"`, `\"100ms\"` or `\"1m 30s\"`",
    );
    says(
        parse_duration("30"),
        "`30` has no unit of time; write a duration such as `\"1s\"`, `\"100ms\"` or `\"1m 30s\"`",
    );
    says(
        parse_duration("1.5"),
        "`1.5` has no unit of time; write a duration such as `\"1s\"`, `\"100ms\"` or `\"1m 30s\"`",
    );
    says(
        parse_duration("1sec/"),
        "`1sec/` is not a duration; write one such as `\"1s\"`, `\"100ms\"` or `\"1m 30s\"`",
    );
    says(parse_duration("5 secnds"), "unknown unit of time `secnds`; did you mean `seconds`?");
    says(parse_duration("1 mnth"), "unknown unit of time `mnth`; did you mean `month`?");
    says(
        parse_duration("0.5ns"),
        "`0.5ns` is longer than a duration can be, or finer than 1 ns; write one such as `\"1s\"`, `\"100ms\"` or `\"1m 30s\"`",
    );
}

#[test]
fn of_rates() {
    says(parse_rate(" "), "a rate is missing; write how many and in what time, as in `100/s` or `5/10s`");
    says(parse_rate("100"), "`100` is not a rate; write how many and in what time, as in `100/s` or `5/10s`");
    says(parse_rate("1_000/s"), "`max` must be a whole number, not `1_000`; write digits only");
    says(parse_rate("5000000000/s"), "`max` must be between 1 and 4294967295, not 5000000000");
    says(parse_rate("99999999999999999999/s"), "`max` is too large; write less than `99999999999999999999`");
    says(parse_rate("100/secnd"), "unknown unit of time `secnd`; did you mean `second`?");
    says(
        parse_rate("100/10"),
        "`10` has no unit of time; write a duration such as `\"1s\"`, `\"100ms\"` or `\"1m 30s\"`",
    );
}

#[test]
fn of_limits() {
    let read = |text: &str| text.parse::<LimitSpec>();
    says(read("buckets=10"), "a rate is missing; write how many and in what time, as in `100/s` or `5/10s`");
    says(read("100/s bucket=10"), "unknown option `bucket`; did you mean `buckets`?");
    says(read("100/s mode=off"), "unknown option `mode`; write `algorithm`, `buckets`, `burst` or `initial`");
    says(read("100/s buckets=10 buckets=10"), "`buckets` is set twice; write it once");
    says(read("100/s buckets=ten"), "`buckets` must be a whole number, not `ten`; write digits only");
    says(
        read("100/s buckets=10 gcra"),
        "`gcra` is not an option; write `name=value`, as in `100/1s buckets=10`",
    );
    says(
        read("100/s algorithm=gcra buckets=10"),
        "`buckets` does not go with `gcra`; it goes with `sliding_window`",
    );
}

#[test]
fn a_parse_error_tells_which_rule_was_broken() {
    let rule = rules::buckets(0).unwrap_err();
    assert_eq!("100/s buckets=0".parse::<LimitSpec>(), Err(ParseError::from(rule)));
    assert_eq!(ParseError::from(rule).broken_rule(), Some(rule));
    assert_eq!(parse_rate("100").unwrap_err().broken_rule(), None);
}

#[test]
fn options_that_are_not_set_apart_by_blanks_are_told_to_be() {
    let message = "10/s,buckets=3".parse::<LimitSpec>().unwrap_err().to_string();
    assert_eq!(
        message,
        "`10/s,buckets=3` has a comma; set options apart by blanks, as in `100/1s buckets=10`"
    );
}

#[test]
fn a_constant_panics_with_the_rule_that_the_message_begins_with() {
    let errors: [SpecError; 8] = [
        rules::max(0).unwrap_err(),
        rules::max(u64::MAX).unwrap_err(),
        rules::window(Duration::ZERO).unwrap_err(),
        rules::window(Duration::MAX).unwrap_err(),
        rules::window_holds_buckets(Duration::from_nanos(5), 20).unwrap_err(),
        rules::buckets(0).unwrap_err(),
        rules::burst(0).unwrap_err(),
        rules::initial(6, 5).unwrap_err(),
    ];
    for error in errors {
        assert!(error.to_string().starts_with(error.rule()), "{error}");
        assert!(error.rule().contains(&format!("`{}", error.argument())), "{error}");
    }
}

#[test]
fn a_constant_names_the_algorithms_that_the_message_names() {
    for option in AlgorithmOption::ALL {
        for algorithm in Algorithm::ALL {
            let Err(error) = rules::option_fits(option, algorithm) else { continue };
            let message = error.to_string();
            let (_, takers) = message.split_once("it goes with ").unwrap();
            assert!(error.rule().ends_with(&format!("goes only with {takers}")), "{}", error.rule());
        }
    }
}
