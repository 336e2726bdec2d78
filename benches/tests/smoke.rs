//! The program runs, and prints what others read.

use std::process::Command;

use serde_json::Value;

fn run(arguments: &[&str]) -> String {
    let program = env!("CARGO_BIN_EXE_ratelimit-benches");
    let output = Command::new(program).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn every_case_of_a_run_has_figures_of_ours_and_of_peers_for_one_thread_and_two() {
    let choice = ["--quick", "--json", "--case", "denied", "--case", "two limits", "--case", "hot"];
    let report: Value = serde_json::from_str(&run(&choice)).unwrap();
    let rows = report["rows"].as_array().unwrap();
    assert!(rows.len() > 3, "{report}");
    for row in rows {
        let threads: Vec<u64> =
            row["runs"].as_array().unwrap().iter().map(|run| run["threads"].as_u64().unwrap()).collect();
        assert_eq!(threads, [1, 2]);
        let results = row["runs"][1]["results"].as_array().unwrap();
        assert_eq!(results[0]["name"], "ours");
        assert!(results.iter().all(|result| result["value"].as_f64().unwrap() > 0.0), "{row}");
    }
}

#[test]
fn the_table_in_markdown_has_a_cell_for_every_peer_and_case() {
    let text = run(&["--quick", "--markdown", "--case", "no key, denied"]);
    let rows: Vec<&str> = text.lines().filter(|line| line.starts_with('|')).collect();
    assert_eq!(rows.len(), 3, "{text}");
    let cells = |row: &str| row.matches('|').count();
    assert!(rows.iter().all(|row| cells(row) == cells(rows[0])), "{text}");
    assert!(rows[2].contains("0.50 / 0.50"), "{text}");
}
