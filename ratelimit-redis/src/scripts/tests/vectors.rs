//! What limits do, as numbers: the same ones as in process.

use std::time::Duration;

use ratelimit_runtime::StoreVerdict;
use toml::{Table, Value};

use super::{Budget, on_every_server, spec};

#[test]
fn every_case_holds_in_a_store() {
    let file: Table = include_str!("../../../../ratelimit-runtime/tests/vectors/local.toml").parse().unwrap();
    on_every_server(|connection| {
        for (number, case) in file["case"].as_array().unwrap().iter().enumerate() {
            let name = text(&case["name"]);
            let spec = spec(text(&case["spec"]));
            let mut budget = Budget::new(connection, &number.to_string());
            for step in case["steps"].as_array().unwrap() {
                run(&mut budget, spec, step.as_table().unwrap(), name);
            }
        }
    });
}

fn run(budget: &mut Budget<'_>, spec: ratelimit_runtime::LimitSpec, step: &Table, name: &str) {
    let number =
        |field: &str| step.get(field).map(|value| u32::try_from(value.as_integer().unwrap()).unwrap());
    let at = duration(text(&step["at"]));
    // The store counts whole microseconds; who asks within one waits for the same instant.
    let within = Duration::from_nanos(u64::from(at.subsec_nanos() % 1000));
    budget.now = u64::try_from(at.as_micros()).unwrap();
    let cost = number("cost").unwrap_or(1);
    for _ in 0..number("times").unwrap_or(1) {
        let expected_retry = step.get("retry").map(text);
        if cost > spec.burst() {
            // Refused before anybody asks the store.
            assert_eq!(expected_retry.unwrap_or("never"), "never", "{name}");
            continue;
        }
        let verdict = budget.charge(spec, cost);
        if let Some(allow) = step.get("allow") {
            let is_admitted = matches!(verdict, StoreVerdict::Admitted { .. });
            assert_eq!(is_admitted, allow.as_bool().unwrap(), "{name}: {step:?}");
        }
        match verdict {
            StoreVerdict::Admitted { remaining, .. } => {
                assert_eq!(number("remaining").unwrap_or(remaining), remaining, "{name}: {step:?}");
            }
            StoreVerdict::Denied { retry_after, .. } => {
                let expected = expected_retry.map_or(retry_after, |retry| duration(retry) + within);
                assert_eq!(retry_after, expected, "{name}: {step:?}");
            }
        }
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn duration(text: &str) -> Duration {
    ratelimit_spec::parse_duration(text).unwrap()
}
