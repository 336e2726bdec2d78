//! What it takes to undo a charge in a budget that refills steadily, as if it had never been made.
//!
//! Without the charge the budget would have refilled just as well, except while it would have been full: what flowed in
//! then would have been lost. So an undo gives back the charge less that loss. When the budget would have been full follows
//! from what was missing before the charge; if earlier charges were given back since, it was full so much sooner.

use super::rate::Rate;

/// What a charge leaves behind, so that it can be undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Trace {
    /// When the budget would have been full again without the charge, rounded down.
    pub(super) clear_at: u64,
    /// How the books stood after the charge.
    books: Books,
}

/// What a budget remembers of its charges and of what it was given back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Books {
    /// All that was given back, as the nanoseconds in which it flows, each time rounded up. It counts modulo 2^64, since
    /// only differences matter.
    given_back: u64,
    /// The number of the latest charge that was not undone before the next.
    charge: u32,
}

impl Trace {
    /// That of a charge in a budget that does not refill steadily.
    pub(crate) fn of_none(charged_at: u64) -> Self {
        Self { clear_at: charged_at, books: Books::default() }
    }
}

impl Books {
    pub(super) fn charged(&mut self, clear_at: u64) -> Trace {
        self.charge = self.charge.wrapping_add(1);
        Trace { clear_at, books: *self }
    }

    pub(super) fn gave_back(&mut self, rate: Rate, drops: u128) {
        self.given_back = self.given_back.wrapping_add(rate.time(drops).unwrap_or(0));
    }

    /// As [`gave_back`](Self::gave_back), for a charge that is undone. The latest one had its part in no other's trace.
    pub(super) fn undid(&mut self, trace: &Trace, rate: Rate, drops: u128) {
        if trace.books.charge == self.charge {
            self.charge = self.charge.wrapping_sub(1);
        } else {
            self.gave_back(rate, drops);
        }
    }

    /// Of what has flowed since a charge, the most that would have been lost without it.
    pub(super) fn lost(&self, trace: &Trace, rate: Rate, now: u64, flowed: u128) -> u128 {
        let given_back = rate.flow(self.given_back.wrapping_sub(trace.books.given_back));
        let lost = match now.checked_sub(trace.clear_at) {
            Some(full) => given_back + rate.flow(full),
            None => given_back.saturating_sub(rate.flow(trace.clear_at - now)),
        };
        lost.min(flowed)
    }
}
