//! The program's arguments.

use std::ops::RangeInclusive;

use crate::keys::MOST_THREADS;
use crate::rounds::Effort;

pub(crate) const USAGE: &str = "\
usage: cargo run --release -p ratelimit-benches -- [time] [memory] [code] [options]

  time             nanoseconds for a call, against other limiters
  memory           bytes for each key, at a million keys
  code             what an annotation costs in compile time and in the program; takes a minute, by cargo
                   none of the three: all; with `--case`: time

  --case <text>    only cases whose name contains it; several may be given
  --threads <n>    only with so many threads, 1 or 2
  --quick          few and short rounds: to see that it works
  --markdown       the table as Markdown
  --json           the figures as JSON";

/// What is to be measured, and how it is told.
#[derive(Debug)]
pub(crate) struct Arguments {
    pub(crate) time: bool,
    pub(crate) memory: bool,
    pub(crate) code: bool,
    cases: Vec<String>,
    pub(crate) threads: RangeInclusive<usize>,
    pub(crate) effort: Effort,
    pub(crate) format: Format,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Format {
    Text,
    Markdown,
    Json,
}

impl Arguments {
    /// Reads them; an `Err` names the one that is wrong.
    pub(crate) fn read(arguments: impl IntoIterator<Item = String>) -> Result<Self, String> {
        let mut read = Self {
            time: false,
            memory: false,
            code: false,
            cases: Vec::new(),
            threads: 1..=MOST_THREADS,
            effort: Effort::FULL,
            format: Format::Text,
        };
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "time" => read.time = true,
                "memory" => read.memory = true,
                "code" => read.code = true,
                "--case" => read.cases.push(arguments.next().ok_or("`--case` needs a text")?),
                "--threads" => {
                    let number = arguments.next().and_then(|number| number.parse().ok());
                    let number = number.filter(|number| (1..=MOST_THREADS).contains(number));
                    let number = number.ok_or("`--threads` needs 1 or 2")?;
                    read.threads = number..=number;
                }
                "--quick" => read.effort = Effort::QUICK,
                "--markdown" => read.format = Format::Markdown,
                "--json" => read.format = Format::Json,
                _ => return Err(format!("what is `{argument}`?")),
            }
        }
        if !(read.time || read.memory || read.code) {
            let all = read.cases.is_empty();
            (read.time, read.memory, read.code) = (true, all, all);
        }
        Ok(read)
    }

    pub(crate) fn chooses(&self, case: &str) -> bool {
        self.cases.is_empty() || self.cases.iter().any(|text| case.contains(text.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Arguments, String> {
        Arguments::read(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn all_is_measured_unless_something_is_chosen() {
        let all = read("").unwrap();
        assert!(all.time && all.memory && all.code && all.chooses("no key"));
        let some = read("memory --json").unwrap();
        assert!(!some.time && some.memory && !some.code);
        assert_eq!(some.format, Format::Json);
    }

    #[test]
    fn a_choice_of_cases_is_one_of_time() {
        let chosen = read("--case gcra --case hot").unwrap();
        assert!(chosen.time && !chosen.memory && !chosen.code);
        assert!(
            chosen.chooses("one hot key") && chosen.chooses("no key, `gcra`") && !chosen.chooses("no key")
        );
    }

    #[test]
    fn a_mistake_is_named() {
        assert_eq!(read("--fast").unwrap_err(), "what is `--fast`?");
        assert!(read("--case").is_err());
        assert!(read("--threads 3").is_err());
    }
}
