//! What one call asks of one limit, while that is decided.

use std::sync::Arc;

use ratelimit_spec::Mode;

use crate::{
    budget::{Charge, Place, Refusal},
    demand::Demand,
    key::Key,
    limit::Limit,
};

/// A request while it is decided.
pub(crate) struct Claim<'a> {
    pub(crate) limit: &'a Arc<Limit>,
    pub(crate) key: Key,
    pub(crate) demand: Demand,
    pub(crate) role: Role,
    pub(crate) charge: Option<Charge>,
    /// The limit itself stood against the call when that was denied, or would have been.
    pub(crate) refuses: bool,
    /// The limit's store did not decide.
    pub(crate) store_failed: bool,
}

/// How a limit takes part in a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// The call is not limited here, and not counted.
    Free,
    /// Charges as if it were enforced, and denies nothing.
    Shadow,
    Enforced,
    /// A store decides, after all limits of this process have.
    Stored,
    /// A store is asked as if it decided.
    StoredShadow,
}

impl Role {
    fn under(mode: Mode) -> Self {
        match mode {
            Mode::Enforce => Role::Enforced,
            Mode::Shadow => Role::Shadow,
            Mode::Off => Role::Free,
        }
    }

    fn of(limit: &Limit) -> Self {
        match Self::under(limit.mode()) {
            Role::Enforced if limit.stored().is_some() => Role::Stored,
            Role::Shadow if limit.stored().is_some() => Role::StoredShadow,
            role => role,
        }
    }

    pub(crate) fn is_shadow(self) -> bool {
        matches!(self, Role::Shadow | Role::StoredShadow)
    }
}

impl<'a> Claim<'a> {
    pub(crate) fn new(limit: &'a Arc<Limit>, key: Key, demand: Demand) -> Self {
        Self { limit, key, demand, role: Role::of(limit), charge: None, refuses: false, store_failed: false }
    }

    /// One that the limit does not look at.
    pub(crate) fn free(limit: &'a Arc<Limit>) -> Self {
        Self { role: Role::Free, ..Self::new(limit, Key::NONE, Demand::new(0)) }
    }

    /// A store has a say in it.
    pub(crate) fn is_stored(&self) -> bool {
        matches!(self.role, Role::Stored | Role::StoredShadow)
    }

    /// Begins anew, by what is in force now.
    pub(crate) fn renew(&mut self) {
        if self.role != Role::Free {
            self.role = Role::of(self.limit);
        }
        (self.charge, self.refuses, self.store_failed) = (None, false, false);
    }

    pub(crate) fn is_of_limit(&self, other: &Self) -> bool {
        Arc::ptr_eq(self.limit, other.limit)
    }

    /// Both are charged to one budget.
    pub(crate) fn meets(&self, other: &Self) -> bool {
        let both_charge = self.role == Role::Enforced && other.role == Role::Enforced;
        both_charge && self.is_of_limit(other) && (self.key == other.key || self.place() == other.place())
    }

    fn place(&self) -> Place {
        self.limit.budgets.place_of(&self.key, self.limit.now())
    }

    pub(crate) fn charge(&mut self, number: usize) -> Result<(), Refused> {
        let now = self.limit.now();
        let charged = self.limit.budgets.charge(&self.key, now, &self.demand);
        self.take_note(charged, number, now)
    }

    pub(crate) fn charge_alone(&mut self) -> Result<(), Refused> {
        let now = self.limit.now();
        let charged = self.limit.budgets.charge_alone(&self.key, now, &self.demand);
        self.take_note(charged, 0, now)
    }

    fn take_note(&mut self, charged: Result<Charge, Refusal>, claim: usize, now: u64) -> Result<(), Refused> {
        let charge = charged.map_err(|refusal| Refused { claim, refusal, now })?;
        self.charge = Some(charge);
        Ok(())
    }

    pub(crate) fn count_admission(&self) {
        if self.charge.is_none_or(|charge| !charge.counted) {
            self.limit.counters.allowed();
        }
    }

    /// Its role, if the limit has been relaxed since it was made.
    pub(crate) fn role_now(&self) -> Role {
        match self.role {
            Role::Enforced => Role::of(self.limit),
            role => role,
        }
    }
}

/// Which claim was refused, why, and when.
pub(crate) struct Refused {
    pub(crate) claim: usize,
    pub(crate) refusal: Refusal,
    pub(crate) now: u64,
}
