//! What the tests of the algorithms have in common: one budget of a limit, asked at given instants.

use super::{Denial, Grain, LONGEST_WINDOW, Plan, State};

pub(super) const SECOND: u64 = 1_000_000_000;
pub(super) const MS: u64 = 1_000_000;
pub(super) const YEAR: u64 = LONGEST_WINDOW / 100;

/// What a call is told: permits that remain, or when to come again.
pub(super) type Answer = Result<u32, Option<u64>>;

#[derive(Clone)]
pub(super) struct Budget {
    pub(super) plan: Plan,
    pub(super) state: State,
    capacity: u32,
}

impl Budget {
    /// A budget of a limit that is made at 0.
    pub(super) fn new(limit: &str) -> Self {
        Self::born_at(limit, 0)
    }

    pub(super) fn born_at(limit: &str, now: u64) -> Self {
        let spec = limit.parse().unwrap();
        let plan = Plan::new(&spec, Grain::DECLARED, now);
        Self { state: plan.fresh(), plan, capacity: spec.burst() }
    }

    pub(super) fn ask(&mut self, at: u64, cost: u32) -> Answer {
        self.ask_of(at, cost, self.capacity)
    }

    pub(super) fn ask_of(&mut self, at: u64, cost: u32, capacity: u32) -> Answer {
        let promised = self.plan.ready_at(&self.state, at, cost, capacity);
        match self.plan.charge(&mut self.state, at, cost, capacity) {
            Ok(charged) => {
                assert_eq!(promised, Some(at));
                Ok(charged.remaining)
            }
            Err(denial) => {
                let ready_at = match denial {
                    Denial::Exceeded { ready_at } => Some(ready_at),
                    Denial::CostExceedsCapacity => None,
                };
                assert_eq!(promised, ready_at);
                Err(ready_at)
            }
        }
    }

    /// Charges, and gives the instant that a refund asks for.
    pub(super) fn charge(&mut self, at: u64, cost: u32) -> u64 {
        self.plan.charge(&mut self.state, at, cost, self.capacity).unwrap().at
    }

    pub(super) fn refund(&mut self, at: u64, charged_at: u64, cost: u32) -> u32 {
        self.plan.refund(&mut self.state, at, charged_at, cost)
    }

    pub(super) fn used(&self, at: u64) -> u32 {
        self.plan.used(&self.state, at)
    }

    pub(super) fn clear_at(&self, at: u64) -> u64 {
        self.plan.clear_at(&self.state, at)
    }

    /// The limit is changed.
    pub(super) fn change(&mut self, at: u64, limit: &str) {
        let spec = limit.parse().unwrap();
        let plan = self.plan.changed(&spec, Grain::DECLARED, at);
        self.state = plan.convert(self.state.clone(), &self.plan, at);
        (self.plan, self.capacity) = (plan, spec.burst());
    }
}

/// Asks a new budget, call by call: at, cost, and what is expected.
#[track_caller]
pub(super) fn check(limit: &str, calls: &[(u64, u32, Answer)]) {
    let mut budget = Budget::new(limit);
    for &(at, cost, expected) in calls {
        assert_eq!(budget.ask(at, cost), expected, "cost {cost} at {at}");
    }
}
