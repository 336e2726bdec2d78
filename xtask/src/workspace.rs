//! Where the workspace is, its packages, and cargo within it.

use std::cmp::Reverse;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Command;

use crate::report;

/// The folder that holds the workspace's `Cargo.toml`.
pub(crate) fn root() -> PathBuf {
    let here = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| env!("CARGO_MANIFEST_DIR").into(), PathBuf::from);
    here.parent().map_or_else(|| here.clone(), PathBuf::from)
}

/// The folder that cargo builds in.
pub(crate) fn target() -> PathBuf {
    root().join(std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}

/// A cargo command on the workspace.
pub(crate) fn cargo<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command
        .args(arguments)
        .current_dir(root())
        .env("CARGO_TARGET_DIR", target())
        .env("CARGO_TERM_COLOR", "never");
    command
}

/// The same, of another toolchain than the pinned one.
pub(crate) fn with_toolchain(toolchain: &str) -> Command {
    let mut command = rustup();
    command
        .args(["run", toolchain, "cargo"])
        .current_dir(root())
        .env("CARGO_TARGET_DIR", target())
        .env("CARGO_TERM_COLOR", "never");
    command
}

/// Rustup, whose choice for this process is the pinned toolchain: that does not count for what it runs.
pub(crate) fn rustup() -> Command {
    let mut command = Command::new("rustup");
    for inherited in ["CARGO", "RUSTC", "RUSTDOC", "RUSTUP_TOOLCHAIN"] {
        command.env_remove(inherited);
    }
    command
}

pub(crate) struct Package {
    pub(crate) name: String,
    /// All its features but `default`.
    pub(crate) features: Vec<String>,
}

/// The packages of the workspace, as cargo lists them; none where it cannot, which another step reports.
pub(crate) fn packages() -> Vec<Package> {
    let list = report::run(
        cargo(["tree", "--quiet", "--workspace", "--all-features", "--depth", "0", "--prefix", "none"])
            .args(["--format", "{p}|{f}"]),
    );
    let mut packages: Vec<Package> = list.unwrap_or_default().lines().filter_map(read_package).collect();
    // One that others build with fewer features is listed twice: keep what has them all.
    packages.sort_by_key(|package| (package.name.clone(), Reverse(package.features.len())));
    packages.dedup_by(|again, first| again.name == first.name);
    packages
}

/// Reads `name v0.1.0 (path)|feature,feature`.
fn read_package(line: &str) -> Option<Package> {
    let (package, features) = line.split_once('|')?;
    Some(Package {
        name: package.split(' ').next()?.to_owned(),
        features: features
            .split(',')
            .filter(|feature| !feature.is_empty() && *feature != "default")
            .map(str::to_owned)
            .collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_a_package_and_its_features() {
        let package =
            read_package("ratelimit-runtime v0.1.0 (/src/ratelimit-runtime)|axum,default,uuid").unwrap();
        assert_eq!(package.name, "ratelimit-runtime");
        assert_eq!(package.features, ["axum", "uuid"]);
    }

    #[test]
    fn a_package_may_have_no_features() {
        assert!(read_package("xtask v0.1.0 (/src/xtask)|").unwrap().features.is_empty());
        assert!(read_package("").is_none());
    }
}
