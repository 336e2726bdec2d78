use proptest::prelude::*;
use ratelimit_spec::{Algorithm, LimitSpec};

use crate::algorithm::claims::{Budget, MS, SECOND};

const ALGORITHMS: [&str; 6] =
    ["sliding_window", "fixed_window", "sliding_log", "token_bucket", "leaky_bucket", "gcra"];

fn limit(rate: &str, algorithm: &str) -> String {
    format!("{rate} algorithm={algorithm}")
}

fn pairs() -> impl Iterator<Item = (&'static str, &'static str)> {
    ALGORITHMS.into_iter().flat_map(|from| ALGORITHMS.into_iter().map(move |to| (from, to)))
}

#[test]
fn a_change_of_algorithm_carries_over_what_is_used() {
    for (from, to) in pairs() {
        let mut budget = Budget::new(&limit("10/1s", from));
        assert_eq!(budget.ask(SECOND, 7), Ok(3));
        budget.change(SECOND, &limit("10/1s", to));
        assert_eq!(budget.used(SECOND), 7, "{from} to {to}");
        assert!(budget.ask(SECOND, 4).is_err(), "{from} to {to}");
        assert_eq!(budget.ask(SECOND, 3), Ok(0), "{from} to {to}");
        assert_eq!(budget.used(4 * SECOND), 0, "{from} to {to}");
    }
}

#[test]
fn raising_the_limit_never_causes_a_denial() {
    for (from, to) in pairs() {
        for cost in 1..=10 {
            let mut budget = Budget::new(&limit("10/1s", from));
            assert_eq!(budget.ask(SECOND, 10 - cost), Ok(cost));
            budget.change(SECOND, &limit("11/1s", to));
            assert!(budget.ask(SECOND, cost).is_ok(), "{from} to {to}, cost {cost}");
        }
    }
}

#[test]
fn lowering_the_limit_below_what_is_used_denies_until_it_has_aged() {
    for (from, to) in pairs() {
        let mut budget = Budget::new(&limit("10/1s", from));
        assert_eq!(budget.ask(SECOND, 10), Ok(0));
        budget.change(SECOND, &limit("5/1s", to));
        let Err(Some(ready_at)) = budget.ask(SECOND, 1) else { panic!("{from} to {to}") };
        assert!(budget.ask(ready_at - 1, 1).is_err());
        assert!(budget.ask(ready_at, 1).is_ok());
    }
}

#[test]
fn what_had_aged_before_a_change_stays_so() {
    for (from, to) in pairs() {
        let mut budget = Budget::new(&limit("10/1s", from));
        let charged = budget.charge(SECOND, 10);
        budget.change(3 * SECOND, &limit("10/1h", to));
        assert_eq!(budget.used(3 * SECOND), 0, "{from} to {to}");
        assert_eq!(budget.ask(3 * SECOND, 5), Ok(5), "{from} to {to}");
        assert_eq!(budget.refund(3 * SECOND, charged, 10), 0, "{from} to {to}");
    }
}

#[test]
fn a_refund_finds_its_charge_after_the_algorithm_has_changed() {
    let windows = ["sliding_window", "fixed_window", "sliding_log"];
    for from in windows {
        for to in ALGORITHMS {
            let mut budget = Budget::new(&limit("10/1s", from));
            let charged = budget.charge(SECOND, 4);
            assert_eq!(budget.ask(1300 * MS, 6), Ok(0));
            budget.change(1400 * MS, &limit("10/1s", to));
            assert_eq!(budget.refund(1400 * MS, charged, 4), 4, "{from} to {to}");
            assert_eq!(budget.used(1400 * MS), 6, "{from} to {to}");
        }
    }
    let buckets = ["token_bucket", "leaky_bucket", "gcra"];
    for (from, to) in pairs().filter(|(from, to)| buckets.contains(from) && buckets.contains(to)) {
        let mut budget = Budget::new(&limit("10/1s", from));
        let charged = budget.charge(SECOND, 4);
        assert_eq!(budget.ask(SECOND, 6), Ok(0));
        budget.change(1200 * MS, &limit("10/2s", to));
        assert_eq!(budget.refund(1400 * MS, charged, 4), 1, "{from} to {to}");
        assert_eq!(budget.used(1400 * MS), 6, "{from} to {to}");
    }
}

#[test]
fn a_charge_that_flows_is_not_given_back_by_an_algorithm_of_windows() {
    let mut budget = Budget::new("10/1s algorithm=gcra");
    let charged = budget.charge(0, 10);
    budget.change(500 * MS, "10/1s algorithm=sliding_log");
    assert_eq!(budget.refund(500 * MS, charged, 10), 0);
    assert_eq!(budget.used(500 * MS), 5);
}

#[test]
fn every_charge_keeps_its_instant_among_algorithms_of_charges() {
    let mut budget = Budget::new("10/1s algorithm=sliding_log");
    assert_eq!(budget.ask(110 * MS, 4), Ok(6));
    assert_eq!(budget.ask(390 * MS, 6), Ok(0));
    budget.change(500 * MS, "10/1s buckets=10");
    assert_eq!(budget.ask(500 * MS, 4), Err(Some(1200 * MS)));
    assert_eq!(budget.ask(500 * MS, 5), Err(Some(1400 * MS)));
    budget.change(500 * MS, "10/1s algorithm=sliding_log");
    assert_eq!(budget.ask(500 * MS, 4), Err(Some(1200 * MS - 1)));
    budget.change(500 * MS, "10/1s algorithm=fixed_window");
    assert_eq!(budget.ask(500 * MS, 1), Err(Some(1200 * MS - 1)));
}

#[test]
fn part_of_a_permit_is_carried_over_as_it_is() {
    let mut budget = Budget::new("10/1s algorithm=token_bucket");
    assert_eq!(budget.ask(0, 10), Ok(0));
    budget.change(50 * MS, "10/1s algorithm=gcra");
    assert_eq!(budget.ask(50 * MS, 1), Err(Some(100 * MS)));
    budget.change(60 * MS, "10/1s algorithm=leaky_bucket");
    assert_eq!(budget.ask(60 * MS, 1), Err(Some(100 * MS)));
    budget.change(70 * MS, "5/1s algorithm=token_bucket burst=10");
    assert_eq!(budget.ask(70 * MS, 1), Err(Some(130 * MS)));
}

#[test]
fn a_bucket_that_was_cold_is_no_colder_after_a_change() {
    let mut budget = Budget::new("10/1s algorithm=token_bucket initial=0");
    budget.change(300 * MS, "10/1s algorithm=token_bucket initial=0");
    assert_eq!(budget.ask(300 * MS, 3), Ok(0));
    let mut budget = Budget::new("10/1s algorithm=gcra");
    budget.change(300 * MS, "10/1s algorithm=token_bucket initial=0");
    assert_eq!(budget.ask(300 * MS, 10), Ok(0));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    /// Whatever is changed to what, nothing fails, and a promise holds.
    #[test]
    fn every_change_keeps_every_promise(
        limits in prop::collection::vec((0..6_usize, 0..=10_u32, 1..=3_000_000_000_u64, 1..=12_u32), 1..12),
        gaps in prop::collection::vec((0..=2_000_000_000_u64, 0..=3_u32, any::<bool>()), 40),
    ) {
        let spec = |&(algorithm, max, window, burst): &(usize, u32, u64, u32)| {
            let spec = LimitSpec::new(max, std::time::Duration::from_nanos(window.max(20)));
            let algorithm = Algorithm::ALL[algorithm];
            let spec = spec.with_algorithm(algorithm);
            if algorithm.takes_burst() { spec.with_burst(burst) } else { spec }.to_string()
        };
        let mut budget = Budget::new(&spec(&limits[0]));
        let (mut now, mut charges) = (0, Vec::new());
        for (number, &(gap, cost, refunds)) in gaps.iter().enumerate() {
            now += gap;
            match budget.ask(now, cost) {
                Ok(_) if cost > 0 => charges.push((now, cost)),
                Err(Some(ready_at)) => {
                    let mut copy = budget.clone();
                    prop_assert_eq!(copy.ask(ready_at - 1, cost), Err(Some(ready_at)));
                    prop_assert!(copy.ask(ready_at, cost).is_ok());
                }
                _ => {}
            }
            let used = budget.used(now);
            if refunds && let Some((at, cost)) = charges.pop() {
                let given_back = budget.refund(now, at, cost);
                prop_assert!(given_back <= cost);
                prop_assert!(budget.used(now) + given_back >= used);
            }
            if number % 4 == 3 {
                let used = budget.used(now);
                budget.change(now, &spec(&limits[number / 4 % limits.len()]));
                prop_assert!(budget.used(now) <= used);
            }
            // A rate of 0 never clears.
            let clear_at = budget.clear_at(now);
            prop_assert!(clear_at == u64::MAX || budget.used(clear_at) == 0);
        }
    }
}
