//! One budget: what has been charged to it, and whether callers wait in line for it.

use ratelimit_spec::LimitSpec;
use smallvec::SmallVec;

use crate::{
    algorithm::{Allowance, Denial, Metered, State, Trace},
    demand::Demand,
    key::Key,
    rules::Rules,
    store::StoreReceipt,
};

/// Which of a limit's budgets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Place {
    /// The only one.
    Only,
    /// A key's own.
    Own(Key),
    /// One of those that keys share while all own budgets are in use.
    Overflow(u16),
}

/// The record of a charge: enough to give it back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Charge {
    pub(crate) place: Place,
    pub(crate) cost: u32,
    /// The instant from which it counts.
    pub(crate) at: u64,
    /// What an undo asks for besides.
    pub(crate) trace: Trace,
    /// The life of the budget that it was made in.
    life: u64,
    pub(crate) remaining: u32,
    /// The budget counts the call as admitted.
    pub(crate) counted: bool,
    /// It was made in a store: `at` and `life` are the store's receipt.
    stored: bool,
    /// The key that was charged, where its budget is shared: it may have one of its own by the time of a refund.
    pub(crate) sharer: Option<Key>,
}

impl Charge {
    /// One permit that was set out to be taken.
    pub(crate) fn counted(place: Place, taken: Taken) -> Self {
        let Taken { left: remaining, from: at, life } = taken;
        Self {
            place,
            cost: 1,
            at,
            trace: Trace::of_none(at),
            life,
            remaining,
            counted: true,
            stored: false,
            sharer: None,
        }
    }

    /// One made in a store.
    pub(crate) fn in_store(key: Key, cost: u32, remaining: u32, receipt: StoreReceipt) -> Self {
        let StoreReceipt([at, life]) = receipt;
        let place = Place::Own(key);
        let trace = Trace::of_none(at);
        Self { place, cost, at, trace, life, remaining, counted: false, stored: true, sharer: None }
    }

    /// The key, and what the store told, if it was made in one.
    pub(crate) fn receipt(&self) -> Option<(Key, StoreReceipt)> {
        match self.place {
            Place::Own(key) if self.stored => Some((key, StoreReceipt([self.at, self.life]))),
            _ => None,
        }
    }

    /// One permit of a budget that refills steadily.
    pub(crate) fn uncounted(place: Place, taken: Taken) -> Self {
        Self { counted: false, ..Self::counted(place, taken) }
    }

    pub(crate) fn of_cost(self, cost: u32) -> Self {
        Self { cost, ..self }
    }

    /// Remembers the key where the budget is shared.
    pub(crate) fn of_key(self, key: Key) -> Self {
        let is_shared = matches!(self.place, Place::Overflow(_));
        Self { sharer: is_shared.then_some(key), ..self }
    }

    /// That of a call with a cost of 0: it only looks, and there is nothing to give back.
    pub(crate) fn of_nothing(rules: &Rules, state: &State, now: u64, place: Place, demand: &Demand) -> Self {
        let remaining = rules.remaining(state, now, demand);
        Self {
            place,
            cost: 0,
            at: now,
            trace: Trace::of_none(now),
            life: 0,
            remaining,
            counted: false,
            stored: false,
            sharer: None,
        }
    }
}

/// Why a budget admitted nothing, and how it stood.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Refusal {
    pub(crate) cause: Cause,
    pub(crate) spec: LimitSpec,
    pub(crate) remaining: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// Too much is in use until then.
    Exceeded { ready_at: u64 },
    /// The cost is more than the call may ever use.
    CostExceedsCapacity,
    /// Others wait in line there.
    Queued { at: Place },
}

/// What a refund did.
#[derive(Clone, Debug, Default)]
pub(crate) struct Refunded {
    pub(crate) permits: u32,
    /// Where somebody waits and may now be admitted.
    pub(crate) queued: SmallVec<[Place; 2]>,
}

impl Refunded {
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.permits = self.permits.max(other.permits);
        self.queued.extend(other.queued);
        self
    }
}

/// What came of asking for one permit of the whole budget without a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Take<T = Taken> {
    /// Charged.
    Taken(T),
    /// Too much is in use until then.
    Denied { ready_at: u64 },
    /// Only the budget knows; or it must be asked with the exact time, where that was told roughly.
    Ask,
}

impl<T> Take<T> {
    #[inline]
    pub(crate) fn map<U>(self, taken: impl FnOnce(T) -> U) -> Take<U> {
        match self {
            Take::Taken(it) => Take::Taken(taken(it)),
            Take::Denied { ready_at } => Take::Denied { ready_at },
            Take::Ask => Take::Ask,
        }
    }
}

/// What was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Taken {
    pub(crate) left: u32,
    /// The instant from which it counts.
    pub(crate) from: u64,
    /// The life of the budget that was charged.
    pub(crate) life: u64,
}

/// What a budget sets out to be taken without asking it: the allotment of [`Only`](crate::budgets).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    pub(crate) permits: u32,
    pub(crate) until: u64,
    pub(crate) from: u64,
    pub(crate) life: u64,
    pub(crate) ready_at: u64,
}

#[derive(Debug)]
pub(crate) struct Budget {
    state: State,
    /// Drawn anew when the budget is emptied by hand: a permit of an earlier life gives nothing back.
    life: u64,
    /// An earlier life since which the budget was not emptied: lives of a table are drawn for many keys at once.
    oldest_life: u64,
    /// Callers wait in line, and nobody passes them.
    queued: bool,
    /// The life of the shared budget that this one is a copy of: what was charged in that life was charged here as well.
    copied_from: Option<u64>,
}

impl Budget {
    pub(crate) fn new(state: State, life: u64) -> Self {
        Self { state, life, oldest_life: life, queued: false, copied_from: None }
    }

    /// A budget for a key that has shared this one so far: it has used as much.
    pub(crate) fn copy(&self, life: u64) -> Self {
        Self { copied_from: Some(self.life), ..Self::new(self.state.clone(), life) }
    }

    /// Charges the call, unless others wait in line before it. A cost of 0 only looks, and passes everybody.
    pub(crate) fn charge(
        &mut self,
        rules: &Rules,
        now: u64,
        place: Place,
        demand: &Demand,
    ) -> Result<Charge, Refusal> {
        if self.queued && demand.cost > 0 && demand.cost <= demand.capacity(&rules.spec) {
            return Err(self.refusal(rules, now, demand, Cause::Queued { at: place }));
        }
        self.charge_first(rules, now, now, place, demand)
    }

    /// Charges the call that is first in line, whose turn came at `turn`.
    pub(crate) fn charge_first(
        &mut self,
        rules: &Rules,
        now: u64,
        turn: u64,
        place: Place,
        demand: &Demand,
    ) -> Result<Charge, Refusal> {
        match rules.charge(&mut self.state, now, turn, demand) {
            Ok(charged) => Ok(Charge {
                place,
                cost: demand.cost,
                at: charged.at,
                trace: charged.trace,
                life: self.life,
                remaining: charged.remaining,
                counted: false,
                stored: false,
                sharer: None,
            }),
            Err(Denial::Exceeded { ready_at }) => {
                Err(self.refusal(rules, now, demand, Cause::Exceeded { ready_at }))
            }
            Err(Denial::CostExceedsCapacity) => {
                Err(self.refusal(rules, now, demand, Cause::CostExceedsCapacity))
            }
        }
    }

    /// Takes one permit, if that is all there is to it.
    pub(crate) fn take(&mut self, rules: &Rules, now: u64) -> Take<()> {
        if self.queued {
            return Take::Ask;
        }
        match rules.charge(&mut self.state, now, now, &Demand::new(1)) {
            Ok(_) => Take::Taken(()),
            Err(Denial::Exceeded { ready_at }) => Take::Denied { ready_at },
            Err(Denial::CostExceedsCapacity) => Take::Ask,
        }
    }

    fn refusal(&self, rules: &Rules, now: u64, demand: &Demand, cause: Cause) -> Refusal {
        let remaining = rules.remaining(&self.state, now, demand);
        Refusal { cause, spec: demand.spec(&rules.spec), remaining }
    }

    /// What may be taken without asking; nothing while callers wait in line.
    pub(crate) fn terms(&mut self, rules: &Rules, now: u64) -> Option<Terms> {
        // A `max` that each call brings along is never set out.
        if self.queued || rules.spec.max() == u32::MAX {
            return None;
        }
        let Allowance { permits, from, until, ready_at } =
            rules.plan.allowance(&mut self.state, now, rules.spec.max())?;
        Some(Terms { permits, from, until, ready_at, life: self.life })
    }

    /// What a meter may charge without asking; nothing while callers wait in line.
    pub(crate) fn metered(&mut self, rules: &Rules, now: u64) -> Option<Metered> {
        if self.queued || rules.spec.max() == u32::MAX {
            return None;
        }
        rules.plan.metered(&mut self.state, now, rules.spec.burst())
    }

    /// Takes over what a meter has charged.
    pub(crate) fn read_meter(&mut self, rules: &Rules, metered: &Metered) {
        rules.plan.read_meter(&mut self.state, metered);
    }

    /// Charges what was taken.
    pub(crate) fn charge_taken(&mut self, rules: &Rules, terms: &Terms, taken: u32) {
        // There was room for it when it was set out, and nothing else has been charged since.
        _ = rules.plan.charge(&mut self.state, terms.from, taken, u32::MAX);
    }

    /// Gives back what a call was charged that went through.
    pub(crate) fn refund(&mut self, rules: &Rules, now: u64, charge: &Charge) -> Refunded {
        self.give_back(charge, |state| rules.plan.refund(state, now, charge.at, charge.cost))
    }

    /// Gives back what a call was charged that went through nowhere: as if it had not come.
    pub(crate) fn undo(&mut self, rules: &Rules, now: u64, charge: &Charge) -> Refunded {
        let Charge { at, trace, cost, .. } = charge;
        self.give_back(charge, |state| rules.plan.undo(state, now, *at, trace, *cost))
    }

    fn give_back(&mut self, charge: &Charge, give_back: impl FnOnce(&mut State) -> u32) -> Refunded {
        // A budget of the key's own was charged by name, or as the copy of the one that the key shared.
        let place = match charge.sharer {
            Some(key) if self.copied_from == Some(charge.life) => Place::Own(key),
            _ if (self.oldest_life..=self.life).contains(&charge.life) => charge.place,
            _ => return Refunded::default(),
        };
        let permits = give_back(&mut self.state);
        Refunded { permits, queued: self.queued.then_some(place).into_iter().collect() }
    }

    /// Forgets every charge.
    pub(crate) fn reset(&mut self, rules: &Rules, life: u64) {
        self.state = rules.plan.fresh();
        self.copied_from = None;
        self.set_lives(life, life);
    }

    pub(crate) fn set_lives(&mut self, oldest: u64, life: u64) {
        (self.oldest_life, self.life) = (oldest, life);
    }

    /// Its own, from the start, and without a line.
    pub(crate) fn is_plain(&self) -> bool {
        !self.queued && self.copied_from.is_none()
    }

    /// Forgets every charge, for a budget that draws its lives by itself.
    pub(crate) fn renew(&mut self, rules: &Rules) {
        self.reset(rules, self.life + 1);
    }

    /// Keeps what is in use while the rules change.
    pub(crate) fn convert(&mut self, rules: &Rules, old: &Rules, now: u64) {
        let state = std::mem::replace(&mut self.state, rules.plan.fresh());
        self.state = rules.plan.convert(state, &old.plan, now);
    }

    pub(crate) fn life(&self) -> u64 {
        self.life
    }

    pub(crate) fn state(&self) -> &State {
        &self.state
    }

    pub(crate) fn state_mut(&mut self) -> &mut State {
        &mut self.state
    }

    /// A budget with the same in use, for one that is to stand elsewhere.
    pub(crate) fn duplicate(&self) -> Self {
        let Self { life, oldest_life, queued, copied_from, .. } = *self;
        Self { state: self.state.clone(), life, oldest_life, queued, copied_from }
    }

    pub(crate) fn is_queued(&self) -> bool {
        self.queued
    }

    pub(crate) fn set_queued(&mut self, queued: bool) {
        self.queued = queued;
    }

    /// The first instant at which a fresh budget would be the same as this one, waiters aside.
    pub(crate) fn clear_at(&self, rules: &Rules, now: u64) -> u64 {
        rules.plan.clear_at(&self.state, now)
    }

    /// Nothing counts in a sliding window, at the latest instant seen.
    pub(crate) fn is_empty(&self) -> bool {
        self.state.ring().is_some_and(|ring| ring.in_use() == 0)
    }

    /// Nothing is charged and nobody waits.
    pub(crate) fn is_idle(&self, rules: &Rules, now: u64) -> bool {
        !self.queued && self.clear_at(rules, now) <= now
    }
}
