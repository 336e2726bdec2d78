use crate::algorithm::{
    END_OF_TIME,
    claims::{Budget, MS, SECOND, YEAR, check},
};

#[test]
fn a_window_begins_with_the_first_admitted_call() {
    let calls = [
        (300 * MS, 0, Ok(2)),
        (300 * MS, 3, Err(None)),
        (400 * MS, 2, Ok(0)),
        (1400 * MS - 1, 1, Err(Some(1400 * MS))),
        (1400 * MS, 1, Ok(1)),
        (2399 * MS, 1, Ok(0)),
        (2399 * MS, 1, Err(Some(2400 * MS))),
    ];
    check("2/1s algorithm=fixed_window", &calls);
}

#[test]
fn up_to_twice_the_limit_passes_around_an_edge() {
    let calls =
        [(0, 1, Ok(9)), (999 * MS, 9, Ok(0)), (1000 * MS, 10, Ok(0)), (1001 * MS, 1, Err(Some(2000 * MS)))];
    check("10/1s algorithm=fixed_window", &calls);
}

#[test]
fn all_of_a_window_is_released_together() {
    let mut budget = Budget::new("10/1s algorithm=fixed_window");
    assert_eq!(budget.ask(0, 1), Ok(9));
    assert_eq!(budget.ask(900 * MS, 9), Ok(0));
    assert_eq!(budget.used(SECOND - 1), 10);
    assert_eq!(budget.used(SECOND), 0);
    assert_eq!(budget.clear_at(900 * MS), SECOND);
}

#[test]
fn each_call_has_its_own_capacity() {
    let mut budget = Budget::new("10/1s algorithm=fixed_window");
    assert_eq!(budget.ask_of(0, 5, 5), Ok(0));
    assert_eq!(budget.ask_of(0, 1, 5), Err(Some(SECOND)));
    assert_eq!(budget.ask_of(0, 5, 10), Ok(0));
    assert_eq!(budget.ask_of(0, 0, 5), Ok(0));
    assert_eq!(budget.ask_of(0, 6, 5), Err(None));
}

#[test]
fn a_refund_counts_in_its_window_only() {
    let mut budget = Budget::new("10/1s algorithm=fixed_window");
    let first = budget.charge(0, 4);
    let second = budget.charge(500 * MS, 6);
    assert_eq!(budget.refund(600 * MS, first, 4), 4);
    assert_eq!(budget.ask(600 * MS, 4), Ok(0));
    assert_eq!(budget.ask(SECOND, 5), Ok(5));
    assert_eq!(budget.refund(SECOND, second, 6), 0);
    assert_eq!(budget.used(SECOND), 5);
}

#[test]
fn a_window_with_everything_given_back_is_none() {
    let mut budget = Budget::new("10/1s algorithm=fixed_window");
    let charged = budget.charge(0, 4);
    assert_eq!(budget.refund(300 * MS, charged, 4), 4);
    assert_eq!(budget.clear_at(300 * MS), 300 * MS);
    assert_eq!(budget.ask(400 * MS, 10), Ok(0));
    assert_eq!(budget.ask(SECOND, 1), Err(Some(1400 * MS)));
}

#[test]
fn idle_years_and_the_end_of_time_are_counted_right() {
    let calls = [
        (0, 10, Ok(0)),
        (200 * YEAR, 10, Ok(0)),
        (END_OF_TIME - 1, 10, Ok(0)),
        (END_OF_TIME, 1, Err(Some(END_OF_TIME + 100 * YEAR - 1))),
    ];
    check("10/100years algorithm=fixed_window", &calls);
}

#[test]
fn a_clock_that_steps_back_opens_no_window() {
    let calls = [
        (10 * SECOND, 1, Ok(1)),
        (SECOND, 1, Ok(0)),
        (0, 1, Err(Some(11 * SECOND))),
        (11 * SECOND - 1, 1, Err(Some(11 * SECOND))),
        (11 * SECOND, 2, Ok(0)),
    ];
    check("2/1s algorithm=fixed_window", &calls);
}

#[test]
fn another_length_of_the_window_counts_from_when_it_began() {
    let mut budget = Budget::new("10/1s algorithm=fixed_window");
    assert_eq!(budget.ask(100 * MS, 8), Ok(2));
    budget.change(600 * MS, "10/2s algorithm=fixed_window");
    assert_eq!(budget.ask(600 * MS, 3), Err(Some(2100 * MS)));
    budget.change(700 * MS, "10/500ms algorithm=fixed_window");
    assert_eq!(budget.ask(700 * MS, 10), Ok(0));
}

#[test]
fn a_refund_takes_nothing_from_the_window_that_follows_one_which_a_change_ended() {
    let mut budget = Budget::new("10/1s algorithm=fixed_window");
    assert_eq!(budget.ask(0, 1), Ok(9));
    let charged = budget.charge(500 * MS, 4);
    budget.change(500 * MS, "10/100ms algorithm=fixed_window");
    assert_eq!(budget.ask(500 * MS, 6), Ok(4));
    assert_eq!(budget.refund(500 * MS, charged, 4), 0);
    assert_eq!(budget.used(500 * MS), 6);
}
