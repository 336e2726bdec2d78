//! `fixed_window`: at most `max` permits in each window.
//!
//! A window begins with the first call that is charged and ends a window later; the next begins with the first call after
//! that. Around the end of one, up to twice `max` can pass within a window's time.

#[cfg(test)]
mod tests;

use super::{
    Allowance, Charged, Denial, END_OF_TIME,
    carried::{Carried, Placed, Used},
};

#[derive(Clone, Debug)]
pub(crate) struct FixedWindow {
    window: u64,
}

/// The current window, if anything is in use; else there is none.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    used: u32,
    begins: u64,
    /// Charges made before this are not in it.
    since: u64,
    /// The latest instant seen.
    latest: u64,
}

impl FixedWindow {
    pub(super) fn new(window: u64) -> Self {
        Self { window }
    }

    #[expect(clippy::unused_self, reason = "as for every algorithm")]
    pub(super) fn fresh(&self) -> Window {
        Window { used: 0, begins: 0, since: 0, latest: 0 }
    }

    pub(super) fn charge(
        &self,
        state: &mut Window,
        now: u64,
        cost: u32,
        capacity: u32,
    ) -> Result<Charged, Denial> {
        self.advance(state, now);
        let Some(most_used) = capacity.checked_sub(cost) else {
            return Err(Denial::CostExceedsCapacity);
        };
        if let Some(remaining) = most_used.checked_sub(state.used) {
            if state.used == 0 && cost > 0 {
                (state.begins, state.since) = (state.latest, state.since.max(state.latest));
            }
            state.used += cost;
            return Ok(Charged::new(remaining, state.latest));
        }
        if cost == 0 {
            return Ok(Charged::new(0, state.latest));
        }
        Err(Denial::Exceeded { ready_at: self.end(state) })
    }

    /// Until the window ends, it makes no difference when in it a charge is made. The first one begins it.
    pub(super) fn allowance(&self, state: &mut Window, now: u64, capacity: u32) -> Option<Allowance> {
        self.advance(state, now);
        if state.used == 0 || capacity == 0 {
            return None;
        }
        let (permits, until) = (capacity.saturating_sub(state.used), self.end(state));
        let ready_at = if permits == 0 { until } else { 0 };
        Some(Allowance { permits, from: state.latest, until, ready_at })
    }

    pub(super) fn ready_at(&self, state: &Window, now: u64, cost: u32, capacity: u32) -> Option<u64> {
        let most_used = capacity.checked_sub(cost)?;
        if cost == 0 || self.used(state, now) <= most_used { Some(now) } else { Some(self.end(state)) }
    }

    pub(super) fn used(&self, state: &Window, now: u64) -> u32 {
        if now.min(END_OF_TIME) >= self.end(state) { 0 } else { state.used }
    }

    pub(super) fn clear_at(&self, state: &Window, now: u64) -> u64 {
        if state.used == 0 { now } else { self.end(state).max(now) }
    }

    pub(super) fn refund(&self, state: &mut Window, now: u64, charged_at: u64, cost: u32) -> u32 {
        self.advance(state, now);
        if charged_at < state.since {
            return 0;
        }
        let given_back = state.used.min(cost);
        state.used -= given_back;
        given_back
    }

    pub(super) fn carry(&self, mut state: Window, now: u64) -> Carried {
        self.advance(&mut state, now);
        let Window { used, since, latest, .. } = state;
        let (charges, since) =
            if used == 0 { (Vec::new(), since.max(latest)) } else { (vec![(latest, used)], since) };
        Carried { at: latest, since, used: Used::Charges(charges, Placed::Together) }
    }

    /// The window begins with the oldest charge that still counts.
    pub(super) fn adopt(&self, carried: Carried) -> Window {
        let latest = carried.at;
        let (charges, past) = carried.charges();
        let aged = charges.partition_point(|(at, _)| at + self.window <= latest);
        let (aged, live) = charges.split_at(aged);
        Window {
            used: live.iter().map(|(_, permits)| permits).sum(),
            begins: live.first().map_or(latest, |(at, _)| *at),
            since: aged.last().map_or(past.since(), |(at, _)| at + 1),
            latest,
        }
    }

    /// Another length of the window: the current one began when it did.
    pub(super) fn convert(&self, mut state: Window, old: &Self, now: u64) -> Window {
        old.advance(&mut state, now);
        let was_used = state.used > 0;
        self.advance(&mut state, now);
        if was_used && state.used == 0 {
            // The change ended it. A charge of this instant may have been in it, and is not told from one in the next.
            state.since = state.latest + 1;
        }
        state
    }

    fn end(&self, state: &Window) -> u64 {
        state.begins + self.window
    }

    fn advance(&self, state: &mut Window, now: u64) {
        state.latest = state.latest.max(now.min(END_OF_TIME));
        if state.latest >= self.end(state) {
            state.used = 0;
        }
    }
}
