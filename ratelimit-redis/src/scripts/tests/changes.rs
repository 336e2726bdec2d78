//! A limit that is changed while its budget is in use.

use std::time::Duration;

use ratelimit_runtime::{Algorithm, KeyedLimiter, LimitSpec, ManualClock};

use super::{
    Budget, Terms, Verb, admitted, denied, lives::every_algorithm, on_every_server, order, spec,
    together::ask,
};

/// From 1000 s on, with a budget for each two limits of so many calls in such a time, whatever their algorithms.
fn with_every_two(
    before: (u32, Duration),
    after: (u32, Duration),
    test: impl Fn(&mut Budget<'_>, LimitSpec, LimitSpec),
) {
    on_every_server(|connection| {
        for before in every_algorithm(before.0, before.1) {
            for after in every_algorithm(after.0, after.1) {
                let mut budget = Budget::new(connection, &format!("{before} {after}"));
                budget.now = 1_000_000_000;
                test(&mut budget, before, after);
            }
        }
    });
}

#[test]
fn a_change_keeps_what_has_been_used() {
    with_every_two((4, Duration::from_secs(60)), (6, Duration::from_secs(60)), |budget, before, after| {
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
        // An earlier one: the newest counts no longer than that either.
        (vec![(10_200, halves), (10_600, sixtieths)], 71_000),
        (vec![(10_200, halves), (10_600, sixtieths), (30_100, sixtieths)], 91_000),
        (vec![(10_200, sixtieths), (10_600, halves), (10_900, tenths), (11_200, sixtieths)], 72_000),
        (vec![(9_000, sevenths), (10_000, tenths), (11_000, tenths)], 72_000),
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
                let by = charges.last().unwrap().1;
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

/// 9 of 10 in a second, and 700 ms later another limit: by the store, and by this process.
fn change_after_700_ms(connection: &mut redis::Connection, before: LimitSpec, after: LimitSpec) {
    let clock = ManualClock::new();
    let limiter = KeyedLimiter::with_clock(before, clock.clone()).unwrap();
    let mut budget = Budget::ahead_of_real_time(connection, &format!("{before} {after} later"));
    _ = limiter.try_acquire_n(&(), 9).unwrap();
    budget.charge(before, 9);
    clock.advance(Duration::from_millis(700));
    budget.pass(700);

    limiter.set_spec(after).unwrap();
    assert_eq!(budget.look(after).used, limiter.used(&()), "{before} to {after}");
    for later in [0, 100, 5_000] {
        clock.advance(Duration::from_millis(later.into()));
        budget.pass(later);
        let here = limiter.try_acquire_n(&(), 10).map_err(|denied| denied.retry_after().unwrap());
        let there = denied(&budget.charge(after, 10));
        match (here, there) {
            (Ok(_), None) => {}
            // Buckets end elsewhere, and this test takes some time itself.
            (Err(here), Some(there)) => {
                let apart = here.abs_diff(there);
                assert!(apart <= Duration::from_secs(2), "{before} to {after}: {here:?}, {there:?}");
            }
            (here, there) => panic!("{before} to {after}: {here:?} here, {there:?} there"),
        }
    }
}

#[test]
fn what_is_in_use_when_a_limit_is_changed_goes_over_as_in_process() {
    on_every_server(|connection| {
        for before in every_algorithm(10, Duration::from_secs(1)) {
            for after in every_algorithm(10, Duration::from_secs(60)) {
                change_after_700_ms(connection, before, after);
            }
        }
    });
}

#[test]
fn what_was_used_of_a_limit_is_not_forgotten_when_its_window_becomes_longer() {
    on_every_server(|connection| {
        for before in every_algorithm(10, Duration::from_millis(500)) {
            for after in every_algorithm(10, Duration::from_secs(60)) {
                let mut budget = Budget::ahead_of_real_time(connection, &format!("{before} {after} longer"));
                budget.charge(before, 10);
                // Nothing but denials comes: they say how long it is, and it is as long.
                let wait = denied(&budget.charge(after, 10)).unwrap();
                assert!(wait > Duration::from_secs(20), "{before} to {after}: {wait:?}");
                budget.pass(3_000);
                let left = denied(&budget.charge(after, 10)).unwrap();
                let passed = wait.checked_sub(left).unwrap();
                let about = Duration::from_secs(3)..Duration::from_secs(8);
                assert!(about.contains(&passed), "{before} to {after}: {wait:?}, {left:?} 3 s later");
            }
        }
    });
}

/// Which script decides.
fn script(spec: LimitSpec) -> u8 {
    match spec.algorithm() {
        Algorithm::FixedWindow => 0,
        Algorithm::SlidingWindow | Algorithm::SlidingLog => 1,
        Algorithm::TokenBucket | Algorithm::LeakyBucket | Algorithm::Gcra => 2,
    }
}

#[test]
fn a_wait_that_is_told_after_a_change_is_true_whatever_is_denied_meanwhile() {
    let limits = || {
        let windows = [Duration::from_secs(1), Duration::from_secs(3600)];
        windows.into_iter().flat_map(|window| every_algorithm(10, window).chain(every_algorithm(20, window)))
    };
    on_every_server(|connection| {
        for before in limits() {
            for after in limits() {
                let mut budget = Budget::new(connection, &format!("{before} {after} told"));
                budget.now = 1_000_000_000;
                budget.charge(before, before.max());
                budget.now += 10_000;
                let Some(wait) = denied(&budget.charge(after, 10)) else { continue };
                let wait = u64::try_from(wait.as_micros()).unwrap();
                let until = budget.now + wait;
                let is_denied_before = [wait - wait / 3, wait / 2, 1].into_iter().all(|left| {
                    budget.now = until - left;
                    denied(&budget.charge(after, 10)).is_some()
                });
                budget.now = until;
                let is_admitted_then = !is_denied_before || admitted(&budget.charge(after, 10)).is_some();
                assert!(is_admitted_then, "{before} to {after}, after {wait} us");
                // By windows and charges, what another algorithm would have freed earlier is free then.
                let is_exact = script(after) == 2 || script(before) == script(after);
                assert!(is_denied_before || !is_exact, "{before} to {after}, before {wait} us");
            }
        }
    });
}

#[test]
fn what_is_given_back_after_a_change_is_never_another_callers() {
    // A charge that was to count from 6 s on counts from 1 s on; another one counts from 6 s on.
    let [tenths, sixtieths] = [10, 60].map(|buckets| spec("100/1m").with_buckets(buckets));
    on_every_server(|connection| {
        let mut budget = Budget::new(connection, "another's");
        budget.now = 100_000;
        let (_, receipt) = admitted(&budget.charge(tenths, 50)).unwrap();
        budget.now = 5_500_000;
        budget.charge(sixtieths, 50);
        budget.now = 7_000_000;
        budget.refund(sixtieths, 50, receipt);
        budget.now = 61_100_000;
        assert_eq!(budget.look(sixtieths).used, 50);
    });
    // A charge most of which has flowed out.
    let [flow, window] = [spec("10/10s algorithm=gcra"), spec("10/1m algorithm=fixed_window")];
    on_every_server(|connection| {
        let mut budget = Budget::new(connection, "flowed");
        let (_, receipt) = admitted(&budget.charge(flow, 10)).unwrap();
        budget.now = 9_000_000;
        budget.charge(window, 9);
        budget.refund(window, 10, receipt);
        assert_eq!(budget.look(window).used, 10);
    });
    // A charge that has aged.
    let [whole, halves] = [spec("20/1m").with_buckets(1), spec("20/30s").with_buckets(2)];
    on_every_server(|connection| {
        let mut budget = Budget::new(connection, "aged");
        let (_, receipt) = admitted(&budget.charge(whole, 10)).unwrap();
        budget.now = 45_000_000;
        budget.charge(halves, 18);
        budget.now = 46_500_000;
        budget.refund(halves, 10, receipt);
        assert_eq!(budget.look(halves).used, 18);
    });
}

#[test]
fn denials_by_the_limit_before_do_not_hold_up_the_one_of_now() {
    on_every_server(|connection| {
        for before in every_algorithm(100, Duration::from_secs(60)) {
            for after in every_algorithm(100, Duration::from_secs(60)).filter(|after| script(*after) == 2) {
                let mut budget = Budget::ahead_of_real_time(connection, &format!("{before} {after} held up"));
                budget.charge(after, 100);
                let mut admissions = 0;
                for _ in 0..60 {
                    budget.pass(500);
                    admissions += u32::from(admitted(&budget.charge(after, 1)).is_some());
                    // Denied: what has flowed is taken.
                    admissions += u32::from(admitted(&budget.charge(before, 1)).is_some());
                }
                assert!((15..=60).contains(&admissions), "{before} to {after}: {admissions} in 30 s");
            }
        }
    });
}

#[test]
fn a_charge_of_a_longer_window_holds_up_a_shorter_one_no_longer_than_its_own() {
    let day = Duration::from_secs(24 * 3600);
    with_every_two((1000, day), (10, Duration::from_secs(1)), |budget, before, after| {
        let clock = ManualClock::new();
        let limiter = KeyedLimiter::with_clock(before, clock.clone()).unwrap();
        _ = limiter.try_acquire(&()).unwrap();
        budget.charge(before, 1);
        limiter.set_spec(after).unwrap();
        let (mut here, mut there) = (0_u32, 0_u32);
        for _ in 0..40 {
            clock.advance(Duration::from_millis(100));
            budget.now += 100_000;
            here += u32::from(limiter.try_acquire(&()).is_ok());
            there += u32::from(admitted(&budget.charge(after, 1)).is_some());
        }
        assert!(here.abs_diff(there) <= 4, "{before} to {after}: {here} here, {there} there");
    });
}

#[test]
fn what_is_given_back_changes_no_limit() {
    with_every_two((10, Duration::from_secs(60)), (10, Duration::from_secs(1)), |budget, long, short| {
        budget.charge(long, 5);
        budget.now += 5_500_000;
        let before = (budget.look(long).used, denied(&budget.charge(long, 10)).unwrap());
        let (_, receipt) = admitted(&budget.charge(long, 1)).unwrap();
        let charged = (budget.look(long).used, denied(&budget.charge(long, 10)).unwrap());
        // By a process that knows of another limit.
        budget.refund(short, 1, receipt);
        let after = (budget.look(long).used, denied(&budget.charge(long, 10)).unwrap());
        if long.algorithm() == short.algorithm() {
            assert_eq!(after, before, "{short} of {long}");
        } else {
            assert!(after == before || after == charged, "{short} of {long}: {after:?}");
        }
    });
}

#[test]
fn a_permit_of_another_algorithm_leaves_the_budget_to_the_one_that_it_has_now() {
    with_every_two((10, Duration::from_secs(1)), (10, Duration::from_secs(60)), |budget, before, after| {
        let (_, receipt) = admitted(&budget.charge(before, 1)).unwrap();
        budget.charge(after, 3);
        budget.refund(before, 1, receipt);
        budget.now += 2_000_000;
        let used = budget.look(after).used;
        assert!((3..=4).contains(&used), "{before} to {after}: {used}");
    });
}

#[test]
fn what_was_charged_before_a_reset_takes_nothing_from_what_came_after_it() {
    on_every_server(|connection| {
        for spec in every_algorithm(10, Duration::from_secs(60)) {
            for is_undo in [false, true] {
                let mut budget = Budget::new(connection, &format!("reset {spec}"));
                budget.now = 1_000_000_000;
                let (_, receipt) = admitted(&budget.charge(spec, 5)).unwrap();
                budget.now += 1;
                budget.reset(spec);
                budget.charge(spec, 10);
                budget.now += 1;
                let give = if is_undo { Budget::undo } else { Budget::refund };
                give(&mut budget, spec, 5, receipt);
                assert_eq!(budget.look(spec).used, 10, "{spec}");
                budget.reset(spec);
            }
        }
    });
}

#[test]
fn what_was_charged_before_a_reset_takes_nothing_after_a_change_either() {
    with_every_two((10, Duration::from_secs(60)), (10, Duration::from_secs(60)), |budget, before, after| {
        let (_, receipt) = admitted(&budget.charge(before, 5)).unwrap();
        budget.reset(before);
        budget.now += 1;
        budget.charge(before, 4);
        budget.now += 1;
        budget.charge(after, 6);
        budget.refund(after, 5, receipt);
        assert_eq!(budget.look(after).used, 10, "{before} to {after}");
    });
}

/// As while one version of a service replaces another.
#[test]
fn processes_of_two_limits_that_ask_in_turn_lock_nobody_out() {
    with_every_two((10, Duration::from_secs(1)), (10, Duration::from_secs(2)), |budget, one, other| {
        budget.charge(one, 10);
        // Denied for a while, by both, and then admitted as often as it may be.
        let mut admissions = 0;
        for turn in 0..1200 {
            budget.now += 10_000;
            let spec = if turn % 2 == 0 { one } else { other };
            admissions += u32::from(admitted(&budget.charge(spec, 1)).is_some());
        }
        assert!((30..=130).contains(&admissions), "{one}, {other}: {admissions} in 12 s");
    });
}

#[test]
fn what_is_asked_at_once_of_a_changed_limit_is_answered_as_one_after_the_other() {
    let [long, short] = [60, 10].map(Duration::from_secs);
    let give = |made| Verb::Give { given: made, made };
    on_every_server(|connection| {
        for before in every_algorithm(10, long) {
            for after in every_algorithm(10, short) {
                let orders = [
                    vec![(give(1_000_000), 1), (Verb::Charge, 1)],
                    vec![(Verb::Look, 1), (give(1_000_000), 1), (Verb::Look, 1)],
                    vec![(Verb::Charge, 10), (give(1_000_000), 2), (Verb::Charge, 10)],
                    vec![(Verb::Charge, 1), (give(3_000_000), 1), (Verb::Look, 1)],
                ];
                for (number, orders) in orders.iter().enumerate() {
                    let answers = [false, true].map(|at_once| {
                        let name = format!("{before} {after} {number} {at_once}");
                        let mut budget = Budget::new(connection, &name);
                        budget.now = 1_000_000;
                        budget.charge(before, 9);
                        budget.now = 3_000_000;
                        let call = |cost| Terms::of(&super::call(after).with_cost(cost));
                        let orders: Vec<_> = orders
                            .iter()
                            .map(|(verb, cost)| order(budget.key.clone(), *verb, call(*cost), 0))
                            .collect();
                        ask(budget.connection, after.algorithm(), &orders, 3_000_000, at_once)
                    });
                    assert_eq!(answers[0], answers[1], "{before} to {after}: {orders:?}");
                }
            }
        }
    });
}
