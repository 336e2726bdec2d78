//! The oldest compiler that is promised, in the workspace's `rust-version`.

use crate::report::{self, Outcome};
use crate::workspace::{rustup, with_toolchain};

const VERSION: &str = env!("CARGO_PKG_RUST_VERSION");

/// What users depend on.
const PACKAGES: [&str; 4] = ["ratelimit-spec", "ratelimit-macros", "ratelimit-runtime", "ratelimit-redis"];

pub(crate) fn compiles_what_users_get() -> Outcome {
    let installing = report::run(rustup().args(["toolchain", "install", VERSION, "--profile", "minimal"]));
    if installing.is_err() {
        return Outcome::passed(format!("skipped, Rust {VERSION} cannot be installed"));
    }
    let packages = PACKAGES.iter().flat_map(|package| ["--package", package]);
    let checked = Outcome::of(with_toolchain(VERSION).args(["check", "--all-features"]).args(packages));
    checked.with_note(format!("Rust {VERSION}"))
}
