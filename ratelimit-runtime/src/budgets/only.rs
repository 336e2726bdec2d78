//! The budget of a limit without keys.

use std::sync::Arc;

use ratelimit_spec::LimitSpec;

use super::allotment::{Allotment, Take};
use crate::{
    algorithm::State,
    budget::{Budget, Cause, Charge, Place, Refusal, Terms},
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
    /// Calls that took their permit from the allotment.
    admitted: u64,
}

impl Only {
    pub(super) fn new(rules: Rules) -> Self {
        let budget = Budget::new(rules.plan.fresh(), 0);
        let inside = Inside { rules: Arc::new(rules), budget, set_out: None, admitted: 0 };
        Self { allotment: Allotment::closed(), inside: Mutex::new(inside) }
    }

    #[inline]
    pub(super) fn charge(&self, now: u64, demand: &Demand) -> Result<Charge, Refusal> {
        if demand.is_for_one_permit() {
            match self.allotment.take(now) {
                Take::Taken { left, from, life } => {
                    return Ok(Charge::counted(Place::Only, from, life, left));
                }
                Take::Denied { ready_at } => {
                    return Err(Refusal {
                        cause: Cause::Exceeded { ready_at },
                        spec: self.spec(),
                        remaining: 0,
                    });
                }
                Take::Ask => {}
            }
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

    fn spec(&self) -> LimitSpec {
        lock(&self.inside).rules.spec
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

    fn set_out(&mut self, allotment: &Allotment, now: u64) {
        self.set_out = self.budget.terms(&self.rules, now);
        if let Some(terms) = &self.set_out {
            allotment.open(terms);
        }
    }
}
