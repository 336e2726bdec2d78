//! The example's own claims.

#[path = "../../../ratelimit-redis/tests/support/mod.rs"]
#[expect(dead_code, reason = "the tests of the store use the rest")]
mod support;

use std::process::Command;

use support::Engine;

/// What it prints: of each second, how many calls were let through by all together, and who has decided.
fn run(arguments: &[&str], path: &str) -> Vec<(u32, String)> {
    let mut program = Command::new(env!("CARGO_BIN_EXE_cluster_budget"));
    let output = program.args(arguments).env("PATH", path).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let said = String::from_utf8(output.stdout).unwrap();
    let rows = said.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        words.next()?.parse::<u32>().ok()?;
        Some((words.nth(3)?.parse().unwrap(), words.collect::<Vec<_>>().join(" ")))
    });
    let rows: Vec<_> = rows.collect();
    assert_eq!(rows.len(), 9, "{said}");
    rows
}

/// At most 300 in any second, so in three seconds no more than in the four that they may touch.
fn stays_within_the_limit(seconds: &[(u32, String)]) {
    let together: u32 = seconds.iter().map(|(together, _)| together).sum();
    assert!((300..=4 * 300).contains(&together), "{seconds:?}");
}

#[test]
fn the_server_decides_and_shares_do_while_it_is_down() {
    for engine in Engine::all() {
        let program = engine.program().unwrap();
        let seconds = run(&["--server", program.to_str().unwrap()], "");
        seconds.chunks(3).for_each(stays_within_the_limit);
        for (third, decided_by) in seconds.chunks(3).zip(["the server", "their shares", "the server"]) {
            assert!(third.iter().any(|(_, by)| by == decided_by), "{seconds:?}");
        }
    }
}

#[test]
fn without_a_server_on_the_machine_the_policy_is_shown() {
    // Each has never seen another process, and so the whole limit for its share.
    let seconds = run(&[], "");
    assert!(seconds.iter().all(|(_, by)| by == "their shares"), "{seconds:?}");
}
