//! A limit as it is in force: what was declared, and the plan made of it.

use ratelimit_spec::LimitSpec;

use crate::{
    algorithm::{Charged, Denial, Grain, Plan, State},
    demand::Demand,
};

#[derive(Debug)]
pub(crate) struct Rules {
    pub(crate) spec: LimitSpec,
    pub(crate) plan: Plan,
}

impl Rules {
    /// For a limit that is made at `now`.
    pub(crate) fn new(spec: LimitSpec, grain: Grain, now: u64) -> Self {
        Self { plan: Plan::new(&spec, grain, now), spec }
    }

    /// For the same limit, changed at `now`.
    pub(crate) fn changed(&self, spec: LimitSpec, grain: Grain, now: u64) -> Self {
        Self { plan: self.plan.changed(&spec, grain, now), spec }
    }

    /// Charges a call. If it waits, its turn came at `turn`, perhaps before anybody looked.
    pub(crate) fn charge(
        &self,
        state: &mut State,
        now: u64,
        turn: u64,
        demand: &Demand,
    ) -> Result<Charged, Denial> {
        let capacity = demand.capacity(&self.spec);
        if demand.waits {
            self.plan.charge_in_turn(state, now, turn, demand.cost, capacity)
        } else {
            self.plan.charge(state, now, demand.cost, capacity)
        }
    }

    /// The first instant, not before `now`, at which a call would be charged, if nothing else happens. `None`: never.
    pub(crate) fn ready_at(&self, state: &State, now: u64, demand: &Demand) -> Option<u64> {
        let capacity = demand.capacity(&self.spec);
        if demand.waits {
            self.plan.turn_at(state, now, demand.cost, capacity)
        } else {
            self.plan.ready_at(state, now, demand.cost, capacity)
        }
    }

    /// The first instant, not before `now`, at which a call may join those who wait in line for `waiting` permits.
    pub(crate) fn joins_at(&self, state: &State, now: u64, waiting: u64, demand: &Demand) -> Option<u64> {
        let capacity = demand.capacity(&self.spec);
        self.plan.joins_at(state, now, waiting, demand.cost, capacity)
    }

    /// Permits left of those that a call may use.
    pub(crate) fn remaining(&self, state: &State, now: u64, demand: &Demand) -> u32 {
        demand.capacity(&self.spec).saturating_sub(self.plan.used(state, now))
    }
}
