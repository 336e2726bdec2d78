use std::fmt;
use std::str::FromStr;

use crate::algorithm::Algorithm;
use crate::error::{ParseError, SpecError};
use crate::limit_spec::LimitSpec;
use crate::number::whole_number;
use crate::rate::parse_rate;
use crate::rules;
use crate::shortest_window::ShortestWindow;
use crate::suggest::{quoted, unknown};

/// The options, in the order in which they are printed.
const OPTIONS: [&str; 4] = ["algorithm", "buckets", "burst", "initial"];

/// Prints `max/window`, then each option that is set, in a fixed order: what [`FromStr`] reads.
impl fmt::Display for LimitSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.max(), ShortestWindow(self.window()))?;
        if self.algorithm() != Algorithm::default() {
            write!(f, " algorithm={}", self.algorithm())?;
        }
        for (name, value) in [("buckets", self.buckets), ("burst", self.burst), ("initial", self.initial)] {
            if let Some(value) = value {
                write!(f, " {name}={value}")?;
            }
        }
        Ok(())
    }
}

/// Reads a rate and then options, each `name=value`, in any order, and checks the whole: `"100/1s"`,
/// `"100/s buckets=10"`, `"5/1s algorithm=gcra burst=5"`, `"10/1m algorithm=token_bucket initial=0"`.
impl FromStr for LimitSpec {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        // The rate may hold blanks (`100/1m 30s`), an option none.
        let (rate, options) = text.split_at(start_of_options(text));
        if rate.is_empty() && options.contains(',') {
            return Err(ParseError::text(format!(
                "{} has a comma; set options apart by blanks, as in `100/1s buckets=10`",
                quoted(text)
            )));
        }
        let (max, window) = parse_rate(rate)?;
        let mut spec = Self::new(max, window);
        let mut seen = Vec::with_capacity(OPTIONS.len());
        for option in options.split_whitespace() {
            let Some((name, value)) = option.split_once('=') else {
                return Err(ParseError::text(format!(
                    "{} is not an option; write `name=value`, as in `100/1s buckets=10`",
                    quoted(option)
                )));
            };
            if seen.contains(&name) {
                return Err(ParseError::text(format!("`{name}` is set twice; write it once")));
            }
            spec = spec.with_option(name, value)?;
            seen.push(name);
        }
        spec.validate()?;
        Ok(spec)
    }
}

impl LimitSpec {
    fn with_option(self, name: &str, value: &str) -> Result<Self, ParseError> {
        match name {
            "algorithm" => Ok(self.with_algorithm(value.parse()?)),
            "buckets" => Ok(self.with_buckets(number(name, value, rules::buckets)?)),
            "burst" => Ok(self.with_burst(number(name, value, rules::burst)?)),
            // Against `burst` once all options are read: `validate` does.
            "initial" => Ok(self.with_initial(number(name, value, |value| rules::initial(value, u32::MAX))?)),
            _ => Err(ParseError::text(unknown("option", name, &OPTIONS))),
        }
    }
}

/// Where the first word with a `=` in it begins.
fn start_of_options(text: &str) -> usize {
    let Some(equals) = text.find('=') else { return text.len() };
    text[..equals].char_indices().rev().find(|(_, letter)| letter.is_whitespace()).map_or(0, |(at, _)| at)
}

fn number(
    name: &str,
    text: &str,
    rule: impl FnOnce(u64) -> Result<u32, SpecError>,
) -> Result<u32, ParseError> {
    Ok(rule(whole_number(name, text)?)?)
}
