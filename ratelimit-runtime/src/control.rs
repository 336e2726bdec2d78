//! What is done to a limit besides deciding: it is changed, emptied, given something back, looked at.
//!
//! Those who wait for it are told, so that they need not look for themselves; and where its budgets are in a store, the
//! same is done there.

use ratelimit_spec::{LimitSpec, Mode, SpecError};

use crate::{
    budget::{Charge, Place, Refunded, Taken},
    budgets::Budgets,
    demand::Demand,
    key::Key,
    limit::Limit,
    lines, store,
};

impl Limit {
    /// Puts another limit in force.
    pub(crate) fn set_spec(&self, spec: LimitSpec) -> Result<(), SpecError> {
        let now = self.change_spec(spec)?;
        if self.stored().is_some() {
            store::changed(self);
        }
        lines::limit_changed(self, now);
        Ok(())
    }

    pub(crate) fn set_mode(&self, mode: Mode) {
        self.change_mode(mode);
        if self.stored().is_some() {
            store::changed(self);
        }
        if mode != Mode::Enforce {
            lines::limit_released(self, mode, self.precise_now());
        }
    }

    pub(crate) fn reset(&self) {
        store::reset_all(self);
        let now = self.precise_now();
        self.budgets.reset(now);
        lines::limit_changed(self, now);
    }

    pub(crate) fn reset_key(&self, key: &Key) {
        store::reset_key(self, *key);
        let now = self.precise_now();
        self.budgets.reset_key(key, now);
        if let Some(place) = self.budgets.line_of(key, now) {
            lines::budget_emptied(self, place, now);
        }
    }

    /// Gives back what an admitted call was charged, and says how many permits that freed.
    pub(crate) fn refund(&self, charge: &Charge) -> u32 {
        self.give_back(charge, Budgets::refund)
    }

    /// Takes a charge back because the call was denied after all.
    pub(crate) fn withdraw(&self, charge: &Charge) {
        if let Some((key, receipt)) = charge.receipt() {
            return store::undo(self, key, charge.cost, receipt);
        }
        if charge.counted {
            self.counters.withdrawn(1);
        }
        self.give_back(charge, Budgets::undo);
    }

    /// Puts back a permit that was at hand: as if the call had not come.
    #[cold]
    pub(crate) fn put_back(&self, key: Option<&Key>, taken: Taken) {
        let place = key.map_or(Place::Only, |key| Place::Own(*key));
        self.withdraw(&Charge::counted(place, taken));
    }

    fn give_back(&self, charge: &Charge, how: impl FnOnce(&Budgets, &Charge, u64) -> Refunded) -> u32 {
        if charge.cost == 0 {
            return 0;
        }
        if let Some((key, receipt)) = charge.receipt() {
            return store::refund(self, key, charge.cost, receipt);
        }
        let refunded = how(&self.budgets, charge, self.now());
        for place in refunded.queued {
            lines::budget_emptied(self, place, self.precise_now());
        }
        refunded.permits
    }

    pub(crate) fn used(&self, key: &Key) -> u32 {
        if let Some(used) = store::used(self, *key) {
            return used;
        }
        self.budgets.look(key, self.now(), |rules, state, now| rules.plan.used(state, now))
    }

    pub(crate) fn remaining(&self, key: &Key) -> u32 {
        if let Some(used) = store::used(self, *key) {
            return Demand::new(0).capacity(&self.spec()).saturating_sub(used);
        }
        self.budgets.look(key, self.now(), |rules, state, now| rules.remaining(state, now, &Demand::new(0)))
    }
}
