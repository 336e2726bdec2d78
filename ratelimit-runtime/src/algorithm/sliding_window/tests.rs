use std::time::Duration;

use ratelimit_spec::LimitSpec;

use crate::algorithm::{Denial, END_OF_TIME, Grain, LONGEST_WINDOW, Plan, State};

const SECOND: u64 = 1_000_000_000;
const MS: u64 = 1_000_000;
const YEAR: u64 = LONGEST_WINDOW / 100;

fn plan(max: u32, window: u64, buckets: u32) -> Plan {
    let spec = LimitSpec::new(max, Duration::from_nanos(window)).with_buckets(buckets);
    assert_eq!(spec.validate(), Ok(()));
    Plan::new(&spec, Grain::DECLARED, 0)
}

/// What a call is told: permits that remain, or when to come again.
type Answer = Result<u32, Option<u64>>;

fn ask(plan: &Plan, state: &mut State, at: u64, cost: u32, capacity: u32) -> Answer {
    match plan.charge(state, at, cost, capacity) {
        Ok(charged) => Ok(charged.remaining),
        Err(Denial::Exceeded { ready_at }) => Err(Some(ready_at)),
        Err(Denial::CostExceedsCapacity) => Err(None),
    }
}

#[track_caller]
fn check(max: u32, window: u64, buckets: u32, calls: &[(u64, u32, Answer)]) {
    let plan = plan(max, window, buckets);
    let mut state = plan.fresh();
    for &(at, cost, expected) in calls {
        assert_eq!(ask(&plan, &mut state, at, cost, max), expected, "cost {cost} at {at}");
    }
}

/// A budget of `max` that was used up at `at`.
fn full(plan: &Plan, at: u64, max: u32) -> State {
    let mut state = plan.fresh();
    assert_eq!(ask(plan, &mut state, at, max, max), Ok(0));
    state
}

#[test]
fn holds_every_bucket_for_a_whole_window_after_it_has_ended() {
    let calls = [
        (99 * MS, 100, Ok(0)),
        (999 * MS, 1, Err(Some(1100 * MS))),
        (1000 * MS, 100, Err(Some(1100 * MS))),
        (1100 * MS - 1, 1, Err(Some(1100 * MS))),
        (1100 * MS, 100, Ok(0)),
    ];
    check(100, SECOND, 10, &calls);
}

#[test]
fn a_denied_call_is_not_charged() {
    let calls = [(0, 9, Ok(1)), (0, 2, Err(Some(1100 * MS))), (0, 11, Err(None)), (0, 1, Ok(0))];
    check(10, SECOND, 10, &calls);
}

#[test]
fn a_large_cost_waits_for_as_many_buckets_as_it_needs() {
    let calls = [
        (0, 2, Ok(8)),
        (250 * MS, 3, Ok(5)),
        (700 * MS, 5, Ok(0)),
        (700 * MS, 1, Err(Some(1100 * MS))),
        (700 * MS, 2, Err(Some(1100 * MS))),
        (700 * MS, 3, Err(Some(1300 * MS))),
        (700 * MS, 5, Err(Some(1300 * MS))),
        (700 * MS, 6, Err(Some(1800 * MS))),
        (700 * MS, 10, Err(Some(1800 * MS))),
        (700 * MS, 1, Err(Some(1100 * MS))),
        (1300 * MS - 1, 3, Err(Some(1300 * MS))),
        (1300 * MS, 3, Ok(2)),
    ];
    check(10, SECOND, 10, &calls);
}

#[test]
fn a_cost_of_zero_only_looks() {
    let plan = plan(5, SECOND, 10);
    let mut state = full(&plan, 0, 5);
    for capacity in [0, 3, 5] {
        assert_eq!(ask(&plan, &mut state, 0, 0, capacity), Ok(0));
        assert_eq!(plan.ready_at(&state, 0, 0, capacity), Some(0));
    }
    assert_eq!(ask(&plan, &mut state, 0, 0, 7), Ok(2));
    assert_eq!(plan.used(&state, 0), 5);
}

#[test]
fn a_capacity_of_zero_denies_for_ever() {
    check(0, SECOND, 10, &[(0, 1, Err(None)), (0, 0, Ok(0)), (100 * YEAR, 1, Err(None))]);
}

#[test]
fn each_call_has_its_own_capacity() {
    let plan = plan(10, SECOND, 10);
    let mut state = plan.fresh();
    assert_eq!(ask(&plan, &mut state, 0, 5, 5), Ok(0));
    assert_eq!(ask(&plan, &mut state, 0, 1, 5), Err(Some(1100 * MS)));
    assert_eq!(ask(&plan, &mut state, 0, 5, 10), Ok(0));
    assert_eq!(ask(&plan, &mut state, 0, 1, u32::MAX), Ok(u32::MAX - 11));
}

#[test]
fn a_lowered_capacity_denies_until_what_is_above_it_has_aged() {
    let plan = plan(10, SECOND, 10);
    let mut state = plan.fresh();
    for bucket in 0..10 {
        assert_eq!(ask(&plan, &mut state, bucket * 100 * MS, 1, 10), Ok(9 - u32::try_from(bucket).unwrap()));
    }
    let ready_at = 1100 * MS + 700 * MS;
    assert_eq!(ask(&plan, &mut state, 950 * MS, 1, 3), Err(Some(ready_at)));
    assert_eq!(ask(&plan, &mut state, ready_at - 1, 1, 3), Err(Some(ready_at)));
    assert_eq!(ask(&plan, &mut state, ready_at, 1, 3), Ok(0));
}

#[test]
fn buckets_of_one_nanosecond_hold_a_charge_for_the_window_and_one_more() {
    check(1, 10, 10, &[(3, 1, Ok(0)), (13, 1, Err(Some(14))), (14, 1, Ok(0))]);
}

#[test]
fn buckets_that_do_not_divide_the_window_never_drift() {
    let (window, buckets) = (1_000_003, 7);
    let plan = plan(1, window, buckets);
    let mut state = plan.fresh();
    for windows in [0, 2, 1_000_000, 1_000_000_000_000] {
        let start = windows * window;
        assert_eq!(ask(&plan, &mut state, start, 1, 1), Ok(0));
        let end = start + 142_858;
        assert_eq!(plan.clear_at(&state, start), end + window);
        assert_eq!(ask(&plan, &mut state, end + window - 1, 1, 1), Err(Some(end + window)));
        assert_eq!(ask(&plan, &mut state, end + window, 0, 1), Ok(1));
    }
}

#[test]
fn idle_years_leave_a_full_budget() {
    let calls = [
        (0, 1000, Ok(0)),
        (10 * YEAR, 1000, Ok(0)),
        (10 * YEAR, 1, Err(Some(10 * YEAR + 1010 * MS))),
        (300 * YEAR, 1000, Ok(0)),
    ];
    check(1000, SECOND, 100, &calls);
}

#[test]
fn a_window_of_a_century_is_exact() {
    let end = 101 * YEAR;
    let calls = [(1, 1, Ok(0)), (end - 1, 1, Err(Some(end))), (end, 1, Ok(0)), (2 * end, 1, Ok(0))];
    check(1, LONGEST_WINDOW, 100, &calls);
}

#[test]
fn time_stops_at_its_end_and_wraps_nowhere() {
    for window in [10, SECOND, LONGEST_WINDOW] {
        let plan = self::plan(2, window, 10);
        let mut state = plan.fresh();
        assert_eq!(ask(&plan, &mut state, END_OF_TIME - 1, 1, 2), Ok(1));
        assert_eq!(ask(&plan, &mut state, u64::MAX, 1, 2), Ok(0));
        let Err(Some(ready_at)) = ask(&plan, &mut state, u64::MAX, 2, 2) else {
            panic!("admitted over the limit")
        };
        assert!(ready_at > END_OF_TIME);
        assert_eq!(plan.used(&state, u64::MAX), 2);
        assert_eq!(plan.refund(&mut state, u64::MAX, END_OF_TIME, 1), 1);
        assert_eq!(plan.clear_at(&state, u64::MAX), u64::MAX);
        let next = self::plan(2, SECOND, 20);
        let converted = next.convert(state, &plan, u64::MAX);
        assert_eq!(next.used(&converted, u64::MAX), 1);
    }
}

#[test]
fn counts_up_to_the_largest_number_of_permits() {
    let calls = [
        (0, u32::MAX - 1, Ok(1)),
        (0, 2, Err(Some(1100 * MS))),
        (100 * MS, 1, Ok(0)),
        (100 * MS, u32::MAX, Err(Some(1200 * MS))),
        (1100 * MS, u32::MAX - 1, Ok(0)),
    ];
    check(u32::MAX, SECOND, 10, &calls);
}

#[test]
fn a_clock_that_steps_back_frees_nothing_and_still_keeps_its_promise() {
    let plan = plan(2, SECOND, 10);
    let mut state = plan.fresh();
    assert_eq!(ask(&plan, &mut state, 5000 * MS, 1, 2), Ok(1));
    let charged = plan.charge(&mut state, 1000 * MS, 1, 2).unwrap();
    assert_eq!((charged.at, charged.remaining), (5000 * MS, 0));
    for back in [0, 1, 1000 * MS, 4999 * MS] {
        assert_eq!(ask(&plan, &mut state, back, 1, 2), Err(Some(6100 * MS)));
        assert_eq!(plan.used(&state, back), 2);
    }
    assert_eq!(ask(&plan, &mut state, 6100 * MS, 2, 2), Ok(0));
}

#[test]
fn ready_at_is_now_where_the_call_would_be_admitted() {
    let plan = plan(2, SECOND, 10);
    let mut state = plan.fresh();
    assert_eq!(plan.ready_at(&state, 7, 2, 2), Some(7));
    assert_eq!(plan.ready_at(&state, 7, 3, 2), None);
    assert_eq!(ask(&plan, &mut state, 7, 1, 2), Ok(1));
    assert_eq!(plan.ready_at(&state, 7, 1, 2), Some(7));
    assert_eq!(plan.ready_at(&state, 7, 2, 2), Some(1100 * MS));
    assert_eq!(plan.ready_at(&state, 3 * SECOND, 2, 2), Some(3 * SECOND));
}

#[test]
fn a_budget_is_clear_when_its_last_charge_is_released() {
    let plan = plan(5, SECOND, 10);
    let mut state = plan.fresh();
    assert_eq!(plan.clear_at(&state, 7), 7);
    assert_eq!(ask(&plan, &mut state, 0, 1, 5), Ok(4));
    assert_eq!(ask(&plan, &mut state, 450 * MS, 1, 5), Ok(3));
    assert_eq!(plan.clear_at(&state, 450 * MS), 1500 * MS);
    assert_eq!(plan.used(&state, 1500 * MS - 1), 1);
    assert_eq!(plan.used(&state, 1500 * MS), 0);
    assert_eq!(plan.clear_at(&state, 1600 * MS), 1600 * MS);
}

#[test]
fn a_refund_makes_room_at_once_and_moves_the_promised_instant() {
    let plan = plan(10, SECOND, 10);
    let mut state = plan.fresh();
    let early = plan.charge(&mut state, 0, 4, 10).unwrap().at;
    let late = plan.charge(&mut state, 500 * MS, 6, 10).unwrap().at;
    assert_eq!(ask(&plan, &mut state, 500 * MS, 4, 10), Err(Some(1100 * MS)));
    assert_eq!(plan.refund(&mut state, 600 * MS, early, 3), 3);
    assert_eq!(ask(&plan, &mut state, 600 * MS, 5, 10), Err(Some(1600 * MS)));
    assert_eq!(plan.refund(&mut state, 600 * MS, late, 6), 6);
    assert_eq!(ask(&plan, &mut state, 600 * MS, 9, 10), Ok(0));
}

#[test]
fn a_refund_gives_back_no_more_than_still_counts() {
    let plan = plan(10, SECOND, 10);
    let mut state = full(&plan, 0, 10);
    assert_eq!(plan.refund(&mut state, 0, 0, 11), 10);
    assert_eq!(plan.refund(&mut state, 0, 0, 1), 0);
    assert_eq!(ask(&plan, &mut state, 0, 10, 10), Ok(0));
    assert_eq!(ask(&plan, &mut state, 1100 * MS, 10, 10), Ok(0));
    assert_eq!(plan.refund(&mut state, 1100 * MS, 0, 10), 0);
    assert_eq!(plan.refund(&mut state, 1100 * MS, 3000 * MS, 10), 0);
    assert_eq!(plan.used(&state, 1100 * MS), 10);
}

#[test]
fn a_finer_grain_releases_earlier_and_never_too_early() {
    let spec = LimitSpec::new(1, Duration::from_secs(1)).with_buckets(10);
    let plan = Plan::new(&spec, Grain::FINE, 0);
    let mut state = plan.fresh();
    assert_eq!(ask(&plan, &mut state, 0, 1, 1), Ok(0));
    assert_eq!(ask(&plan, &mut state, 1000 * MS, 1, 1), Err(Some(1012 * MS + MS / 2)));
}

#[test]
fn a_finer_grain_stops_at_the_nanosecond() {
    let spec = LimitSpec::new(1, Duration::from_nanos(12)).with_buckets(10);
    let plan = Plan::new(&spec, Grain::FINE, 0);
    let mut state = plan.fresh();
    assert_eq!(ask(&plan, &mut state, 0, 1, 1), Ok(0));
    assert_eq!(ask(&plan, &mut state, 12, 1, 1), Err(Some(13)));
}

#[test]
fn another_max_keeps_every_charge_at_its_instant() {
    let (old, new) = (plan(10, SECOND, 10), plan(20, SECOND, 10));
    let state = full(&old, 150 * MS, 10);
    let mut state = new.convert(state, &old, 900 * MS);
    assert_eq!(ask(&new, &mut state, 900 * MS, 10, 20), Ok(0));
    assert_eq!(ask(&new, &mut state, 900 * MS, 10, 20), Err(Some(1200 * MS)));
    assert_eq!(plan(5, SECOND, 10).used(&state, 1200 * MS), 10);
}

#[test]
fn another_window_counts_from_the_latest_instant_of_the_bucket() {
    let old = plan(10, SECOND, 10);
    let state = full(&old, 110 * MS, 10);
    let longer = plan(10, 2 * SECOND, 1000);
    let mut longer_state = longer.convert(state.clone(), &old, 900 * MS);
    assert_eq!(ask(&longer, &mut longer_state, 900 * MS, 1, 10), Err(Some(2200 * MS)));
    let shorter = plan(10, 500 * MS, 500);
    let mut shorter_state = shorter.convert(state.clone(), &old, 650 * MS);
    assert_eq!(ask(&shorter, &mut shorter_state, 650 * MS, 1, 10), Err(Some(700 * MS)));
    let gone = shorter.convert(state, &old, 700 * MS);
    assert_eq!(shorter.used(&gone, 700 * MS), 0);
}

#[test]
fn a_shorter_window_does_not_hold_a_charge_into_the_future() {
    let old = plan(1, LONGEST_WINDOW, 1);
    let state = full(&old, 3 * SECOND, 1);
    let new = plan(1, SECOND, 10);
    let mut state = new.convert(state, &old, 4 * SECOND);
    assert_eq!(ask(&new, &mut state, 4 * SECOND, 1, 1), Err(Some(5100 * MS)));
}

#[test]
fn a_refund_finds_its_charge_after_the_window_has_changed() {
    let old = plan(10, SECOND, 2);
    let mut state = old.fresh();
    let charged = old.charge(&mut state, 10 * MS, 4, 10).unwrap();
    let new = plan(10, 2 * SECOND, 1000);
    let mut state = new.convert(state, &old, 900 * MS);
    assert_eq!(new.refund(&mut state, 900 * MS, charged.at, 4), 4);
    assert_eq!(new.used(&state, 900 * MS), 0);
}

#[test]
fn a_refund_of_a_charge_forgotten_by_a_change_takes_no_other() {
    let old = plan(10, SECOND, 10);
    let mut state = old.fresh();
    let aged = old.charge(&mut state, 0, 4, 10).unwrap();
    let new = plan(10, LONGEST_WINDOW, 1);
    let mut state = new.convert(state, &old, 2 * SECOND);
    assert_eq!(ask(&new, &mut state, 3 * SECOND, 5, 10), Ok(5));
    assert_eq!(new.refund(&mut state, 3 * SECOND, aged.at, 4), 0);
}
