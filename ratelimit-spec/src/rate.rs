use std::time::Duration;

use crate::error::ParseError;
use crate::number::whole_number;
use crate::rules;
use crate::suggest::quoted;
use crate::window::parse_window;

/// Reads a rate, `max/window`: `"100/s"`, `"5/10s"`, `"1000/min"`, `"10/h"`, `"1/day"`.
///
/// The window is what [`parse_window`] reads, or a unit alone, which means one of it. `max` may be 0, since only
/// declarations refuse it (see [`rules::max`]).
///
/// # Errors
/// If `text` is no rate, if `max` does not fit a `u32`, or as [`parse_window`].
///
/// ```
/// use std::time::Duration;
/// use ratelimit_spec::parse_rate;
///
/// assert_eq!(parse_rate("1000/min"), Ok((1000, Duration::from_secs(60))));
/// ```
pub fn parse_rate(text: &str) -> Result<(u32, Duration), ParseError> {
    let Some((max, window)) = text.split_once('/') else {
        let problem = match text.trim() {
            "" => "a rate is missing".to_owned(),
            text => format!("{} is not a rate", quoted(text)),
        };
        return Err(ParseError::text(format!(
            "{problem}; write how many and in what time, as in `100/s` or `5/10s`"
        )));
    };
    let max = match whole_number("max", max.trim())? {
        0 => 0,
        max => rules::max(max)?,
    };
    let window = window.trim();
    let unit_alone = !window.is_empty() && window.chars().all(char::is_alphabetic);
    let window = if unit_alone { parse_window(&format!("1{window}"))? } else { parse_window(window)? };
    Ok((max, window))
}
