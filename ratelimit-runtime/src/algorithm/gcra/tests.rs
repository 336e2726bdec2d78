use std::time::Duration;

use proptest::prelude::*;
use ratelimit_spec::{Algorithm, LimitSpec};

use crate::algorithm::{
    Grain, LONGEST_WINDOW, Plan,
    claims::{MS, SECOND, check},
};

#[test]
fn admits_a_burst_and_then_one_each_interval() {
    let calls = [
        (0, 3, Ok(0)),
        (0, 1, Err(Some(100 * MS))),
        (100 * MS - 1, 1, Err(Some(100 * MS))),
        (100 * MS, 1, Ok(0)),
        (150 * MS, 2, Err(Some(300 * MS))),
        (300 * MS, 2, Ok(0)),
    ];
    check("10/1s algorithm=gcra burst=3", &calls);
}

#[test]
fn an_interval_that_is_no_whole_nanosecond_never_drifts() {
    let mut calls = vec![(0, 2, Ok(0))];
    for permit in 1..=3_000 {
        let due = (permit * SECOND).div_ceil(3);
        calls.extend([(due - 1, 1, Err(Some(due))), (due, 1, Ok(0))]);
    }
    check("3/1s algorithm=gcra burst=2", &calls);
}

#[derive(Clone, Debug)]
enum Step {
    Ahead(u64),
    Sixteenths(u8, i8),
    Back(u64),
    Charge(u32, u8),
    Refund(u8),
    Change(u32, u64, u32),
}

fn rates() -> impl Strategy<Value = (u32, u64, u32)> {
    let count = || prop_oneof![6 => 1..=10_u32, 1 => Just(100), 1 => u32::MAX - 1..=u32::MAX];
    let window = prop_oneof![1..=40_u64, Just(1_000_003), Just(SECOND), Just(LONGEST_WINDOW)];
    (count(), window, count())
}

fn steps() -> impl Strategy<Value = Step> {
    let cost = prop_oneof![6 => Just(1_u32), 3 => 0..=4_u32, 2 => any::<u32>()];
    prop_oneof![
        10 => (cost, prop_oneof![5 => Just(8_u8), 1 => 0..=8_u8]).prop_map(|(cost, eighths)| Step::Charge(cost, eighths)),
        2 => prop_oneof![0..=3_u64, 0..=SECOND, any::<u64>()].prop_map(Step::Ahead),
        4 => (0..=40_u8, -2..=2_i8).prop_map(|(parts, offset)| Step::Sixteenths(parts, offset)),
        1 => any::<u64>().prop_map(Step::Back),
        2 => (0..=4_u8).prop_map(Step::Refund),
        1 => rates().prop_map(|(max, window, burst)| Step::Change(max, window, burst)),
    ]
}

fn spec(algorithm: Algorithm, (max, window, burst): (u32, u64, u32)) -> LimitSpec {
    LimitSpec::new(max, Duration::from_nanos(window)).with_algorithm(algorithm).with_burst(burst)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]

    #[test]
    fn answers_in_all_as_a_token_bucket_that_is_full_at_first(
        mut rate in rates(),
        steps in prop::collection::vec(steps(), 1..60),
    ) {
        let algorithms = [Algorithm::Gcra, Algorithm::TokenBucket];
        let mut budgets = algorithms.map(|algorithm| {
            let plan = Plan::new(&spec(algorithm, rate), Grain::DECLARED, 0);
            (plan.fresh(), plan)
        });
        let mut now = 0_u64;
        let mut charges = Vec::new();
        for step in steps {
            match step {
                Step::Ahead(by) => now = now.saturating_add(by),
                Step::Sixteenths(parts, offset) => {
                    let by = rate.1 / 16 * u64::from(parts);
                    now = now.saturating_add(by).saturating_add_signed(offset.into());
                }
                Step::Back(by) => now = now.saturating_sub(by),
                Step::Charge(cost, eighths) => {
                    let capacity = u32::try_from(u64::from(rate.2) * u64::from(eighths) / 8).unwrap();
                    let cost = cost % capacity.saturating_add(2);
                    let [one, other] = budgets
                        .each_mut()
                        .map(|(state, plan)| plan.charge(state, now, cost, capacity));
                    prop_assert_eq!(one, other);
                    charges.extend(one.ok().map(|charged| (charged.at, cost)));
                }
                Step::Refund(ago) => {
                    let Some(index) = charges.len().checked_sub(usize::from(ago) + 1) else { continue };
                    let (at, cost) = charges.remove(index);
                    let [one, other] =
                        budgets.each_mut().map(|(state, plan)| plan.refund(state, now, at, cost));
                    prop_assert_eq!(one, other);
                }
                Step::Change(max, window, burst) => {
                    rate = (max, window, burst);
                    for (algorithm, (state, plan)) in algorithms.into_iter().zip(&mut budgets) {
                        let changed = plan.changed(&spec(algorithm, rate), Grain::DECLARED, now);
                        *state = changed.convert(state.clone(), plan, now);
                        *plan = changed;
                    }
                }
            }
            let [one, other] = budgets.each_ref().map(|(state, plan)| {
                (plan.used(state, now), plan.clear_at(state, now), plan.ready_at(state, now, rate.2, rate.2))
            });
            prop_assert_eq!(one, other);
        }
    }
}
