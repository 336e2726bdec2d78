//! How many tests passed and failed, as `cargo test` reports it.

use std::fmt;
use std::ops::Add;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) passed: usize,
    pub(crate) failed: usize,
}

impl Tally {
    /// Adds up the `test result:` lines, one from each test binary.
    pub(crate) fn read(output: &str) -> Self {
        output
            .lines()
            .filter_map(|line| line.trim_start().strip_prefix("test result: "))
            .map(|line| Self {
                passed: number_before(line, " passed"),
                failed: number_before(line, " failed"),
            })
            .fold(Self::default(), Self::add)
    }
}

fn number_before(line: &str, word: &str) -> usize {
    let before = line.split(word).next().unwrap_or_default();
    before.rsplit(' ').next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

impl Add for Tally {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { passed: self.passed + other.passed, failed: self.failed + other.failed }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} passed, {} failed", self.passed, self.failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds_up_every_binary() {
        let output = "\
running 2 tests
test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s
test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.10s
";
        assert_eq!(Tally::read(output), Tally { passed: 15, failed: 2 });
    }

    #[test]
    fn finds_nothing_where_nothing_was_compiled() {
        assert_eq!(Tally::read("error: could not compile `ratelimit-runtime`"), Tally::default());
    }
}
