//! The README's first example is the whole program of a new crate that depends on the runtime and tokio alone.

use std::fs;
use std::path::Path;

use crate::readme;
use crate::report::{self, Outcome};
use crate::workspace::{self, cargo};

/// Every edition that the attribute promises to work in.
const EDITIONS: [&str; 2] = ["2021", "2024"];

pub(crate) fn builds_and_runs() -> Outcome {
    for edition in EDITIONS {
        if let Err(output) = build_and_run(edition) {
            return Outcome::failed(format!("edition {edition}: {output}"));
        }
    }
    Outcome::passed(format!("editions {}", EDITIONS.join(", ")))
}

fn build_and_run(edition: &str) -> Result<String, String> {
    let folder = workspace::target().join("tmp/consumer").join(edition);
    write_crate(&folder, edition)?;
    report::run(cargo(["run", "--quiet"]).current_dir(&folder))
}

/// Writes the crate, with the workspace's own `Cargo.lock`, so that it builds what the tests ran with.
fn write_crate(folder: &Path, edition: &str) -> Result<(), String> {
    let root = workspace::root();
    let readme = read(&root.join("README.md"))?;
    let example = readme::first_example(&readme).ok_or("README.md has no Rust example")?;
    write(&folder.join("Cargo.toml"), &manifest(&root, edition))?;
    write(&folder.join("Cargo.lock"), &read(&root.join("Cargo.lock"))?)?;
    write(&folder.join("src/main.rs"), example)
}

/// The `[workspace]` keeps cargo from looking for one above, in ours.
fn manifest(root: &Path, edition: &str) -> String {
    format!(
        r#"[package]
name = "consumer-{edition}"
version = "0.0.0"
edition = "{edition}"

[dependencies]
ratelimit-runtime = {{ path = "{}" }}
tokio = {{ version = "1", features = ["full"] }}

[lints.rust]
warnings = "deny"

[workspace]
"#,
        root.join("ratelimit-runtime").display()
    )
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    path.parent()
        .map_or(Ok(()), fs::create_dir_all)
        .and_then(|()| fs::write(path, text))
        .map_err(|error| format!("{}: {error}", path.display()))
}
