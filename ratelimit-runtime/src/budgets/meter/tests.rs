use proptest::prelude::*;
use ratelimit_spec::LimitSpec;

use super::*;
use crate::{
    algorithm::{END_OF_TIME, Grain, State},
    budget::{Cause, Charge},
    budgets::only::Only,
    clock::nanos,
    demand::Demand,
    rules::Rules,
};

const LIMITS: [&str; 7] = [
    "10/1s algorithm=gcra burst=3",
    "3/1s algorithm=gcra burst=2",
    "1/1ns algorithm=gcra burst=5",
    "4294967294/1s algorithm=gcra burst=4",
    "7/13ns algorithm=leaky_bucket burst=3",
    "10/1s algorithm=token_bucket burst=4 initial=1",
    "1/100years algorithm=token_bucket",
];

#[derive(Clone, Copy, Debug)]
enum Step {
    /// By so many sixteenths of the time of a permit, and some nanoseconds.
    Ahead(u8, u8),
    Back(u64),
    Charge(u32),
    Refund(u8),
    Change(u8),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        8 => prop_oneof![4 => Just(1), 1 => 0..3_u32].prop_map(Step::Charge),
        4 => (0..40_u8, 0..2_u8).prop_map(|(parts, more)| Step::Ahead(parts, more)),
        1 => prop_oneof![0..100_u64, any::<u64>()].prop_map(Step::Back),
        1 => any::<u8>().prop_map(Step::Refund),
        1 => any::<u8>().prop_map(Step::Change),
    ];
    prop::collection::vec(step, 1..80)
}

fn rules(limit: u8, now: u64) -> Rules {
    let spec: LimitSpec = LIMITS[usize::from(limit) % LIMITS.len()].parse().unwrap();
    Rules::new(spec, Grain::FINE, now)
}

/// A budget that nothing is set out of.
struct Plain {
    rules: Rules,
    state: State,
}

proptest! {
    #[test]
    fn every_history_is_answered_as_by_the_budget_itself(first: u8, start: u64, steps in steps()) {
        let mut now = start.min(END_OF_TIME / 2);
        let only = Only::new(rules(first, now));
        let mut plain = Plain { rules: rules(first, now), state: rules(first, now).plan.fresh() };
        let mut charges = Vec::<Charge>::new();
        for step in steps {
            let spec = plain.rules.spec;
            match step {
                Step::Ahead(parts, more) => {
                    let permit = nanos(spec.window()) / u64::from(spec.max());
                    let ahead = (permit / 16).saturating_mul(u64::from(parts)).saturating_add(u64::from(more));
                    // No clock tells a later time.
                    now = now.saturating_add(ahead).min(END_OF_TIME);
                }
                Step::Back(by) => now = now.saturating_sub(by),
                Step::Charge(cost) => {
                    let demand = Demand::new(cost);
                    let mine = only.charge_alone(now, &demand);
                    let same = plain.rules.charge(&mut plain.state, now, now, &demand);
                    match (mine, same) {
                        (Ok(mine), Ok(same)) => {
                            prop_assert_eq!((mine.remaining, mine.at), (same.remaining, same.at));
                            charges.push(mine);
                        }
                        (Err(mine), Err(crate::algorithm::Denial::Exceeded { ready_at })) => {
                            prop_assert_eq!(mine.cause, Cause::Exceeded { ready_at });
                        }
                        (Err(mine), Err(_)) => prop_assert_eq!(mine.cause, Cause::CostExceedsCapacity),
                        (mine, same) => prop_assert!(false, "{:?} instead of {:?}", mine, same),
                    }
                }
                Step::Refund(which) if !charges.is_empty() => {
                    let charge = charges.swap_remove(usize::from(which) % charges.len());
                    let refunded = only.act(now, |rules, budget| budget.refund(rules, now, &charge));
                    let same = plain.rules.plan.refund(&mut plain.state, now, charge.at, charge.cost);
                    prop_assert_eq!(refunded.permits, same);
                }
                Step::Refund(_) => {}
                Step::Change(limit) => {
                    let changed = rules(limit, now).spec;
                    let to = plain.rules.changed(changed, Grain::FINE, now);
                    plain.state = to.plan.convert(plain.state.clone(), &plain.rules.plan, now);
                    only.set_rules(plain.rules.changed(changed, Grain::FINE, now), now);
                    plain.rules = to;
                }
            }
            let used = only.act(now, |rules, budget| rules.plan.used(budget.state(), now));
            // To look at a budget that is set out is to take note of the time.
            _ = plain.rules.charge(&mut plain.state, now, now, &Demand::new(0));
            prop_assert_eq!(used, plain.rules.plan.used(&plain.state, now));
        }
    }

    #[test]
    fn what_is_decided_by_a_rough_time_is_so_at_every_time_that_it_may_be(
        limit: u8, before in prop::collection::vec(0..50_000_000_u64, 0..6),
        ahead in 0..800_000_000_u64, lag in 1..300_000_000_u64, late in 0..=16_u64,
    ) {
        let (only, exact) = (Only::new(rules(limit, 0)), Only::new(rules(limit, 0)));
        let mut now = 1_000_000_000;
        for pause in before {
            now += pause;
            let alike = only.charge_alone(now, &Demand::new(1)).is_ok();
            prop_assert_eq!(exact.charge_alone(now, &Demand::new(1)).is_ok(), alike);
        }
        now += ahead;
        let truly = now + lag * late / 16;
        let exactly = exact.charge_alone(truly, &Demand::new(1));
        match only.take_by_meter(now, lag) {
            Take::Taken(()) => {
                prop_assert!(exactly.is_ok());
                let used = |only: &Only| only.act(truly, |rules, budget| rules.plan.clear_at(budget.state(), truly));
                prop_assert_eq!(used(&only), used(&exact));
            }
            Take::Denied { ready_at } => prop_assert_eq!(exactly.unwrap_err().cause, Cause::Exceeded { ready_at }),
            Take::Ask => {}
        }
    }
}
