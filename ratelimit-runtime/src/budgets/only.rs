//! The budget of a limit without keys.

use std::sync::Arc;

use super::allotment::Allotment;
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
    inside: Mutex<Inside>,
}

pub(super) struct Inside {
    rules: Arc<Rules>,
    budget: Budget,
    /// What has been set out, and not been taken in again.
    set_out: Option<Terms>,
    /// Where the latest of all openings ends: none may end before it.
    opened_until: u64,
    /// Calls that took their permit from the allotment.
    admitted: u64,
}

impl Only {
    pub(super) fn new(rules: Rules) -> Self {
        let budget = Budget::new(rules.plan.fresh(), 0);
        let inside = Inside { rules: Arc::new(rules), budget, set_out: None, opened_until: 0, admitted: 0 };
        Self { allotment: Allotment::closed(), inside: Mutex::new(inside) }
    }

    #[inline(always)]
    pub(super) fn take(&self, now: u64) -> Take {
        self.allotment.take(now)
    }

    pub(super) fn charge(&self, now: u64, demand: &Demand) -> Result<Charge, Refusal> {
        if demand.is_for_one_permit()
            && let Take::Taken { left, from, life } = self.allotment.take(now)
        {
            return Ok(Charge::counted(Place::Only, from, life, left));
        }
        self.act(now, |rules, budget| budget.charge(rules, now, Place::Only, demand))
    }

    /// Acts on the budget, with all that was set out taken in.
    #[cold]
    pub(super) fn act<R>(&self, now: u64, act: impl FnOnce(&Rules, &mut Budget) -> R) -> R {
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

    /// Calls admitted so far without passing the lock; nobody else counts them.
    pub(super) fn admitted(&self, now: u64) -> u64 {
        self.enter(now, |inside| inside.admitted)
    }

    fn enter<R>(&self, now: u64, act: impl FnOnce(&mut Inside) -> R) -> R {
        race_point();
        let inside = &mut *lock(&self.inside);
        inside.take_in(&self.allotment);
        let result = act(inside);
        inside.set_out(&self.allotment, now);
        result
    }
}

impl Inside {
    fn take_in(&mut self, allotment: &Allotment) {
        let Some(terms) = self.set_out.take() else { return };
        let taken = terms.permits - allotment.close();
        self.admitted += u64::from(taken);
        self.budget.charge_taken(&self.rules, &terms, taken);
    }

    /// Nothing is set out if a change of the limit made an end come sooner than one that callers may have read, or a clock
    /// stepped back, until that one has passed.
    fn set_out(&mut self, allotment: &Allotment, now: u64) {
        let opened_until = self.opened_until;
        self.set_out = self.budget.terms(&self.rules, now).filter(|terms| terms.until >= opened_until);
        if let Some(terms) = &self.set_out {
            self.opened_until = terms.until;
            allotment.open(terms);
        }
    }
}
