//! The budget of a limit without keys.

use std::sync::Arc;

use super::{
    allotment::Allotment,
    meter::{Meter, SetOut},
};
use crate::{
    algorithm::State,
    budget::{Budget, Charge, Place, Refusal, Take, Terms},
    demand::Demand,
    rules::Rules,
    sync::{Mutex, lock, race_point},
};

/// A budget under a lock, with an [`Allotment`] in front that most calls need not pass.
pub(crate) struct Only {
    allotment: Allotment,
    meter: Meter,
    inside: Mutex<Inside>,
}

pub(super) struct Inside {
    rules: Arc<Rules>,
    budget: Budget,
    /// What has been set out, and not been taken in again.
    set_out: Option<Terms>,
    /// What has last been set out to the meter.
    metered: Option<SetOut>,
    /// Where the latest of all openings ends: none may end before it.
    opened_until: u64,
    /// Calls that took their permit from the allotment.
    admitted: u64,
    /// While this is above 0, nothing is set out.
    holds: u32,
}

impl Only {
    pub(super) fn new(rules: Rules) -> Self {
        let budget = Budget::new(rules.plan.fresh(), 0);
        let inside = Inside {
            rules: Arc::new(rules),
            budget,
            set_out: None,
            metered: None,
            opened_until: 0,
            admitted: 0,
            holds: 0,
        };
        Self { allotment: Allotment::closed(), meter: Meter::closed(), inside: Mutex::new(inside) }
    }

    #[inline(always)]
    pub(crate) fn take(&self, now: u64) -> Take<()> {
        self.take_at_hand(now).map(|_| ())
    }

    /// The same, such that it can be undone.
    #[inline(always)]
    pub(crate) fn take_at_hand(&self, now: u64) -> Take {
        self.allotment.take(now)
    }

    #[inline]
    pub(crate) fn is_metered(&self) -> bool {
        self.meter.is_open()
    }

    #[inline(always)]
    pub(crate) fn take_by_meter(&self, now: u64, lag: u64) -> Take<()> {
        self.meter.take(now, lag).map(|_| ())
    }

    /// Charges a call that no other limit decides about: without a lock, if that is plain.
    pub(super) fn charge_alone(&self, now: u64, demand: &Demand) -> Result<Charge, Refusal> {
        if demand.is_for_one_permit() {
            if let Take::Taken(taken) = self.allotment.take(now) {
                return Ok(Charge::counted(Place::Only, taken));
            }
            if let Take::Taken(taken) = self.meter.take(now, 0) {
                return Ok(Charge::uncounted(Place::Only, taken));
            }
        }
        self.charge_under_lock(now, demand)
    }

    /// Charges a call such that it can be undone.
    pub(super) fn charge(&self, now: u64, demand: &Demand) -> Result<Charge, Refusal> {
        if demand.is_for_one_permit()
            && let Take::Taken(taken) = self.allotment.take(now)
        {
            return Ok(Charge::counted(Place::Only, taken));
        }
        self.charge_under_lock(now, demand)
    }

    fn charge_under_lock(&self, now: u64, demand: &Demand) -> Result<Charge, Refusal> {
        self.act(now, |rules, budget| budget.charge(rules, now, Place::Only, demand))
    }

    /// Acts on the budget, with all that was set out taken in.
    #[cold]
    pub(crate) fn act<R>(&self, now: u64, act: impl FnOnce(&Rules, &mut Budget) -> R) -> R {
        self.enter(now, |inside| act(&inside.rules, &mut inside.budget))
    }

    pub(super) fn copy(&self, now: u64) -> (Arc<Rules>, State) {
        self.enter(now, |inside| (inside.rules.clone(), inside.budget.state().clone()))
    }

    pub(super) fn set_rules(&self, rules: Rules, now: u64) {
        let rules = Arc::new(rules);
        self.enter(now, |inside| {
            inside.budget.convert(&rules, &inside.rules, now);
            inside.rules = rules;
        });
    }

    /// Has every call pass the lock, until as many holds have ended as have begun.
    pub(super) fn hold(&self, begins: bool) {
        let inside = &mut *lock(&self.inside);
        inside.take_in(self);
        inside.holds = if begins { inside.holds + 1 } else { inside.holds.saturating_sub(1) };
    }

    /// Calls admitted so far without passing the lock; nobody else counts them.
    pub(super) fn admitted(&self, now: u64) -> u64 {
        self.enter(now, |inside| inside.admitted)
    }

    fn enter<R>(&self, now: u64, act: impl FnOnce(&mut Inside) -> R) -> R {
        race_point();
        let inside = &mut *lock(&self.inside);
        inside.take_in(self);
        let result = act(inside);
        inside.set_out(self, now);
        result
    }
}

impl Inside {
    fn take_in(&mut self, only: &Only) {
        if let Some(terms) = self.set_out.take() {
            let taken = terms.permits - only.allotment.close();
            self.admitted += u64::from(taken);
            self.budget.charge_taken(&self.rules, &terms, taken);
        }
        if let Some(metered) = self.metered.as_ref().and_then(|set_out| only.meter.close(set_out)) {
            self.budget.read_meter(&self.rules, &metered);
        }
    }

    fn set_out(&mut self, only: &Only, now: u64) {
        if self.holds > 0 {
            return;
        }
        // Nothing is allotted if a change of the limit made an end come sooner than one that callers may have read, or a
        // clock stepped back, until that one has passed.
        let opened_until = self.opened_until;
        self.set_out = self.budget.terms(&self.rules, now).filter(|terms| terms.until >= opened_until);
        if let Some(terms) = &self.set_out {
            self.opened_until = terms.until;
            only.allotment.open(terms);
        }
        if let Some(metered) = self.budget.metered(&self.rules, now)
            && let Some(set_out) = only.meter.open(&metered, self.budget.life(), self.metered)
        {
            self.metered = Some(set_out);
        }
    }
}
