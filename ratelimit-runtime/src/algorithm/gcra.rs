//! `gcra`, the generic cell rate algorithm: what a token bucket admits that is full at first, by one number.
//!
//! The number is the instant at which the bucket would be full again, known as the theoretical arrival time. Each permit
//! moves it on by `window / max`, and a call is admitted if it then lies no more than `burst` permits ahead.

#[cfg(test)]
mod tests;

use super::{
    Charged, Denial, END_OF_TIME,
    carried::{Carried, Used},
    rate::Refill,
    refunds::Refunds,
    trace::Trace,
};

#[derive(Clone, Debug)]
pub(crate) struct Gcra {
    refill: Refill,
}

#[derive(Clone, Debug)]
pub(crate) struct Arrival {
    /// When the budget is full again, in drops: `max` to the nanosecond, so that `window / max` need not be whole.
    pub(super) full_at: u128,
    /// The latest instant seen.
    latest: u64,
    refunds: Refunds,
}

impl Gcra {
    pub(super) fn new(refill: Refill) -> Self {
        Self { refill }
    }

    pub(super) fn refill(&self) -> Refill {
        self.refill
    }

    #[expect(clippy::unused_self, reason = "as for every algorithm")]
    pub(super) fn fresh(&self) -> Arrival {
        Arrival { full_at: 0, latest: 0, refunds: Refunds::default() }
    }

    pub(super) fn charge(
        &self,
        state: &mut Arrival,
        now: u64,
        cost: u32,
        capacity: u32,
    ) -> Result<Charged, Denial> {
        let at = Self::advance(state, now);
        self.charge_from(state, at, cost, capacity)
    }

    /// Charges as of `from`, which is not after the latest instant seen.
    pub(super) fn charge_from(
        &self,
        state: &mut Arrival,
        from: u64,
        cost: u32,
        capacity: u32,
    ) -> Result<Charged, Denial> {
        let rate = self.refill.rate;
        if cost > capacity {
            return Err(Denial::CostExceedsCapacity);
        }
        if cost > 0
            && let Some(ready_at) = self.closed_until(state, state.latest, cost, capacity)?
        {
            return Err(Denial::Exceeded { ready_at });
        }
        let begins = state.full_at.max(rate.flow(from));
        let clear_at = rate.time_within(state.full_at).max(from);
        let mut trace = Trace::of_none(from);
        if cost > 0 {
            trace = state.refunds.charged(clear_at);
            state.full_at = begins + rate.drops(cost);
        }
        let remaining = capacity.saturating_sub(self.used(state, state.latest));
        Ok(Charged { remaining, at: from, trace })
    }

    pub(super) fn ready_at(&self, state: &Arrival, now: u64, cost: u32, capacity: u32) -> Option<u64> {
        if cost == 0 {
            return Some(now);
        }
        let at = Self::at(state, now);
        let closed_until = self.closed_until(state, at, cost, capacity).ok()?;
        Some(closed_until.unwrap_or(now))
    }

    pub(super) fn used(&self, state: &Arrival, now: u64) -> u32 {
        let rate = self.refill.rate;
        rate.permits(state.full_at.saturating_sub(rate.flow(Self::at(state, now))))
    }

    pub(super) fn clear_at(&self, state: &Arrival, now: u64) -> u64 {
        let rate = self.refill.rate;
        let at = Self::at(state, now);
        match rate.time(state.full_at.saturating_sub(rate.flow(at))) {
            Some(0) => now,
            Some(time) => at.saturating_add(time),
            None => u64::MAX,
        }
    }

    pub(super) fn refund(&self, state: &mut Arrival, now: u64, charged_at: u64, cost: u32) -> u32 {
        let reading = self.reading(state, now);
        let given_back = state.refunds.refund(&self.refill, reading, charged_at, cost);
        state.full_at -= given_back;
        self.refill.rate.permits(given_back)
    }

    pub(super) fn undo(
        &self,
        state: &mut Arrival,
        now: u64,
        charged_at: u64,
        trace: &Trace,
        cost: u32,
    ) -> u32 {
        let reading = self.reading(state, now);
        let given_back = state.refunds.undo(&self.refill, reading, charged_at, trace, cost);
        state.full_at -= given_back;
        self.refill.rate.permits(given_back)
    }

    pub(super) fn carry(&self, mut state: Arrival, now: u64) -> Carried {
        let (at, ahead) = self.reading(&mut state, now);
        Carried { at, since: state.refunds.since(), used: Used::Drops(ahead, self.refill.rate) }
    }

    pub(super) fn adopt(&self, carried: &Carried) -> Arrival {
        let rate = self.refill.rate;
        Arrival {
            full_at: rate.flow(carried.at) + carried.drops(rate),
            latest: carried.at,
            refunds: Refunds::adopt(carried),
        }
    }

    /// How much of it is used at `now`, or at the latest instant seen, and which of the two it is.
    pub(super) fn reading(&self, state: &mut Arrival, now: u64) -> (u64, u128) {
        let at = Self::advance(state, now);
        (at, state.full_at.saturating_sub(self.refill.rate.flow(at)))
    }

    /// So much is used at `at`, after charges that left no trace.
    pub(super) fn set_reading(&self, state: &mut Arrival, at: u64, used: u128) {
        state.full_at = self.refill.rate.flow(Self::advance(state, at)) + used;
        state.refunds.charged(at);
    }

    /// Brings the state to `now`, or leaves it where it is if it has been later, and says where that is.
    pub(super) fn advance(state: &mut Arrival, now: u64) -> u64 {
        state.latest = Self::at(state, now);
        state.latest
    }

    /// As if so many permits had been charged as well, room or not.
    pub(super) fn pour(&self, state: &mut Arrival, permits: u64) {
        let rate = self.refill.rate;
        state.full_at = state.full_at.max(rate.flow(state.latest)) + rate.drops(permits);
    }

    fn at(state: &Arrival, now: u64) -> u64 {
        state.latest.max(now.min(END_OF_TIME))
    }

    /// When there is room for `cost`; `None` if there is at `at`.
    fn closed_until(
        &self,
        state: &Arrival,
        at: u64,
        cost: u32,
        capacity: u32,
    ) -> Result<Option<u64>, Denial> {
        let rate = self.refill.rate;
        let most_used = capacity.checked_sub(cost).ok_or(Denial::CostExceedsCapacity)?;
        let excess = state.full_at.saturating_sub(rate.flow(at) + rate.drops(most_used));
        if excess == 0 {
            return Ok(None);
        }
        let time = rate.time(excess).ok_or(Denial::CostExceedsCapacity)?;
        Ok(Some(at.saturating_add(time)))
    }
}
