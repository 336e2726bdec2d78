//! `cargo run -p quickstart`, the README's other command, works and shows its table.

use crate::report::{self, Outcome};
use crate::workspace::cargo;

pub(crate) fn runs() -> Outcome {
    match report::run(&mut cargo(["run", "--quiet", "--package", "quickstart"])) {
        Ok(output) if output.contains("denied") => Outcome::passed(""),
        Ok(output) => Outcome::failed(format!("it shows no denied call:\n{output}")),
        Err(output) => Outcome::failed(output),
    }
}
