//! Every choice of a package's features compiles without a warning.

use crate::report::{self, Outcome};
use crate::workspace::{Package, cargo};

/// Lints the package under each set of its features, as a user gets it: without its tests, whose dependencies may turn
/// more features on. Then with its tests, without features and with the default ones.
pub(crate) fn lint_every_choice(package: &Package) -> Outcome {
    let choices = every_choice(&package.features);
    let alone =
        choices.iter().map(|features| format!("--no-default-features --features={}", features.join(",")));
    let with_tests = ["--all-targets --no-default-features", "--all-targets"].map(str::to_owned);

    let failures: String =
        alone.chain(with_tests).filter_map(|choice| lint(&package.name, &choice).err()).collect();
    let note = match choices.len() {
        1 => String::new(),
        count => format!("{count} choices of features"),
    };
    if failures.is_empty() { Outcome::passed(note) } else { Outcome::failed(failures).with_note(note) }
}

fn lint(package: &str, choice: &str) -> Result<String, String> {
    let mut command = cargo(["clippy", "--package", package]);
    report::run(command.args(choice.split(' ')).args(["--", "-D", "warnings"]))
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
