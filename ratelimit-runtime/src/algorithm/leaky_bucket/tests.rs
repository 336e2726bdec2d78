use crate::algorithm::{
    Denial,
    claims::{Budget, MS, SECOND, check},
};

#[test]
fn a_meter_denies_what_would_overflow() {
    let calls = [
        (0, 3, Ok(0)),
        (0, 1, Err(Some(500 * MS))),
        (500 * MS, 1, Ok(0)),
        (500 * MS, 4, Err(None)),
        (1600 * MS, 2, Ok(0)),
        (1600 * MS, 1, Err(Some(2000 * MS))),
    ];
    check("2/1s algorithm=leaky_bucket burst=3", &calls);
}

#[test]
fn a_turn_comes_when_all_before_it_has_leaked() {
    let mut budget = Budget::new("2/1s algorithm=leaky_bucket burst=3");
    assert_eq!(budget.ask(0, 2), Ok(1));
    assert_eq!(budget.plan.turn_at(&budget.state, 0, 1, 3), Some(SECOND));
    let early = budget.plan.charge_in_turn(&mut budget.state, SECOND - 1, 0, 1, 3);
    assert_eq!(early, Err(Denial::Exceeded { ready_at: SECOND }));
    let charged = budget.plan.charge_in_turn(&mut budget.state, SECOND, 0, 1, 3).unwrap();
    assert_eq!((charged.at, charged.remaining), (SECOND, 2));
    assert_eq!(budget.plan.turn_at(&budget.state, SECOND, 3, 3), Some(1500 * MS));
    assert_eq!(budget.plan.turn_at(&budget.state, SECOND, 4, 3), None);
}

#[test]
fn who_is_let_through_late_keeps_up_nobody_behind() {
    let mut budget = Budget::new("2/1s algorithm=leaky_bucket burst=3");
    assert_eq!(budget.ask(0, 1), Ok(2));
    for turn in [500 * MS, 1000 * MS] {
        let charged = budget.plan.charge_in_turn(&mut budget.state, 1200 * MS, 0, 1, 3).unwrap();
        assert_eq!(charged.at, turn);
    }
    assert_eq!(budget.plan.turn_at(&budget.state, 1200 * MS, 1, 3), Some(1500 * MS));
}

#[test]
fn who_comes_to_an_empty_bucket_is_charged_from_then() {
    let mut budget = Budget::new("2/1s algorithm=leaky_bucket burst=3");
    let charged = budget.plan.charge_in_turn(&mut budget.state, 10 * SECOND, 9 * SECOND, 1, 3).unwrap();
    assert_eq!(charged.at, 9 * SECOND);
    assert_eq!(budget.plan.turn_at(&budget.state, 10 * SECOND, 1, 3), Some(10 * SECOND));
}

#[test]
fn those_in_line_fill_the_bucket_too() {
    let mut budget = Budget::new("2/1s algorithm=leaky_bucket burst=3");
    assert_eq!(budget.ask(0, 1), Ok(2));
    let joins_at = |waiting, cost| budget.plan.joins_at(&budget.state, 100 * MS, waiting, cost, 3);
    assert_eq!(joins_at(1, 1), Some(100 * MS));
    assert_eq!(joins_at(2, 1), Some(500 * MS));
    assert_eq!(joins_at(2, 3), Some(1500 * MS));
    assert_eq!(joins_at(0, 4), None);
}

#[test]
fn a_refund_gives_back_what_has_not_leaked_since_its_turn() {
    let mut budget = Budget::new("2/1s algorithm=leaky_bucket burst=3");
    assert_eq!(budget.ask(0, 1), Ok(2));
    let charged = budget.plan.charge_in_turn(&mut budget.state, 600 * MS, 0, 2, 3).unwrap();
    assert_eq!(budget.refund(1000 * MS, charged.at, 2), 1);
    assert_eq!(budget.used(1000 * MS), 0);
}
