//! `cargo xtask test`: the steps, in the order in which a mistake is found soonest.

use std::process::ExitCode;

use crate::report::{Outcome, Report};
use crate::workspace::{self, cargo};
use crate::{consumer, dependencies, features, interleavings, miri, oldest, quickstart, servers, soak};

pub(crate) fn everything() -> ExitCode {
    let mut report = Report::new();

    report.step("format", || Outcome::of(&mut cargo(["fmt", "--all", "--check"])));
    report.step("dependencies of the runtime", dependencies::stay_few);
    report.step("features of the benches", dependencies::are_measured_as_users_get_them);
    report.step("clippy, everything on", || {
        Outcome::of(
            cargo(["clippy", "--workspace", "--all-targets", "--all-features"])
                .args(["--", "-D", "warnings"]),
        )
    });
    // One package at a time: a workspace build unifies features, and would test what no user gets.
    for package in workspace::packages() {
        report.step(format!("clippy, {}", package.name), || features::lint_every_choice(&package));
    }
    report.step("the oldest compiler", oldest::compiles_what_users_get);
    report.step("docs, everything on", || document(&["--workspace", "--all-features"]));
    report.step("docs, default features", || document(&["--package", "ratelimit-runtime"]));
    report.step("servers for the tests", servers::are_here);
    report.step("tests, everything on", || {
        let mut command = cargo(["test", "--workspace", "--all-features", "--no-fail-fast"]);
        Outcome::of_tests(command.env(servers::NEEDED, "1"))
    });
    report.step("a million keys on a server", || {
        // Alone, since it takes the whole machine.
        let mut command = cargo(["test", "--workspace", "--all-features", "--test", "store"]);
        Outcome::of_tests(command.args(["a_million_keys", "--", "--ignored"]).env(servers::NEEDED, "1"))
    });
    report.step("tests, runtime without features", || {
        // Not those in the docs, which show what the default features give.
        let mut command = cargo(["test", "--package", "ratelimit-runtime", "--no-default-features"]);
        Outcome::of_tests(command.args(["--lib", "--tests", "--no-fail-fast"]))
    });
    report.step("tests, every interleaving", interleavings::hold);
    report.step("tests, under miri", miri::finds_nothing);
    report.step("everything at once for two minutes", soak::holds_for_two_minutes);
    report.step("README's first example in a new crate", consumer::builds_and_runs);
    report.step("quickstart", quickstart::runs);

    report.finish()
}

fn document(choice: &[&str]) -> Outcome {
    Outcome::of(cargo(["doc", "--no-deps"]).args(choice).env("RUSTDOCFLAGS", "-D warnings"))
}
