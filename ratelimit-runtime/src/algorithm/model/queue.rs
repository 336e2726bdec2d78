//! A leaky bucket's queue beside a meter that is asked the same.

use proptest::prelude::*;
use ratelimit_spec::Algorithm;

use super::{Limit, limits};
use crate::algorithm::{Denial, END_OF_TIME};

/// A call that waits.
struct Waiter {
    cost: u32,
    since: u64,
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    /// However late the line is moved on, the queue takes in what the meter admits, and lets it through at its turn.
    #[test]
    fn a_queue_admits_what_a_meter_admits_and_lets_it_through_evenly(
        limit in limits(&[Algorithm::LeakyBucket]),
        arrivals in prop::collection::vec((0..=24_u64, 0..=3_u64, 1..=4_u32, any::<bool>()), 1..60),
    ) {
        let plan = limit.plan(0);
        let (mut queue, mut meter) = (plan.fresh(), plan.fresh());
        let mut line: Vec<Waiter> = Vec::new();
        let mut now = 0;
        let mut turns: Vec<(u64, u32)> = Vec::new();
        for (sixteenths, nanoseconds, cost, looks_in_between) in arrivals {
            now = (now + limit.window / 16 * sixteenths + nanoseconds).min(END_OF_TIME);
            if looks_in_between {
                plan.charge(&mut queue, now, 0, limit.capacity()).unwrap();
            }
            while let Some(first) = line.first() {
                match plan.charge_in_turn(&mut queue, now, first.since, first.cost, limit.capacity()) {
                    Ok(charged) => turns.push((charged.at, first.cost)),
                    Err(Denial::Exceeded { ready_at }) => {
                        prop_assert!(ready_at > now);
                        break;
                    }
                    Err(Denial::CostExceedsCapacity) => unreachable!("it fitted when it came"),
                }
                line.remove(0);
            }
            let waiting = line.iter().map(|waiter| u64::from(waiter.cost)).sum();
            let joins_at = plan.joins_at(&queue, now, waiting, cost, limit.capacity());
            match plan.charge(&mut meter, now, cost, limit.capacity()) {
                Ok(_) => {
                    prop_assert_eq!(joins_at, Some(now));
                    line.push(Waiter { cost, since: now });
                }
                Err(Denial::Exceeded { ready_at }) => prop_assert_eq!(joins_at, Some(ready_at)),
                Err(Denial::CostExceedsCapacity) => prop_assert_eq!(joins_at, None),
            }
        }
        check_spacing(limit, &turns)?;
    }
}

fn check_spacing(limit: Limit, turns: &[(u64, u32)]) -> Result<(), TestCaseError> {
    for (&(earlier, cost), &(later, _)) in turns.iter().zip(turns.iter().skip(1)) {
        let apart = u128::from(cost) * u128::from(limit.window) / u128::from(limit.max);
        prop_assert!(u128::from(later - earlier) >= apart, "{earlier} and {later}");
    }
    Ok(())
}
