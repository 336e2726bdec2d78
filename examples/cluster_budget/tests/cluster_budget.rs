//! The example's own claims.

#[path = "../../../ratelimit-redis/tests/support/mod.rs"]
#[expect(dead_code, reason = "the tests of the store use the rest")]
mod support;

use std::process::Command;

use support::{Engine, Server, free_port};

fn run(server: &str) -> String {
    let mut program = Command::new(env!("CARGO_BIN_EXE_cluster_budget"));
    let output = program.args(["--server", server, "--processes", "3"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn several_processes_are_admitted_as_often_as_one() {
    for engine in Engine::all() {
        let server = Server::start(engine);
        let said = run(&server.url());
        assert!(said.ends_with("together:  200 of 600 calls admitted, by a limit of 200\n"), "{said}");
        assert_eq!(said.matches("decided by the server, 0 store failures").count(), 3, "{said}");
    }
}

#[test]
fn without_a_server_each_process_has_its_share() {
    let said = run(&format!("redis://127.0.0.1:{}", free_port()));
    assert_eq!(
        said.matches(" 66 of 200 calls admitted, decided by its share, 200 store failures").count(),
        3
    );
    assert!(said.ends_with("together:  198 of 600 calls admitted, by a limit of 200\n"), "{said}");
}
