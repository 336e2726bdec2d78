use proptest::prelude::*;

use crate::algorithm::{
    Charged,
    claims::{Budget, MS, SECOND, YEAR, check},
};

#[test]
fn refills_continuously() {
    let calls = [
        (0, 10, Ok(0)),
        (0, 1, Err(Some(100 * MS))),
        (100 * MS - 1, 1, Err(Some(100 * MS))),
        (100 * MS, 1, Ok(0)),
        (250 * MS, 1, Ok(0)),
        (250 * MS, 1, Err(Some(300 * MS))),
        (1300 * MS, 10, Ok(0)),
    ];
    check("10/1s algorithm=token_bucket", &calls);
}

#[test]
fn a_denial_forever_repeated_never_delays_the_refill() {
    let mut budget = Budget::new("3/1s algorithm=token_bucket");
    assert_eq!(budget.ask(0, 3), Ok(0));
    for now in (1..333_333_334).step_by(33_333) {
        assert_eq!(budget.ask(now, 1), Err(Some(333_333_334)));
    }
    assert_eq!(budget.ask(333_333_334, 1), Ok(0));
}

#[test]
fn a_rate_that_no_nanosecond_divides_never_drifts() {
    let mut budget = Budget::new("3/1s algorithm=token_bucket");
    assert_eq!(budget.ask(0, 3), Ok(0));
    for permit in 1..=3_000 {
        let due = (permit * SECOND).div_ceil(3);
        assert_eq!(budget.ask(due - 1, 1), Err(Some(due)));
        assert_eq!(budget.ask(due, 1), Ok(0));
    }
}

#[test]
fn more_than_one_permit_flows_in_a_nanosecond() {
    let calls =
        [(0, 10, Ok(0)), (0, 7, Err(Some(3))), (2, 7, Err(Some(3))), (3, 7, Ok(0)), (3, 3, Err(Some(4)))];
    check("5/2ns algorithm=token_bucket burst=10", &calls);
}

#[test]
fn holds_initial_when_the_limiter_is_made_and_refills_from_then() {
    let mut budget = Budget::born_at("10/1s algorithm=token_bucket initial=2", 7 * SECOND);
    assert_eq!(budget.ask(7 * SECOND, 0), Ok(2));
    assert_eq!(budget.ask(7100 * MS, 0), Ok(3));
    assert_eq!(budget.ask(7100 * MS, 4), Err(Some(7200 * MS)));
    assert_eq!(budget.ask(7200 * MS, 4), Ok(0));
    // Another budget of the limiter, first used only now.
    budget.state = budget.plan.fresh();
    assert_eq!(budget.ask(7500 * MS, 7), Ok(0));
    budget.state = budget.plan.fresh();
    assert_eq!(budget.ask(7 * SECOND + YEAR, 10), Ok(0));
}

#[test]
fn is_clear_when_it_is_as_one_that_nobody_has_used() {
    let mut budget = Budget::born_at("10/1s algorithm=token_bucket initial=0", 0);
    assert_eq!(budget.clear_at(300 * MS), 300 * MS);
    assert_eq!(budget.ask(300 * MS, 1), Ok(2));
    assert_eq!(budget.clear_at(300 * MS), 1100 * MS);
    assert_eq!(budget.used(1100 * MS - 1), 1);
    assert_eq!(budget.used(1100 * MS), 0);
    assert_eq!(budget.clear_at(1100 * MS), 1100 * MS);
}

#[test]
fn a_refund_gives_back_the_charge_less_what_has_refilled_since() {
    let mut budget = Budget::new("10/1s algorithm=token_bucket");
    let charged = budget.charge(0, 4);
    assert_eq!(budget.ask(0, 6), Ok(0));
    assert_eq!(budget.refund(250 * MS, charged, 4), 2);
    assert_eq!(budget.ask(250 * MS, 5), Err(Some(350 * MS)));
    assert_eq!(budget.ask(250 * MS, 4), Ok(0));
    assert_eq!(budget.ask(300 * MS, 1), Err(Some(350 * MS)));
}

#[test]
fn a_refund_of_what_has_refilled_gives_nothing_back() {
    let mut budget = Budget::new("10/1s algorithm=token_bucket");
    let charged = budget.charge(0, 4);
    assert_eq!(budget.ask(400 * MS, 10), Ok(0));
    assert_eq!(budget.refund(400 * MS, charged, 4), 0);
    assert_eq!(budget.used(400 * MS), 10);
}

#[test]
fn what_is_taken_back_leaves_no_trace() {
    for missing in [0, 3, 9] {
        let mut budget = Budget::new("10/1s algorithm=token_bucket");
        assert!(budget.ask(0, missing).is_ok());
        let untouched = budget.state.clone();
        for now in (0..50 * MS).step_by(997_331) {
            let charged = budget.plan.charge(&mut budget.state, now, 1, 10).unwrap();
            let later = now + 600_000;
            budget.plan.undo(&mut budget.state, later, charged.at, &charged.trace, 1);
        }
        for now in [50 * MS, 100 * MS, 100 * MS + 1] {
            let ready_at = |state| budget.plan.ready_at(state, now, 10, 10);
            assert_eq!(ready_at(&budget.state), ready_at(&untouched), "{missing} missing");
        }
    }
}

#[test]
fn calls_that_are_taken_back_in_turns_never_delay_the_refill() {
    let mut budget = Budget::new("10/1s algorithm=token_bucket");
    assert_eq!(budget.ask(0, 7), Ok(3));
    let mut charged = Vec::new();
    for now in (0..700 * MS).step_by(100_000) {
        charged.push(budget.plan.charge(&mut budget.state, now, 1, 10).unwrap());
        if charged.len() == 3 {
            let first = charged.remove(0);
            budget.plan.undo(&mut budget.state, now, first.at, &first.trace, 1);
        }
    }
    for last in charged {
        budget.plan.undo(&mut budget.state, 700 * MS, last.at, &last.trace, 1);
    }
    assert_eq!(budget.ask(701 * MS, 10), Ok(0));
}

#[test]
fn each_call_has_its_own_capacity() {
    let mut budget = Budget::new("10/1s algorithm=token_bucket");
    assert_eq!(budget.ask_of(0, 5, 5), Ok(0));
    assert_eq!(budget.ask_of(0, 1, 5), Err(Some(100 * MS)));
    assert_eq!(budget.ask_of(0, 5, 10), Ok(0));
    assert_eq!(budget.ask_of(0, 0, 5), Ok(0));
    assert_eq!(budget.ask_of(0, 6, 5), Err(None));
}

#[test]
fn a_larger_bucket_has_more_and_a_smaller_one_is_closed_until_it_fits() {
    let mut budget = Budget::new("10/1s algorithm=token_bucket");
    assert_eq!(budget.ask(0, 10), Ok(0));
    budget.change(0, "10/1s algorithm=token_bucket burst=12");
    assert_eq!(budget.ask(0, 2), Ok(0));
    budget.change(0, "10/1s algorithm=token_bucket burst=3");
    assert_eq!(budget.ask(0, 1), Err(Some(1000 * MS)));
    assert_eq!(budget.ask(1000 * MS, 1), Ok(0));
}

#[test]
fn initial_is_for_new_limiters_and_no_change_empties_a_bucket() {
    let mut budget = Budget::new("10/1s algorithm=token_bucket initial=0");
    budget.change(500 * MS, "20/1s algorithm=token_bucket initial=0");
    assert_eq!(budget.ask(500 * MS, 15), Ok(0));
    budget.state = budget.plan.fresh();
    assert_eq!(budget.ask(500 * MS, 16), Err(Some(550 * MS)));
    assert_eq!(budget.ask(500 * MS, 15), Ok(0));
}

#[test]
fn another_rate_goes_on_from_the_same_level() {
    let mut budget = Budget::new("10/1s algorithm=token_bucket burst=10");
    assert_eq!(budget.ask(0, 10), Ok(0));
    budget.change(50 * MS, "1/1s algorithm=token_bucket burst=10");
    assert_eq!(budget.ask(50 * MS, 1), Err(Some(550 * MS)));
    budget.change(50 * MS, "10000/1h algorithm=token_bucket burst=10");
    assert_eq!(budget.ask(50 * MS, 1), Err(Some(230 * MS)));
}

#[test]
fn a_refund_after_a_slower_rate_does_not_give_back_what_the_faster_one_refilled() {
    let mut budget = Budget::new("10/1s algorithm=token_bucket burst=20");
    let charged = budget.charge(0, 10);
    assert_eq!(budget.ask(900 * MS, 10), Ok(9));
    budget.change(900 * MS, "1/1s algorithm=token_bucket burst=20");
    assert_eq!(budget.refund(900 * MS, charged, 10), 1);
    assert_eq!(budget.used(900 * MS), 10);
}

#[test]
fn a_change_by_a_clock_that_steps_back_forgets_nothing_that_the_faster_rate_refilled() {
    let mut budget = Budget::new("10/1s algorithm=token_bucket burst=20");
    let charged = budget.charge(0, 10);
    assert_eq!(budget.ask(900 * MS, 10), Ok(9));
    budget.change(0, "1/1s algorithm=token_bucket burst=20");
    assert_eq!(budget.refund(0, charged, 10), 1);
    assert_eq!(budget.used(900 * MS), 10);
}

#[test]
fn beyond_a_change_what_is_taken_back_is_refunded() {
    let mut budget = Budget::new("10/1s algorithm=leaky_bucket burst=20");
    let earlier = budget.charge(0, 10);
    budget.refund(0, earlier, 10);
    let charged = budget.plan.charge(&mut budget.state, 0, 10, 20).unwrap();
    budget.change(0, "10/2s algorithm=token_bucket burst=20");
    let given_back = budget.plan.undo(&mut budget.state, 200 * MS, charged.at, &charged.trace, 10);
    assert_eq!((given_back, budget.used(200 * MS)), (9, 0));
}

#[test]
fn a_rate_of_zero_refills_nothing_and_keeps_what_was_used() {
    let mut budget = Budget::new("10/1s algorithm=token_bucket");
    assert_eq!(budget.ask(0, 4), Ok(6));
    budget.change(0, "0/1s algorithm=token_bucket");
    assert_eq!(budget.ask(100 * YEAR, 1), Err(None));
    assert_eq!(budget.ask(100 * YEAR, 0), Ok(0));
    assert_eq!(budget.clear_at(100 * YEAR), u64::MAX);
    budget.change(100 * YEAR, "10/1s algorithm=token_bucket");
    assert_eq!(budget.ask(100 * YEAR, 7), Err(Some(100 * YEAR + 100 * MS)));
}

#[test]
fn the_slowest_and_the_fastest_rates_are_exact() {
    let century = 100 * YEAR;
    let calls = [
        (0, 3, Ok(0)),
        (century - 1, 1, Err(Some(century))),
        (century, 1, Ok(0)),
        (century, 3, Err(Some(4 * century))),
    ];
    check("1/100years algorithm=token_bucket burst=3", &calls);
    let max = u32::MAX;
    let calls = [(0, max, Ok(0)), (0, 1, Err(Some(1))), (1, max, Ok(0)), (u64::MAX, max, Ok(0))];
    check("4294967295/1ns algorithm=token_bucket", &calls);
}

#[test]
fn what_takes_longer_than_the_timeline_is_never_too_early() {
    let mut budget = Budget::new("1/100years algorithm=token_bucket burst=4294967295");
    assert_eq!(budget.ask(0, u32::MAX), Ok(0));
    assert_eq!(budget.ask(0, u32::MAX), Err(Some(u64::MAX)));
    assert_eq!(budget.ask(u64::MAX, 4), Err(Some(400 * YEAR)));
    assert_eq!(budget.clear_at(u64::MAX), u64::MAX);
}

#[test]
fn a_clock_that_steps_back_refills_nothing() {
    let calls = [
        (10 * SECOND, 1, Ok(1)),
        (SECOND, 1, Ok(0)),
        (0, 1, Err(Some(10_500 * MS))),
        (10_500 * MS - 1, 1, Err(Some(10_500 * MS))),
        (10_500 * MS, 1, Ok(0)),
    ];
    check("2/1s algorithm=token_bucket", &calls);
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Ahead(u64),
    Charge(u32),
    Refund(usize),
    Undo(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (0..300_u64).prop_map(Step::Ahead),
        4 => (1..4_u32).prop_map(Step::Charge),
        1 => (0..6_usize).prop_map(Step::Refund),
        2 => (0..6_usize).prop_map(Step::Undo),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 4096 }))]

    /// Whatever was given back or undone meanwhile: of the calls that stay, any interval holds no more than a full bucket and
    /// what flows in during it.
    #[test]
    fn what_is_given_back_never_admits_more_than_the_bound(steps in prop::collection::vec(step(), 1..60)) {
        const BURST: u64 = 5;
        // A permit each 100 ns.
        let mut budget = Budget::new("10/1us algorithm=token_bucket burst=5");
        let mut now = 0;
        let mut calls: Vec<(Charged, u32)> = Vec::new();
        for step in steps {
            match step {
                Step::Ahead(by) => now += by,
                Step::Charge(cost) => {
                    let charged = budget.plan.charge(&mut budget.state, now, cost, 5).ok();
                    calls.extend(charged.map(|charged| (charged, cost)));
                }
                Step::Refund(ago) | Step::Undo(ago) => {
                    let Some(index) = calls.len().checked_sub(ago + 1) else { continue };
                    let (Charged { at, trace, .. }, cost) = calls.remove(index);
                    match step {
                        Step::Undo(_) => budget.plan.undo(&mut budget.state, now, at, &trace, cost),
                        _ => budget.plan.refund(&mut budget.state, now, at, cost),
                    };
                }
            }
        }
        for (number, (first, _)) in calls.iter().enumerate() {
            let mut sum = 0;
            for (last, cost) in &calls[number..] {
                sum += u64::from(*cost) * 100;
                prop_assert!(sum <= BURST * 100 + (last.at - first.at), "from {} to {}", first.at, last.at);
            }
        }
    }
}
