//! `cargo xtask miri`: unit tests under the interpreter that finds undefined behaviour, where it is installed.

use std::process::{Command, ExitCode};

use crate::report::{self, Outcome};
use crate::workspace;

/// Those that are made of chance, of many threads or of many charges: under the interpreter they take hours.
const TOO_LONG: [&str; 9] = [
    "stress",
    "model",
    "programs",
    "every_change",
    "every_history",
    "by_a_rough_time",
    "answers_in_all",
    "raising_the_limit",
    "memory_is_bounded",
];

/// What the short form runs: that which is shared between threads, the table of keys and the lines.
const SHORT: [&str; 4] = ["key::", "path::", "table::", "wait::"];

const HOW_TO_INSTALL: &str = "rustup toolchain install nightly --component miri --component rust-src";

/// The short form, a step of `cargo xtask test`.
pub(crate) fn finds_nothing() -> Outcome {
    if is_installed() {
        Outcome::of_tests(command().args(SHORT))
    } else {
        Outcome::passed("skipped, miri is not installed")
    }
}

/// All unit tests that suit it.
pub(crate) fn run() -> ExitCode {
    if !is_installed() {
        println!("skipped: miri is not installed. To install it:\n\n  {HOW_TO_INSTALL}");
        return ExitCode::SUCCESS;
    }
    report::show(&mut command())
}

fn is_installed() -> bool {
    report::run(nightly().args(["miri", "--version"])).is_ok()
}

fn command() -> Command {
    let mut command = nightly();
    command
        .args(["miri", "test", "--package", "ratelimit-runtime", "--no-default-features", "--lib", "--"])
        .args(TOO_LONG.iter().flat_map(|name| ["--skip", name]))
        // The unit tests read the system's clock and the seeds of hashing.
        .env("MIRIFLAGS", "-Zmiri-disable-isolation");
    command
}

fn nightly() -> Command {
    workspace::with_toolchain("nightly")
}
