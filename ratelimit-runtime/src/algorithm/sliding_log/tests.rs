use super::{Log, SlidingLog};
use crate::algorithm::{
    END_OF_TIME,
    claims::{Budget, MS, SECOND, YEAR, check},
};

#[test]
fn a_charge_counts_for_exactly_a_window() {
    let calls = [
        (7, 1, Ok(0)),
        (8, 1, Err(Some(SECOND + 7))),
        (SECOND + 6, 1, Err(Some(SECOND + 7))),
        (SECOND + 7, 1, Ok(0)),
    ];
    check("1/1s algorithm=sliding_log", &calls);
}

#[test]
fn a_large_cost_waits_for_as_many_charges_as_it_needs() {
    let calls = [
        (0, 2, Ok(8)),
        (250 * MS, 3, Ok(5)),
        (700 * MS, 5, Ok(0)),
        (700 * MS, 2, Err(Some(1000 * MS))),
        (700 * MS, 3, Err(Some(1250 * MS))),
        (700 * MS, 5, Err(Some(1250 * MS))),
        (700 * MS, 6, Err(Some(1700 * MS))),
        (700 * MS, 11, Err(None)),
        (1250 * MS, 5, Ok(0)),
    ];
    check("10/1s algorithm=sliding_log", &calls);
}

#[test]
fn a_refund_takes_back_its_own_charge() {
    let mut budget = Budget::new("10/1s algorithm=sliding_log");
    let early = budget.charge(0, 4);
    let late = budget.charge(500 * MS, 6);
    assert_eq!(budget.refund(600 * MS, early, 4), 4);
    assert_eq!(budget.ask(600 * MS, 5), Err(Some(1500 * MS)));
    assert_eq!(budget.ask(600 * MS, 4), Ok(0));
    assert_eq!(budget.ask(1500 * MS, 6), Ok(0));
    assert_eq!(budget.refund(1500 * MS, late, 6), 0);
    assert_eq!(budget.used(1500 * MS), 10);
}

#[test]
fn a_refund_gives_back_no_more_than_its_instant_holds() {
    let mut budget = Budget::new("10/1s algorithm=sliding_log");
    let charged = budget.charge(5, 3);
    assert_eq!(budget.ask(6, 7), Ok(0));
    assert_eq!(budget.refund(7, charged, 10), 3);
    assert_eq!(budget.refund(7, charged, 10), 0);
    assert_eq!(budget.used(7), 7);
}

#[test]
fn memory_is_bounded_by_the_limit() {
    let plan = SlidingLog::new(SECOND);
    let mut log: Log = plan.fresh();
    for now in 0..100_000 {
        _ = plan.charge(&mut log, now, 1, 100);
        _ = plan.charge(&mut log, now * 10_000, 1, 100);
    }
    assert!(log.entries.len() <= 100);
    assert!(log.entries.capacity() <= 256);
}

#[test]
fn charges_of_one_instant_take_one_entry() {
    let plan = SlidingLog::new(SECOND);
    let mut log = plan.fresh();
    for _ in 0..1000 {
        assert!(plan.charge(&mut log, 5, 1, 1000).is_ok());
    }
    assert_eq!(log.entries.len(), 1);
    assert_eq!(log.used(), 1000);
}

#[test]
fn sums_may_wrap_and_differences_stay_right() {
    let second = |number: u64| {
        let (now, next) = (number * SECOND, (number + 1) * SECOND);
        [
            (now, u32::MAX - 1, Ok(1)),
            (now, 2, Err(Some(next))),
            (now + 1, 1, Ok(0)),
            (next, 0, Ok(u32::MAX - 1)),
        ]
    };
    let calls: Vec<_> = [0, 2, 4, 6].into_iter().flat_map(second).collect();
    check("4294967295/1s algorithm=sliding_log", &calls);
}

#[test]
fn idle_years_and_the_end_of_time_are_counted_right() {
    let calls = [
        (0, 10, Ok(0)),
        (200 * YEAR, 10, Ok(0)),
        (END_OF_TIME - 1, 10, Ok(0)),
        (END_OF_TIME, 1, Err(Some(END_OF_TIME + 100 * YEAR - 1))),
    ];
    check("10/100years algorithm=sliding_log", &calls);
}

#[test]
fn a_clock_that_steps_back_frees_nothing() {
    let calls = [
        (10 * SECOND, 1, Ok(1)),
        (SECOND, 1, Ok(0)),
        (0, 1, Err(Some(11 * SECOND))),
        (11 * SECOND - 1, 1, Err(Some(11 * SECOND))),
        (11 * SECOND, 2, Ok(0)),
    ];
    check("2/1s algorithm=sliding_log", &calls);
}

#[test]
fn another_window_keeps_every_charge_at_its_instant() {
    let mut budget = Budget::new("10/1s algorithm=sliding_log");
    let early = budget.charge(0, 4);
    assert_eq!(budget.ask(600 * MS, 6), Ok(0));
    budget.change(700 * MS, "10/2s algorithm=sliding_log");
    assert_eq!(budget.ask(700 * MS, 1), Err(Some(2000 * MS)));
    assert_eq!(budget.refund(700 * MS, early, 4), 4);
    budget.change(700 * MS, "10/200ms algorithm=sliding_log");
    assert_eq!(budget.ask(700 * MS, 5), Err(Some(800 * MS)));
}
