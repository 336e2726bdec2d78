//! Runs `vectors/local.toml`: what limits do, as numbers, whatever decides inside.

use std::time::Duration;

use ratelimit_runtime::{KeyedLimiter, LimitSpec, Limiter, ManualClock, RateLimited};
use toml::{Table, Value};

struct Case {
    name: String,
    spec: LimitSpec,
    steps: Vec<Step>,
}

struct Step {
    at: Duration,
    cost: u32,
    times: usize,
    /// `None` where the bound leaves it open.
    allow: Option<bool>,
    remaining: Option<u32>,
    retry: Option<Retry>,
}

#[derive(Debug, PartialEq)]
enum Retry {
    Never,
    After(Duration),
}

#[test]
fn every_case_holds_for_a_limiter_without_keys() {
    run(|spec, clock| {
        let limiter = Limiter::with_clock(spec, clock).unwrap();
        move |cost| limiter.try_acquire_n(cost).map(|permit| permit.remaining())
    });
}

#[test]
fn every_case_holds_for_each_key() {
    run(|spec, clock| {
        let limiter = KeyedLimiter::with_clock(spec, clock).unwrap();
        move |cost| {
            let [first, second] =
                ["one", "two"].map(|key| limiter.try_acquire_n(key, cost).map(|permit| permit.remaining()));
            assert_eq!(first.is_ok(), second.is_ok(), "two keys that are used alike differ");
            first
        }
    });
}

/// Runs each case on what `make` makes of its limit: a function from a call's cost to what remains, or the denial.
fn run<Call>(make: impl Fn(LimitSpec, ManualClock) -> Call)
where
    Call: FnMut(u32) -> Result<u32, RateLimited>,
{
    let cases = cases();
    assert!(!cases.is_empty());
    let mut failures = Vec::new();
    for case in &cases {
        let clock = ManualClock::new();
        let mut call = make(case.spec, clock.clone());
        for (number, step) in (1..).zip(&case.steps) {
            clock.set(step.at);
            for _ in 0..step.times {
                if let Err(failure) = step.check(call(step.cost)) {
                    failures.push(format!("{}: step {number}: {failure}", case.name));
                }
            }
        }
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

impl Step {
    fn check(&self, answer: Result<u32, RateLimited>) -> Result<(), String> {
        if self.allow.is_some_and(|allow| allow != answer.is_ok()) {
            return Err(format!("expected allow = {:?}, got {answer:?}", self.allow));
        }
        match answer {
            Ok(remaining) => expect("remaining", self.remaining.as_ref(), &remaining),
            Err(limited) => {
                let retry = limited.retry_after().map_or(Retry::Never, Retry::After);
                expect("retry", self.retry.as_ref(), &retry)
            }
        }
    }
}

fn expect<T: PartialEq + std::fmt::Debug>(what: &str, expected: Option<&T>, got: &T) -> Result<(), String> {
    match expected {
        Some(expected) if expected != got => Err(format!("expected {what} = {expected:?}, got {got:?}")),
        _ => Ok(()),
    }
}

fn cases() -> Vec<Case> {
    let file: Table = include_str!("vectors/local.toml").parse().unwrap();
    file["case"].as_array().unwrap().iter().map(read_case).collect()
}

fn read_case(case: &Value) -> Case {
    let name = text(&case["name"]).to_owned();
    let spec = text(&case["spec"]).parse().unwrap_or_else(|error| panic!("{name}: {error}"));
    let steps =
        case["steps"].as_array().unwrap().iter().map(|step| read_step(step.as_table().unwrap())).collect();
    Case { name, spec, steps }
}

fn read_step(step: &Table) -> Step {
    for field in step.keys() {
        assert!(
            ["at", "cost", "times", "allow", "remaining", "retry"].contains(&field.as_str()),
            "unknown `{field}`"
        );
    }
    let number =
        |field| step.get(field).map(|value: &Value| u32::try_from(value.as_integer().unwrap()).unwrap());
    Step {
        at: duration(text(&step["at"])),
        cost: number("cost").unwrap_or(1),
        times: number("times").unwrap_or(1) as usize,
        allow: step.get("allow").map(|allow| allow.as_bool().unwrap()),
        remaining: number("remaining"),
        retry: step.get("retry").map(|retry| match text(retry) {
            "never" => Retry::Never,
            time => Retry::After(duration(time)),
        }),
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn duration(text: &str) -> Duration {
    ratelimit_spec::parse_duration(text).unwrap()
}
