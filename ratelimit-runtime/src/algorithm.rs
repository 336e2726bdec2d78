//! How a budget decides: pure functions of its state, the time and the cost. No clock, key, lock or registry here.
//!
//! A [`Plan`] is derived once from a limit and serves all of its budgets; a [`State`] is what one budget remembers.
//! Time is in nanoseconds on the limiter's own timeline, which begins at 0 and stops at [`END_OF_TIME`]. An instant
//! that lies before one already seen counts as that one, so a clock that steps back frees nothing and breaks nothing.
//!
//! An algorithm is a file of its own with a plan, a state, and the methods that [`Plan`] hands on to it.

mod grid;
#[cfg(test)]
mod model;
mod sliding_window;

use std::time::Duration;

use ratelimit_spec::{LimitSpec, rules};

use self::sliding_window::{Ring, SlidingWindow};

/// The longest window, in nanoseconds: 100 years.
const LONGEST_WINDOW: u64 = rules::MAX_WINDOW.as_secs() * 1_000_000_000;

/// Where the timeline stops, 384 years after the start: so far from the end of `u64` that no sum of an instant, a
/// window and a bucket overflows.
pub(crate) const END_OF_TIME: u64 = u64::MAX - 2 * LONGEST_WINDOW;

/// How a limit decides: what is the same for all of its budgets.
#[derive(Clone, Debug)]
pub(crate) enum Plan {
    SlidingWindow(SlidingWindow),
}

/// What one budget remembers. It belongs to the plan that made or converted it.
#[derive(Clone, Debug)]
pub(crate) enum State {
    SlidingWindow(Ring),
}

/// How finely a budget may resolve time, where the algorithm has the choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grain {
    /// Finer than declared, for a budget that stands alone: memory is no matter, and a paced caller loses less.
    Fine,
    /// As declared, where there is a budget for every key.
    Declared,
}

/// A charge that was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Charged {
    /// Permits left after it.
    pub(crate) remaining: u32,
    /// The instant it counts from; a refund asks for it. Later than the caller's own after a step back of the clock.
    pub(crate) at: u64,
}

/// Charges of 1 that are admitted in a row, whenever they come before `until`, and count as if made at `from`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Allowance {
    pub(crate) permits: u32,
    pub(crate) from: u64,
    pub(crate) until: u64,
    /// When the next one is admitted, if `permits` is 0; else 0.
    pub(crate) ready_at: u64,
}

/// Why nothing was charged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Denial {
    /// Admitted at `ready_at` and denied 1 ns before it, if nothing else happens; always later than the instant asked at.
    Exceeded { ready_at: u64 },
    /// Never admitted, however long one waits.
    CostExceedsCapacity,
}

impl Plan {
    /// Expects a valid limit. A value out of bounds is brought within them, so that no later step can fail.
    pub(crate) fn new(spec: &LimitSpec, grain: Grain) -> Self {
        // The algorithms still to come are refused before a plan is made for them.
        Self::SlidingWindow(SlidingWindow::new(window(spec), spec.buckets(), grain))
    }

    /// A budget that nobody has used.
    pub(crate) fn fresh(&self) -> State {
        match self {
            Self::SlidingWindow(plan) => State::SlidingWindow(plan.fresh()),
        }
    }

    /// Takes `cost` permits of `capacity`, all or none. A cost of 0 only looks: it is always admitted.
    ///
    /// `capacity` may differ from call to call. Where more than it is in use, nothing is admitted until that has aged.
    #[inline]
    pub(crate) fn charge(
        &self,
        state: &mut State,
        now: u64,
        cost: u32,
        capacity: u32,
    ) -> Result<Charged, Denial> {
        match (self, state) {
            (Self::SlidingWindow(plan), State::SlidingWindow(ring)) => plan.charge(ring, now, cost, capacity),
        }
    }

    /// What could be charged without looking at the state again: see [`Allowance`]. `None` where it always matters when.
    pub(crate) fn allowance(&self, state: &mut State, now: u64, capacity: u32) -> Option<Allowance> {
        match (self, state) {
            (Self::SlidingWindow(plan), State::SlidingWindow(ring)) => plan.allowance(ring, now, capacity),
        }
    }

    /// The first instant, not before `now`, at which [`charge`](Self::charge) would admit, if nothing else happens.
    /// `None`: never.
    pub(crate) fn ready_at(&self, state: &State, now: u64, cost: u32, capacity: u32) -> Option<u64> {
        match (self, state) {
            (Self::SlidingWindow(plan), State::SlidingWindow(ring)) => {
                plan.ready_at(ring, now, cost, capacity)
            }
        }
    }

    /// Permits in use at `now`.
    pub(crate) fn used(&self, state: &State, now: u64) -> u32 {
        match (self, state) {
            (Self::SlidingWindow(plan), State::SlidingWindow(ring)) => plan.used(ring, now),
        }
    }

    /// Gives back up to `cost` permits of the charge made at `charged_at` (its [`Charged::at`]), and says how many.
    /// One that has aged out gives back nothing.
    pub(crate) fn refund(&self, state: &mut State, now: u64, charged_at: u64, cost: u32) -> u32 {
        match (self, state) {
            (Self::SlidingWindow(plan), State::SlidingWindow(ring)) => {
                plan.refund(ring, now, charged_at, cost)
            }
        }
    }

    /// The first instant, not before `now`, at which the budget is full again, if nothing else happens.
    pub(crate) fn clear_at(&self, state: &State, now: u64) -> u64 {
        match (self, state) {
            (Self::SlidingWindow(plan), State::SlidingWindow(ring)) => plan.clear_at(ring, now),
        }
    }

    /// Whether a charge made at one instant counts for as long as one made at the other.
    pub(crate) fn counts_alike(&self, at: u64, other: u64) -> bool {
        match self {
            Self::SlidingWindow(plan) => plan.counts_alike(at, other),
        }
    }

    /// The state of a budget that was kept by the plan `old`, with all that is in use at `now`.
    pub(crate) fn convert(&self, state: State, old: &Self, now: u64) -> State {
        match (self, old, state) {
            (Self::SlidingWindow(plan), Self::SlidingWindow(old), State::SlidingWindow(ring)) => {
                State::SlidingWindow(plan.convert(ring, old, now))
            }
        }
    }
}

/// The window in nanoseconds, within the bounds that the arithmetic here relies on.
fn window(spec: &LimitSpec) -> u64 {
    let nanoseconds = |window: Duration| u64::try_from(window.as_nanos()).unwrap_or(u64::MAX);
    nanoseconds(spec.window()).clamp(1, LONGEST_WINDOW)
}
