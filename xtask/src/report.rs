//! Steps, each with one line and its time, what a failed one printed, and the table and sum at the end.

use std::io::Write as _;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use crate::tally::Tally;

/// What a step found out.
pub(crate) struct Outcome {
    passed: bool,
    tests: Tally,
    /// A few words for the step's line.
    note: String,
    /// Shown only where the step failed.
    output: String,
}

impl Outcome {
    pub(crate) fn passed(note: impl Into<String>) -> Self {
        Self { passed: true, tests: Tally::default(), note: note.into(), output: String::new() }
    }

    pub(crate) fn failed(output: impl Into<String>) -> Self {
        Self { passed: false, tests: Tally::default(), note: String::new(), output: output.into() }
    }

    /// Runs a command; it passes where the command succeeds.
    pub(crate) fn of(command: &mut Command) -> Self {
        match run(command) {
            Ok(_) => Self::passed(""),
            Err(output) => Self::failed(output),
        }
    }

    /// Runs `cargo test`, and counts its tests.
    pub(crate) fn of_tests(command: &mut Command) -> Self {
        let (passed, output) = match run(command) {
            Ok(output) => (true, output),
            Err(output) => (false, output),
        };
        let tests = Tally::read(&output);
        Self { passed, tests, note: tests.to_string(), output }
    }

    pub(crate) fn with_note(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }
}

/// Runs a command to its end: what it printed, as an error where it failed.
pub(crate) fn run(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}\n"))?;
    let mut text = String::from_utf8_lossy(&output.stderr).into_owned();
    text.push_str(&String::from_utf8_lossy(&output.stdout));
    if output.status.success() { Ok(text) } else { Err(format!("{command:?}: {}\n{text}", output.status)) }
}

/// Runs a command to its end, and lets it print.
pub(crate) fn show(command: &mut Command) -> ExitCode {
    match command.status() {
        Ok(status) if status.success() => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{command:?}: {error}");
            ExitCode::FAILURE
        }
    }
}

struct Row {
    name: String,
    took: Duration,
    outcome: Outcome,
}

impl Row {
    fn line(&self) -> String {
        let verdict = if self.outcome.passed { "ok" } else { "FAILED" };
        let line = format!(
            "{verdict:<6} {:>6.1} s  {:<40} {}",
            self.took.as_secs_f64(),
            self.name,
            self.outcome.note
        );
        line.trim_end().to_owned()
    }
}

/// The steps done so far.
pub(crate) struct Report {
    rows: Vec<Row>,
    began: Instant,
}

impl Report {
    pub(crate) fn new() -> Self {
        Self { rows: Vec::new(), began: Instant::now() }
    }

    /// Does one step. A failed one is shown in full, and the next steps still run.
    pub(crate) fn step(&mut self, name: impl Into<String>, work: impl FnOnce() -> Outcome) {
        let began = Instant::now();
        let outcome = work();
        let row = Row { name: name.into(), took: began.elapsed(), outcome };
        println!("{}", row.line());
        if !row.outcome.passed {
            println!("{}", row.outcome.output);
        }
        // A closed pipe must not end the check.
        let _ = std::io::stdout().flush();
        self.rows.push(row);
    }

    /// Prints the table and the sum, the last line being `N passed, N failed`.
    pub(crate) fn finish(self) -> ExitCode {
        println!("\nall steps, {:.0} s", self.began.elapsed().as_secs_f64());
        for row in &self.rows {
            println!("{}", row.line());
        }
        println!("\n{}", self.sum());
        if self.rows.iter().all(|row| row.outcome.passed) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }

    /// All tests. A step that failed without a failed test counts as one, so that the sum never hides it.
    fn sum(&self) -> Tally {
        self.rows.iter().fold(Tally::default(), |sum, row| {
            let hidden = !row.outcome.passed && row.outcome.tests.failed == 0;
            sum + row.outcome.tests + Tally { passed: 0, failed: usize::from(hidden) }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_step_without_failed_tests_counts_as_one_failure() {
        let mut report = Report::new();
        report.step("good", || Outcome { tests: Tally { passed: 3, failed: 0 }, ..Outcome::passed("") });
        report.step("bad", || Outcome::failed("it did not compile"));
        assert_eq!(report.sum().to_string(), "3 passed, 1 failed");
    }
}
