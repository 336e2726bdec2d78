//! `cargo xtask interleavings`: loom runs every interleaving of two or three threads, on the shipped code.

use std::process::{Command, ExitCode};

use crate::report::{self, Outcome};
use crate::workspace::cargo;

/// With the two forced changes of thread that the tests allow by themselves. Whoever runs the check with
/// `LOOM_MAX_PREEMPTIONS` set gets as many as that says.
pub(crate) fn hold() -> Outcome {
    Outcome::of_tests(&mut command())
}

/// The same as a command of its own: prints while it runs, which with more preemptions is long.
pub(crate) fn run() -> ExitCode {
    report::show(&mut command())
}

fn command() -> Command {
    let mut command = cargo(["test", "--release", "--package", "ratelimit-runtime", "--no-default-features"]);
    command.args(["--lib", "interleavings"]).env("RUSTFLAGS", "--cfg ratelimit_loom");
    command
}
