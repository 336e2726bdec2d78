use std::error::Error;
use std::fmt;
use std::time::Duration;

use crate::algorithm::{Algorithm, AlgorithmOption};
use crate::shortest_window::{EXAMPLES, ShortestWindow};
use crate::suggest::list;

/// A rule that a limit breaks. [`Display`](fmt::Display) says which, with the values, and what to write instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SpecError(pub(crate) BrokenRule);

/// One variant for each message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum BrokenRule {
    MaxIsZero,
    MaxTooLarge(u64),
    WindowIsZero,
    WindowTooLong(Duration),
    WindowTooShort { window: Duration, buckets: u32 },
    BucketsOutOfRange(u64),
    BurstOutOfRange(u64),
    InitialAboveBurst { initial: u64, burst: u32 },
    OptionDoesNotFit(AlgorithmOption, Algorithm),
}

impl SpecError {
    /// The argument whose value is at fault: `"max"`, `"window"`, `"buckets"`, `"burst"` or `"initial"`.
    #[must_use]
    pub const fn argument(&self) -> &'static str {
        match self.0 {
            BrokenRule::MaxIsZero | BrokenRule::MaxTooLarge(_) => "max",
            BrokenRule::WindowIsZero | BrokenRule::WindowTooLong(_) | BrokenRule::WindowTooShort { .. } => {
                "window"
            }
            BrokenRule::BucketsOutOfRange(_) => "buckets",
            BrokenRule::BurstOutOfRange(_) => "burst",
            BrokenRule::InitialAboveBurst { .. } => "initial",
            BrokenRule::OptionDoesNotFit(option, _) => option.name(),
        }
    }

    /// The rule without the values: a panic in a constant cannot format them.
    #[must_use]
    pub const fn rule(&self) -> &'static str {
        match self.0 {
            BrokenRule::MaxIsZero => {
                "`max = 0` would deny every call; write at least 1, or `mode = \"off\"` to admit every call"
            }
            BrokenRule::MaxTooLarge(_) => "`max` must be between 1 and 4294967295",
            BrokenRule::WindowIsZero => "`window` must be above 0",
            BrokenRule::WindowTooLong(_) => "`window` must be at most 100 years",
            BrokenRule::WindowTooShort { .. } => "`window` must be at least 1 ns for each of its `buckets`",
            BrokenRule::BucketsOutOfRange(_) => "`buckets` must be between 1 and 1000",
            BrokenRule::BurstOutOfRange(_) => "`burst` must be between 1 and 4294967295",
            BrokenRule::InitialAboveBurst { .. } => "`initial` must be between 0 and `burst`",
            BrokenRule::OptionDoesNotFit(option, _) => match option {
                AlgorithmOption::Buckets => "`buckets` goes only with `sliding_window`",
                AlgorithmOption::Burst => "`burst` goes only with `token_bucket`, `leaky_bucket` and `gcra`",
                AlgorithmOption::Initial => "`initial` goes only with `token_bucket`",
                AlgorithmOption::MaxPerCall => {
                    "a `max` that each call evaluates goes only with `sliding_window`, `fixed_window` and `sliding_log`"
                }
            },
        }
    }
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rule = self.rule();
        match self.0 {
            BrokenRule::MaxIsZero => f.write_str(rule),
            BrokenRule::MaxTooLarge(value)
            | BrokenRule::BucketsOutOfRange(value)
            | BrokenRule::BurstOutOfRange(value) => write!(f, "{rule}, not {value}"),
            BrokenRule::WindowIsZero => write!(f, "{rule}; write a duration such as {EXAMPLES}"),
            BrokenRule::WindowTooLong(window) => {
                write!(f, "{rule}, not {}; write a duration such as {EXAMPLES}", ShortestWindow(window))
            }
            BrokenRule::WindowTooShort { window, buckets } => write!(
                f,
                "{rule}; {} is too short for {buckets}, so write `\"{buckets}ns\"` or longer, or fewer `buckets`",
                ShortestWindow(window)
            ),
            BrokenRule::InitialAboveBurst { initial, burst } => {
                write!(f, "{rule}, which is {burst}, not {initial}")
            }
            BrokenRule::OptionDoesNotFit(option, algorithm) => {
                let subject = match option {
                    AlgorithmOption::MaxPerCall => "a `max` that each call evaluates".to_owned(),
                    _ => format!("`{}`", option.name()),
                };
                let takers: Vec<_> = Algorithm::ALL
                    .into_iter()
                    .filter(|other| other.takes(option))
                    .map(Algorithm::name)
                    .collect();
                write!(f, "{subject} does not go with `{algorithm}`; it goes with {}", list(&takers))
            }
        }
    }
}

impl Error for SpecError {}

/// A text that is no limit, duration, algorithm or mode: it does not follow the grammar, or breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ParseError(Cause);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Cause {
    Text(Box<str>),
    Rule(SpecError),
}

impl ParseError {
    pub(crate) fn text(message: String) -> Self {
        Self(Cause::Text(message.into_boxed_str()))
    }

    /// The rule that is broken; `None` if the text could not be read at all.
    #[must_use]
    pub fn broken_rule(&self) -> Option<SpecError> {
        match self.0 {
            Cause::Rule(error) => Some(error),
            Cause::Text(_) => None,
        }
    }
}

impl From<SpecError> for ParseError {
    fn from(error: SpecError) -> Self {
        Self(Cause::Rule(error))
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Cause::Text(message) => f.write_str(message),
            Cause::Rule(error) => error.fmt(f),
        }
    }
}

impl Error for ParseError {}
