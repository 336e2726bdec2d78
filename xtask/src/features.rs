//! Every choice of a package's features compiles without a warning.

use crate::report::{self, Outcome};
use crate::workspace::{Package, cargo};

/// Lints the package under each set of its features: the library alone, as a user gets it, then with its tests,
/// whose dependencies may turn more features on.
pub(crate) fn lint_every_choice(package: &Package) -> Outcome {
    let choices = every_choice(&package.features);
    let mut failures = String::new();
    for choice in &choices {
        for targets in [None, Some("--all-targets")] {
            let mut command = cargo(["clippy", "--package", &package.name, "--no-default-features"]);
            command.args(["--features", &choice.join(",")]).args(targets).args(["--", "-D", "warnings"]);
            if let Err(output) = report::run(&mut command) {
                failures.push_str(&output);
                break;
            }
        }
    }
    let note = match choices.len() {
        1 => String::new(),
        count => format!("{count} choices of features"),
    };
    if failures.is_empty() { Outcome::passed(note) } else { Outcome::failed(failures).with_note(note) }
}

/// All subsets, the empty one first.
fn every_choice(features: &[String]) -> Vec<Vec<&str>> {
    let mut choices = vec![Vec::new()];
    for feature in features {
        let with_it = choices.iter().map(|choice: &Vec<&str>| [choice.as_slice(), &[feature]].concat());
        choices.extend(with_it.collect::<Vec<_>>());
    }
    choices
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_subset_is_tried_once() {
        let features = ["axum", "tokio"].map(str::to_owned);
        assert_eq!(every_choice(&features), [vec![], vec!["axum"], vec!["tokio"], vec!["axum", "tokio"]]);
        assert_eq!(every_choice(&[]), [Vec::<&str>::new()]);
    }
}
