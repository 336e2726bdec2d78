//! Who uses the runtime compiles few crates, and what is measured is what they get.

use std::collections::BTreeSet;

use crate::report::{self, Outcome};
use crate::workspace::cargo;

/// Most packages in the runtime's tree with default features, itself and the macros included.
const MOST: usize = 25;

pub(crate) fn stay_few() -> Outcome {
    let tree = report::run(&mut cargo([
        "tree",
        "--quiet",
        "--package",
        "ratelimit-runtime",
        "--edges",
        "normal",
        "--prefix",
        "none",
    ]));
    match tree {
        Ok(tree) => judge(&tree),
        Err(output) => Outcome::failed(output),
    }
}

fn judge(tree: &str) -> Outcome {
    let packages = packages(tree);
    let note = format!("{} of at most {MOST} packages", packages.len());
    if packages.is_empty() {
        Outcome::failed("cargo tree names no package")
    } else if packages.len() > MOST {
        Outcome::failed(packages.into_iter().collect::<Vec<_>>().join("\n")).with_note(note)
    } else {
        Outcome::passed(note)
    }
}

/// The benches are built without the feature that lets tests move the clock: it costs time in every call.
pub(crate) fn are_measured_as_users_get_them() -> Outcome {
    let mut tree = cargo(["tree", "--quiet", "--package", "ratelimit-benches", "--edges", "features"]);
    match report::run(&mut tree) {
        Ok(tree) if tree.contains("test-util") => Outcome::failed(tree),
        Ok(_) => Outcome::passed(""),
        Err(output) => Outcome::failed(output),
    }
}

/// The different `name v1.2.3`; what follows says only where it is and whether it was seen before.
fn packages(tree: &str) -> BTreeSet<String> {
    tree.lines()
        .map(|line| line.split_whitespace().take(2).collect::<Vec<_>>().join(" "))
        .filter(|package| !package.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_counts_once() {
        let tree = "runtime v0.1.0 (/src/runtime)\nquote v1.0.47\nquote v1.0.47 (*)\n\n";
        assert_eq!(packages(tree).into_iter().collect::<Vec<_>>(), ["quote v1.0.47", "runtime v0.1.0"]);
    }
}
