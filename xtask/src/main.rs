//! The project's own commands: `cargo xtask test` is all that a change must pass.

mod check;
mod consumer;
mod dependencies;
mod features;
mod interleavings;
mod miri;
mod oldest;
mod quickstart;
mod readme;
mod report;
mod servers;
mod soak;
mod tally;
mod workspace;

use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask <command>

  test           everything a change must pass: format, lints, docs, tests, examples, a new crate as its user
  ci             the same
  interleavings  loom on what threads share; LOOM_MAX_PREEMPTIONS=3 looks further than the usual 2
  miri           the unit tests under miri, if it is installed
  soak --hours N everything at once for so long; fails if memory grows or a limit is exceeded";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["test" | "ci"] => check::everything(),
        ["interleavings"] => interleavings::run(),
        ["miri"] => miri::run(),
        ["soak", "--hours", hours] => soak::run(hours),
        ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            ExitCode::SUCCESS
        }
        _ => {
            eprintln!("{USAGE}");
            ExitCode::from(2)
        }
    }
}
