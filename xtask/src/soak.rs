//! `cargo xtask soak`: the package `soak`, optimized as users build it.

use std::process::{Command, ExitCode};

use crate::report::{self, Outcome};
use crate::workspace::cargo;

const TWO_MINUTES: u64 = 120;

/// A step of `cargo xtask test`.
pub(crate) fn holds_for_two_minutes() -> Outcome {
    Outcome::of(&mut command(TWO_MINUTES))
}

/// The same as a command of its own, for as long as one likes: prints while it runs.
pub(crate) fn run(hours: &str) -> ExitCode {
    if let Some(seconds) = seconds(hours) {
        report::show(&mut command(seconds))
    } else {
        eprintln!("`--hours` takes a number above 0, such as 8 or 0.5, not `{hours}`");
        ExitCode::from(2)
    }
}

fn command(seconds: u64) -> Command {
    let mut command = cargo(["run", "--quiet", "--release", "--package", "soak", "--"]);
    command.args(["--seconds", &seconds.to_string()]);
    command
}

fn seconds(hours: &str) -> Option<u64> {
    let hours: f64 = hours.parse().ok()?;
    let is_a_time = hours > 0.0 && hours < 100_000.0;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within the bounds above")]
    is_a_time.then_some((hours * 3600.0).ceil() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hours_may_be_fractions() {
        assert_eq!(["8", "0.5", "0.0001"].map(seconds), [Some(28_800), Some(1800), Some(1)]);
        assert_eq!(["0", "-1", "", "NaN", "inf", "long"].map(seconds), [None; 6]);
    }
}
