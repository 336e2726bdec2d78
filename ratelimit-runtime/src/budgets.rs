//! All budgets of one limit: the only one, or one for every key.
//!
//! Calls of a limit without keys carry [`Key::NONE`], and their only budget does not look at it.

mod allotment;
mod meter;
mod only;

use std::sync::Arc;

use ratelimit_spec::LimitSpec;

pub(crate) use self::only::Only;

use crate::{
    algorithm::{Grain, Lag, State},
    budget::{Budget, Charge, Place, Refunded, Refusal},
    demand::Demand,
    key::Key,
    rules::Rules,
    table::Table,
};

#[expect(clippy::large_enum_variant, reason = "there is one to a limit, and it is not moved")]
pub(crate) enum Budgets {
    Only(Only),
    Keyed(Table),
}

/// See [`Budgets::hold`].
pub(crate) struct Held<'a> {
    budgets: &'a Budgets,
}

impl Held<'_> {
    fn tell(&self, begins: bool) {
        match self.budgets {
            Budgets::Only(only) => only.hold(begins),
            Budgets::Keyed(table) => table.hold(begins),
        }
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.tell(false);
    }
}

impl Budgets {
    pub(crate) fn only(rules: Rules) -> Self {
        Budgets::Only(Only::new(rules))
    }

    fn rules(&self, now: u64) -> Arc<Rules> {
        match self {
            Budgets::Only(only) => only.copy(now).0,
            Budgets::Keyed(table) => table.rules(),
        }
    }

    pub(crate) fn grain(&self) -> Grain {
        match self {
            Budgets::Only(_) => Grain::FINE,
            Budgets::Keyed(_) => Grain::DECLARED,
        }
    }

    /// Decides about a call that no other limit decides about: it may be refunded, and is never undone.
    pub(crate) fn charge_alone(&self, key: &Key, now: u64, demand: &Demand) -> Result<Charge, Refusal> {
        match self {
            Budgets::Only(only) => only.charge_alone(now, demand),
            Budgets::Keyed(table) => table.charge(key, now, demand),
        }
    }

    /// Decides about one call and charges it, all or nothing. Nobody who waits in line is passed.
    pub(crate) fn charge(&self, key: &Key, now: u64, demand: &Demand) -> Result<Charge, Refusal> {
        match self {
            Budgets::Only(only) => only.charge(now, demand),
            Budgets::Keyed(table) => table.charge(key, now, demand),
        }
    }

    /// Charges the call that is first in line at `place`, whose turn came at `turn`. `None` if that budget is gone, which
    /// its line prevents.
    pub(crate) fn charge_first(
        &self,
        place: Place,
        now: u64,
        turn: u64,
        demand: &Demand,
    ) -> Option<Result<Charge, Refusal>> {
        self.at(place, now, |rules, now, budget| budget.charge_first(rules, now, turn, place, demand))
    }

    /// When the call that is first in line at `place` would be admitted, if nothing else happens; `None`: never.
    pub(crate) fn ready_at(&self, place: Place, now: u64, demand: &Demand) -> Option<u64> {
        self.time_at(place, now, |rules, state, now| rules.ready_at(state, now, demand))
    }

    /// When a call may stand in line at `place`, where those in line wait for `waiting` permits; `None`: never.
    pub(crate) fn joins_at(&self, place: Place, now: u64, waiting: u64, demand: &Demand) -> Option<u64> {
        self.time_at(place, now, |rules, state, now| rules.joins_at(state, now, waiting, demand))
    }

    fn time_at(
        &self,
        place: Place,
        now: u64,
        when: impl FnOnce(&Rules, &State, u64) -> Option<u64>,
    ) -> Option<u64> {
        let time = self.at(place, now, |rules, now_there, budget| {
            let time = when(rules, budget.state(), now_there)?;
            // A clock that lags behind what the budget has seen waits no longer than it takes to be admitted.
            Some(if time <= now_there { now } else { time })
        });
        time.unwrap_or(Some(now))
    }

    /// The budget that decides about `key` now.
    pub(crate) fn place_of(&self, key: &Key, now: u64) -> Place {
        match self {
            Budgets::Only(_) => Place::Only,
            Budgets::Keyed(table) => table.place_of(key, now),
        }
    }

    /// Acts on the budget at `place`, if it is still there.
    fn at<R>(&self, place: Place, now: u64, act: impl FnOnce(&Rules, u64, &mut Budget) -> R) -> Option<R> {
        match self {
            Budgets::Only(only) => Some(only.act(now, |rules, budget| act(rules, now, budget))),
            Budgets::Keyed(table) => table.at(place, now, act),
        }
    }

    pub(crate) fn refund(&self, charge: &Charge, now: u64) -> Refunded {
        self.give_back(charge, now, |rules, now, budget| budget.refund(rules, now, charge))
    }

    /// Takes back a charge of a call that another limit denies.
    pub(crate) fn undo(&self, charge: &Charge, now: u64) -> Refunded {
        self.give_back(charge, now, |rules, now, budget| budget.undo(rules, now, charge))
    }

    /// Gives back where the call was charged, and where a copy of that has gone since.
    fn give_back(
        &self,
        charge: &Charge,
        now: u64,
        give_back: impl Fn(&Rules, u64, &mut Budget) -> Refunded,
    ) -> Refunded {
        let refunded = self.at(charge.place, now, &give_back).unwrap_or_default();
        match charge.sharer.and_then(|key| self.at(Place::Own(key), now, &give_back)) {
            Some(in_copy) => refunded.and(in_copy),
            None => refunded,
        }
    }

    /// Opens a line at the budget of `key`: from now on only those who stand in it are charged.
    pub(crate) fn open_line(&self, key: &Key, now: u64) -> Place {
        match self {
            Budgets::Only(only) => {
                only.act(now, |_, budget| budget.set_queued(true));
                Place::Only
            }
            Budgets::Keyed(table) => table.open_line(key, now),
        }
    }

    pub(crate) fn close_line(&self, place: Place, now: u64) {
        self.at(place, now, |_, _, budget| budget.set_queued(false));
    }

    /// Looks at the budget that decides about `key`, without making one: its rules, its state, and the time as it
    /// counts there.
    pub(crate) fn look<R>(&self, key: &Key, now: u64, look: impl FnOnce(&Rules, &State, u64) -> R) -> R {
        match self {
            Budgets::Only(only) => only.act(now, |rules, budget| look(rules, budget.state(), now)),
            Budgets::Keyed(table) => table.look(key, now, look),
        }
    }

    /// Where callers stand in line for `key`, if any do.
    pub(crate) fn line_of(&self, key: &Key, now: u64) -> Option<Place> {
        match self {
            Budgets::Only(only) => only.act(now, |_, budget| budget.is_queued()).then_some(Place::Only),
            Budgets::Keyed(table) => table.line_of(key),
        }
    }

    /// A copy of the budget at `place`, to try out what is to come.
    pub(crate) fn copy(&self, place: Place, now: u64) -> (Arc<Rules>, State) {
        match self {
            Budgets::Only(only) => only.copy(now),
            Budgets::Keyed(table) => table.copy(place),
        }
    }

    /// Forgets every charge of every key.
    pub(crate) fn reset(&self, now: u64) {
        match self {
            Budgets::Only(only) => only.act(now, |rules, budget| budget.renew(rules)),
            Budgets::Keyed(table) => table.reset(now),
        }
    }

    /// Forgets every charge of one key.
    pub(crate) fn reset_key(&self, key: &Key, now: u64) {
        match self {
            Budgets::Only(_) => {}
            Budgets::Keyed(table) => table.reset_key(key, now),
        }
    }

    /// Has every call pass a lock, until this is dropped.
    ///
    /// Those who take without it tell nobody the time by which they did. So whoever wants to know a time that is not before
    /// any charge, holds the budgets before looking at the clock.
    pub(crate) fn hold(&self) -> Held<'_> {
        let held = Held { budgets: self };
        held.tell(true);
        held
    }

    /// Puts other rules in force, and keeps what is in use; says what they make of a clock that lags by `lag`. No two changes at
    /// the same time.
    pub(crate) fn set_spec(&self, spec: LimitSpec, lag: u64, now: u64) -> Lag {
        let rules = self.rules(now).changed(spec, self.grain().with_lag(lag), now);
        let allowed = rules.plan.lag();
        match self {
            Budgets::Only(only) => only.set_rules(rules, now),
            Budgets::Keyed(table) => table.set_rules(&Arc::new(rules), now),
        }
        allowed
    }

    /// Calls that were admitted and not counted by whoever asked for them.
    pub(crate) fn admitted(&self, now: u64) -> u64 {
        match self {
            Budgets::Only(only) => only.admitted(now),
            Budgets::Keyed(table) => table.admitted(),
        }
    }

    pub(crate) fn table(&self) -> Option<&Table> {
        match self {
            Budgets::Only(_) => None,
            Budgets::Keyed(table) => Some(table),
        }
    }
}
