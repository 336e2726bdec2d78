use std::time::Duration;

use crate::error::ParseError;
use crate::rules;
use crate::shortest_window::EXAMPLES;
use crate::suggest::{quoted, unknown};

/// The units that messages propose, of the many spellings that humantime reads.
const UNITS: [&str; 22] = [
    "ns", "us", "ms", "s", "sec", "second", "seconds", "m", "min", "minute", "minutes", "h", "hour", "hours",
    "day", "days", "week", "weeks", "month", "months", "year", "years",
];

/// Reads a window as the `humantime` crate does: `"1s"`, `"100ms"`, `"1m 30s"`, `"1h"`.
///
/// A month has 30.44 days, and a year 365.25: neither follows the calendar.
///
/// # Errors
/// If `text` is no duration, is 0, or is longer than 100 years.
///
/// ```
/// use std::time::Duration;
/// use ratelimit_spec::parse_window;
///
/// assert_eq!(parse_window("1m 30s"), Ok(Duration::from_secs(90)));
/// assert!(parse_window("0s").is_err());
/// ```
pub fn parse_window(text: &str) -> Result<Duration, ParseError> {
    let window = parse_duration(text)?;
    rules::window(window)?;
    Ok(window)
}

/// Reads any duration as the `humantime` crate does, 0 too: for arguments that are no window.
///
/// # Errors
/// If `text` is no duration, or one that a [`Duration`] cannot hold.
pub fn parse_duration(text: &str) -> Result<Duration, ParseError> {
    if text == "0" {
        return Ok(Duration::ZERO);
    }
    let mut rest = text.trim();
    if rest.is_empty() {
        return Err(ParseError::text(format!("a duration is missing; write one such as {EXAMPLES}")));
    }
    // Part by part, because humantime's own sum of them can panic where it passes the end of `u64`.
    let mut sum = Duration::ZERO;
    while !rest.is_empty() {
        let (part, after) = split_first_part(rest);
        let duration = parse_part(part, text)?;
        sum = sum.checked_add(duration).ok_or_else(|| out_of_range(text))?;
        rest = after.trim_start();
    }
    Ok(sum)
}

/// A number and its unit, and what follows: a part ends where its letters do.
fn split_first_part(text: &str) -> (&str, &str) {
    let unit = text.find(char::is_alphabetic).unwrap_or(text.len());
    let end =
        text[unit..].find(|letter: char| !letter.is_alphabetic()).map_or(text.len(), |length| unit + length);
    text.split_at(end)
}

/// Reads one part of `text`, a number and its unit.
fn parse_part(part: &str, text: &str) -> Result<Duration, ParseError> {
    use humantime::DurationError as Error;
    if part.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return Err(ParseError::text(format!(
            "{} has no unit of time; write a duration such as {EXAMPLES}",
            quoted(part)
        )));
    }
    humantime::parse_duration(part).map_err(|error| match error {
        Error::UnknownUnit { unit, .. } if !unit.is_empty() => {
            ParseError::text(unknown("unit of time", &unit, &UNITS))
        }
        Error::NumberOverflow => out_of_range(text),
        _ => ParseError::text(format!("{} is not a duration; write one such as {EXAMPLES}", quoted(text))),
    })
}

fn out_of_range(text: &str) -> ParseError {
    ParseError::text(format!(
        "{} is longer than a duration can be, or finer than 1 ns; write one such as {EXAMPLES}",
        quoted(text)
    ))
}
