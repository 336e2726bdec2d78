//! A limit that is changed while its budget is in use.

use std::time::Duration;

use ratelimit_runtime::LimitSpec;

use super::{Budget, admitted, denied, lives::every_algorithm, on_every_server, spec};

#[test]
fn a_change_keeps_what_has_been_used() {
    on_every_server(|connection| {
        for before in every_algorithm(4, Duration::from_secs(60)) {
            for after in every_algorithm(6, Duration::from_secs(60)) {
                let mut budget = Budget::new(connection, &format!("{before} {after}"));
                budget.now = 1_000_000_000;
                budget.charge(before, 3);
                let used = budget.look(after).used;
                assert_eq!(used, 3, "{before} to {after}");
                assert!(denied(&budget.charge(after, 4)).is_some(), "{before} to {after}");
                let (remaining, _) = admitted(&budget.charge(after, 3)).unwrap();
                assert_eq!(remaining, 0, "{before} to {after}");
                let wait = denied(&budget.charge(after, 1)).unwrap();
                assert!(wait <= Duration::from_secs(61), "{before} to {after}: {wait:?}");
                budget.now += u64::try_from(wait.as_micros()).unwrap();
                assert!(admitted(&budget.charge(after, 1)).is_some(), "{before} to {after}");
            }
        }
    });
}

/// How long all that is in use counts.
fn counts_until(budget: &mut Budget<'_>, spec: LimitSpec) -> u64 {
    let wait = denied(&budget.charge(spec, spec.max())).unwrap();
    budget.now + u64::try_from(wait.as_micros()).unwrap()
}

#[test]
fn a_charge_counts_by_the_buckets_that_its_limit_has_then() {
    // Buckets that end after 30 and 60 ms, after each one, after 6, 12, 18, and after 8.6, 17.1, 25.7 ...
    let [halves, sixtieths, tenths, sevenths] =
        [2, 60, 10, 7].map(|buckets| spec("9/60ms").with_buckets(buckets));
    let cases = [
        // A later end than that of the newest charge; also if something was given back meanwhile.
        (vec![(10_200, sixtieths), (10_600, halves)], 90_000),
        // An earlier one: it counts as long as the newest.
        (vec![(10_200, halves), (10_600, sixtieths)], 90_000),
        (vec![(10_200, halves), (10_600, sixtieths), (30_100, sixtieths)], 91_000),
        // The newest is of another limit, and ends in the middle of a bucket.
        (vec![(9_000, sevenths), (10_000, tenths), (11_000, tenths)], 77_143),
        (vec![(9_000, sevenths), (10_000, tenths), (16_000, tenths)], 78_000),
        // What was charged before that is left as it is.
        (vec![(10_000, halves), (40_000, halves), (60_200, sixtieths), (60_600, halves)], 150_000),
    ];
    on_every_server(|connection| {
        for (number, (charges, until)) in cases.iter().enumerate() {
            for gives_back in [false, true] {
                let mut budget = Budget::new(connection, &format!("buckets {number} {gives_back}"));
                let mut last = None;
                for (now, spec) in charges {
                    budget.now = *now;
                    if let Some(receipt) = last.filter(|_| gives_back) {
                        budget.refund(*spec, 1, receipt);
                    }
                    last = admitted(&budget.charge(*spec, 2)).map(|(_, receipt)| receipt);
                }
                let by = charges[0].1;
                assert_eq!(counts_until(&mut budget, by), *until, "{charges:?}, {gives_back}");
            }
        }
    });
}

#[test]
fn what_is_adopted_counts_for_as_long_as_the_last_limit_said() {
    on_every_server(|connection| {
        let mut budget = Budget::new(connection, "adopted");
        budget.charge(spec("9/60ms algorithm=sliding_log"), 1);
        budget.now = 1_000;
        budget.charge(spec("9/400ms algorithm=sliding_log"), 1);
        budget.now = 100_000;
        assert_eq!(budget.look(spec("9/400ms algorithm=fixed_window")).used, 2);
    });
}
