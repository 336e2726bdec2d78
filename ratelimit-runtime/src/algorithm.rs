//! How a budget decides: pure functions of its state, the time and the cost. No clock, key, lock or registry here.
//!
//! A [`Plan`] is derived once from a limit and serves all of its budgets; a [`State`] is what one budget remembers.
//! Time is in nanoseconds on the limiter's own timeline, which begins at 0 and stops at [`END_OF_TIME`]. An instant
//! that lies before one already seen counts as that one, so a clock that steps back frees nothing and breaks nothing.
//!
//! An algorithm is a file of its own with a plan, a state, and the methods that [`Plan`] hands on to it.

mod carried;
#[cfg(test)]
mod claims;
mod fixed_window;
mod gcra;
mod grain;
mod grid;
mod leaky_bucket;
#[cfg(test)]
mod model;
mod rate;
mod refunds;
mod sliding_log;
mod sliding_window;
mod ticks;
mod token_bucket;
mod trace;

use std::time::Duration;

use ratelimit_spec::{Algorithm, LimitSpec, rules};

use self::{
    carried::Carried,
    fixed_window::{FixedWindow, Window},
    gcra::{Arrival, Gcra},
    leaky_bucket::{LeakyBucket, Level},
    rate::{Rate, Refill},
    sliding_log::{Log, SlidingLog},
    token_bucket::{TokenBucket, Tokens},
};
pub(crate) use self::{
    grain::{Grain, Lag},
    sliding_window::{Ring, SlidingWindow},
    ticks::Ticks,
    trace::Trace,
};

/// The longest window, in nanoseconds: 100 years.
const LONGEST_WINDOW: u64 = rules::MAX_WINDOW.as_secs() * 1_000_000_000;

/// Where the timeline stops, 384 years after the start: so far from the end of `u64` that no sum of an instant, a
/// window and a bucket overflows.
pub(crate) const END_OF_TIME: u64 = u64::MAX - 2 * LONGEST_WINDOW;

/// How a limit decides: what is the same for all of its budgets.
#[derive(Clone, Debug)]
pub(crate) enum Plan {
    SlidingWindow(SlidingWindow),
    FixedWindow(FixedWindow),
    SlidingLog(SlidingLog),
    TokenBucket(TokenBucket),
    LeakyBucket(LeakyBucket),
    Gcra(Gcra),
}

/// What one budget remembers. It belongs to the plan that made or converted it.
#[derive(Clone, Debug)]
pub(crate) enum State {
    SlidingWindow(Ring),
    FixedWindow(Window),
    SlidingLog(Log),
    TokenBucket(Tokens),
    LeakyBucket(Level),
    Gcra(Arrival),
}

/// A charge that was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Charged {
    /// Permits left after it.
    pub(crate) remaining: u32,
    /// The instant it counts from; a refund asks for it. Later than the caller's own after a step back of the clock.
    pub(crate) at: u64,
    /// What an undo asks for besides.
    pub(crate) trace: Trace,
}

impl Charged {
    fn new(remaining: u32, at: u64) -> Self {
        Self { remaining, at, trace: Trace::of_none(at) }
    }
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

/// A budget that refills steadily, as it stands at an instant: see [`Ticks`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Metered {
    pub(crate) ticks: Ticks,
    pub(crate) at: u64,
    /// What is in use, in ticks.
    pub(crate) ahead: u64,
}

/// Why nothing was charged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Denial {
    /// Admitted at `ready_at` and denied 1 ns before it, if nothing else happens; always later than the instant asked at.
    Exceeded { ready_at: u64 },
    /// Never admitted, however long one waits.
    CostExceedsCapacity,
}

/// Hands on to the algorithm of a plan and a state. A state of another algorithm, which only a mistake of ours could bring
/// here, counts as a fresh one.
macro_rules! hand_on {
    ($plan:expr, $state:expr, $method:ident($($argument:expr),*), $mismatch:pat => $otherwise:expr) => {
        match ($plan, $state) {
            (Plan::SlidingWindow(plan), State::SlidingWindow(state)) => plan.$method(state, $($argument),*),
            (Plan::FixedWindow(plan), State::FixedWindow(state)) => plan.$method(state, $($argument),*),
            (Plan::SlidingLog(plan), State::SlidingLog(state)) => plan.$method(state, $($argument),*),
            (Plan::TokenBucket(plan), State::TokenBucket(state)) => plan.$method(state, $($argument),*),
            (Plan::LeakyBucket(plan), State::LeakyBucket(state)) => plan.$method(state, $($argument),*),
            (Plan::Gcra(plan), State::Gcra(state)) => plan.$method(state, $($argument),*),
            $mismatch => $otherwise,
        }
    };
}

impl Plan {
    /// The plan of a limit that is made at `now`.
    ///
    /// Expects a valid limit. A value out of bounds is brought within them, so that no later step can fail.
    pub(crate) fn new(spec: &LimitSpec, grain: Grain, now: u64) -> Self {
        let refill = Refill::new(rate(spec));
        match spec.algorithm() {
            Algorithm::SlidingWindow => {
                Self::SlidingWindow(SlidingWindow::new(window(spec), spec.buckets(), grain))
            }
            Algorithm::FixedWindow => Self::FixedWindow(FixedWindow::new(window(spec))),
            Algorithm::SlidingLog => Self::SlidingLog(SlidingLog::new(window(spec))),
            Algorithm::TokenBucket => {
                let missing = spec.burst().saturating_sub(spec.initial());
                Self::TokenBucket(TokenBucket::new(refill, missing, now))
            }
            Algorithm::LeakyBucket => Self::LeakyBucket(LeakyBucket::new(refill)),
            Algorithm::Gcra => Self::Gcra(Gcra::new(refill)),
        }
    }

    /// The plan of the same limit once it is changed at `now`. Budgets that nobody has used go on as they are: `initial` is
    /// for new limits.
    pub(crate) fn changed(&self, spec: &LimitSpec, grain: Grain, now: u64) -> Self {
        let refill = Refill::new(rate(spec));
        let refill = self.refill().map_or(refill, |before| before.followed_by(refill.rate));
        match spec.algorithm() {
            Algorithm::TokenBucket => {
                let untouched = self.carry(self.fresh(), now);
                Self::TokenBucket(TokenBucket::continues(refill, &untouched))
            }
            Algorithm::LeakyBucket => Self::LeakyBucket(LeakyBucket::new(refill)),
            Algorithm::Gcra => Self::Gcra(Gcra::new(refill)),
            Algorithm::SlidingWindow | Algorithm::FixedWindow | Algorithm::SlidingLog => {
                Self::new(spec, grain, now)
            }
        }
    }

    /// How far the clock may lag that budgets of this plan are asked by: never an instant ahead, up to this behind.
    pub(crate) fn lag(&self) -> Lag {
        match self {
            Self::SlidingWindow(plan) => plan.lag(),
            // When a charge is made makes a difference to them.
            Self::FixedWindow(_)
            | Self::SlidingLog(_)
            | Self::TokenBucket(_)
            | Self::LeakyBucket(_)
            | Self::Gcra(_) => Lag::NONE,
        }
    }

    pub(crate) fn sliding_window(&self) -> Option<&SlidingWindow> {
        match self {
            Self::SlidingWindow(plan) => Some(plan),
            _ => None,
        }
    }

    /// How it refills, if it does so steadily.
    fn refill(&self) -> Option<Refill> {
        match self {
            Self::SlidingWindow(_) | Self::FixedWindow(_) | Self::SlidingLog(_) => None,
            Self::TokenBucket(plan) => Some(plan.refill()),
            Self::LeakyBucket(plan) => Some(plan.refill()),
            Self::Gcra(plan) => Some(plan.refill()),
        }
    }

    /// A budget that nobody has used.
    pub(crate) fn fresh(&self) -> State {
        match self {
            Self::SlidingWindow(plan) => State::SlidingWindow(plan.fresh()),
            Self::FixedWindow(plan) => State::FixedWindow(plan.fresh()),
            Self::SlidingLog(plan) => State::SlidingLog(plan.fresh()),
            Self::TokenBucket(plan) => State::TokenBucket(plan.fresh()),
            Self::LeakyBucket(plan) => State::LeakyBucket(plan.fresh()),
            Self::Gcra(plan) => State::Gcra(plan.fresh()),
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
        hand_on!(self, state, charge(now, cost, capacity), (plan, state) => {
            *state = plan.fresh();
            plan.charge(state, now, cost, capacity)
        })
    }

    /// What could be charged without looking at the state again: see [`Allowance`]. `None` where it always matters when.
    pub(crate) fn allowance(&self, state: &mut State, now: u64, capacity: u32) -> Option<Allowance> {
        match (self, state) {
            (Self::SlidingWindow(plan), State::SlidingWindow(ring)) => plan.allowance(ring, now, capacity),
            (Self::FixedWindow(plan), State::FixedWindow(window)) => plan.allowance(window, now, capacity),
            _ => None,
        }
    }

    /// What is in use, for budgets that refill steadily, if its numbers are small and whole enough.
    pub(crate) fn metered(&self, state: &mut State, now: u64, capacity: u32) -> Option<Metered> {
        let (rate, (at, used)) = match (self, state) {
            (Self::Gcra(plan), State::Gcra(state)) => (plan.refill().rate, plan.reading(state, now)),
            (Self::LeakyBucket(plan), State::LeakyBucket(state)) => {
                (plan.refill().rate, plan.reading(state, now))
            }
            (Self::TokenBucket(plan), State::TokenBucket(state)) => {
                (plan.refill().rate, plan.reading(state, now))
            }
            _ => return None,
        };
        let (ticks, divisor) = (Ticks::of(rate, capacity)?, u128::from(Ticks::divisor(rate)));
        let ahead = u64::try_from(used / divisor).ok().filter(|ahead| *ahead <= Ticks::MOST)?;
        used.is_multiple_of(divisor).then_some(Metered { ticks, at, ahead })
    }

    /// Takes over what a meter shows that has charged the budget since [`metered`](Self::metered).
    pub(crate) fn read_meter(&self, state: &mut State, metered: &Metered) {
        let used = |rate| u128::from(metered.ahead) * u128::from(Ticks::divisor(rate));
        match (self, state) {
            (Self::Gcra(plan), State::Gcra(state)) => {
                plan.set_reading(state, metered.at, used(plan.refill().rate));
            }
            (Self::LeakyBucket(plan), State::LeakyBucket(state)) => {
                plan.set_reading(state, metered.at, used(plan.refill().rate));
            }
            (Self::TokenBucket(plan), State::TokenBucket(state)) => {
                plan.set_reading(state, metered.at, used(plan.refill().rate));
            }
            _ => {}
        }
    }

    /// The first instant, not before `now`, at which [`charge`](Self::charge) would admit, if nothing else happens.
    /// `None`: never.
    pub(crate) fn ready_at(&self, state: &State, now: u64, cost: u32, capacity: u32) -> Option<u64> {
        hand_on!(self, state, ready_at(now, cost, capacity), (plan, _) => {
            plan.ready_at(&plan.fresh(), now, cost, capacity)
        })
    }

    /// [`charge`](Self::charge) for the first of those who wait in line. Its turn came at `turn`, as far as was foreseen,
    /// which may be before anybody looked. Only a leaky bucket makes a difference.
    pub(crate) fn charge_in_turn(
        &self,
        state: &mut State,
        now: u64,
        turn: u64,
        cost: u32,
        capacity: u32,
    ) -> Result<Charged, Denial> {
        match (self, state) {
            (Self::LeakyBucket(plan), State::LeakyBucket(level)) => {
                plan.charge_in_turn(level, now, turn, cost, capacity)
            }
            (_, state) => self.charge(state, now, cost, capacity),
        }
    }

    /// The first instant, not before `now`, at which [`charge_in_turn`](Self::charge_in_turn) would admit.
    pub(crate) fn turn_at(&self, state: &State, now: u64, cost: u32, capacity: u32) -> Option<u64> {
        match (self, state) {
            (Self::LeakyBucket(plan), State::LeakyBucket(level)) => plan.turn_at(level, now, cost, capacity),
            _ => self.ready_at(state, now, cost, capacity),
        }
    }

    /// The first instant, not before `now`, at which a call may join those who wait in line for `waiting` permits.
    pub(crate) fn joins_at(
        &self,
        state: &State,
        now: u64,
        waiting: u64,
        cost: u32,
        capacity: u32,
    ) -> Option<u64> {
        match (self, state) {
            (Self::LeakyBucket(plan), State::LeakyBucket(level)) => {
                plan.joins_at(level, now, waiting, cost, capacity)
            }
            _ => Some(now),
        }
    }

    /// Permits in use at `now`.
    pub(crate) fn used(&self, state: &State, now: u64) -> u32 {
        hand_on!(self, state, used(now), _ => 0)
    }

    /// Gives back up to `cost` permits of the charge made at `charged_at` (its [`Charged::at`]), and says how many, begun
    /// ones included. One that has aged out gives back nothing; of one that refills, what has refilled since is not given
    /// back again.
    pub(crate) fn refund(&self, state: &mut State, now: u64, charged_at: u64, cost: u32) -> u32 {
        hand_on!(self, state, refund(now, charged_at, cost), _ => 0)
    }

    /// Takes back a charge that should never have been made, and says how many permits that gave back.
    ///
    /// Of what refills, a refund takes all that has refilled since for the charge's own. But without the charge it would
    /// have refilled just as well, save what would have been too much. So an undo loses nothing, and a call that others deny
    /// never delays a refill.
    pub(crate) fn undo(&self, state: &mut State, now: u64, charged_at: u64, trace: &Trace, cost: u32) -> u32 {
        match (self, state) {
            (Self::TokenBucket(plan), State::TokenBucket(tokens)) => {
                plan.undo(tokens, now, charged_at, trace, cost)
            }
            (Self::LeakyBucket(plan), State::LeakyBucket(level)) => {
                plan.undo(level, now, charged_at, trace, cost)
            }
            (Self::Gcra(plan), State::Gcra(arrival)) => plan.undo(arrival, now, charged_at, trace, cost),
            (_, state) => self.refund(state, now, charged_at, cost),
        }
    }

    /// The first instant, not before `now`, at which the budget is like a fresh one, if nothing else happens.
    pub(crate) fn clear_at(&self, state: &State, now: u64) -> u64 {
        hand_on!(self, state, clear_at(now), _ => now)
    }

    /// Whether a charge made in turn at `now`, which counts from `charged_at`, leaves what one would have left that was made
    /// when it was foreseen.
    pub(crate) fn counts_as_foreseen(&self, foreseen: u64, now: u64, charged_at: u64, trace: &Trace) -> bool {
        match self {
            Self::SlidingWindow(plan) => plan.counts_alike(foreseen, charged_at),
            Self::FixedWindow(_) | Self::SlidingLog(_) => foreseen == charged_at,
            // It refilled all the time, unless it was full.
            Self::TokenBucket(_) | Self::Gcra(_) => {
                foreseen == charged_at || foreseen < charged_at && charged_at < trace.clear_at
            }
            // It counts from its turn.
            Self::LeakyBucket(_) => foreseen <= now,
        }
    }

    /// The state of a budget that was kept by the plan `old`, with all that is in use at `now`.
    pub(crate) fn convert(&self, state: State, old: &Self, now: u64) -> State {
        match (self, old, state) {
            (Self::SlidingWindow(plan), Self::SlidingWindow(old), State::SlidingWindow(ring))
                if plan.counts_as(old) =>
            {
                State::SlidingWindow(ring)
            }
            (Self::FixedWindow(plan), Self::FixedWindow(old), State::FixedWindow(window)) => {
                State::FixedWindow(plan.convert(window, old, now))
            }
            // A charge that a lagging clock dated may have been made later, and a plan that allows for no lag has to
            // count it from there.
            (_, _, state) if self.lag().by == 0 => self.adopt(old.carry(state, now).made_later(old.lag().by)),
            (_, _, state) => self.adopt(old.carry(state, now)),
        }
    }

    fn carry(&self, state: State, now: u64) -> Carried {
        hand_on!(self, state, carry(now), (plan, _) => plan.carry(plan.fresh(), now))
    }

    fn adopt(&self, carried: Carried) -> State {
        match self {
            Self::SlidingWindow(plan) => State::SlidingWindow(plan.adopt(carried)),
            Self::FixedWindow(plan) => State::FixedWindow(plan.adopt(carried)),
            Self::SlidingLog(plan) => State::SlidingLog(plan.adopt(carried)),
            Self::TokenBucket(plan) => State::TokenBucket(plan.adopt(&carried)),
            Self::LeakyBucket(plan) => State::LeakyBucket(plan.adopt(&carried)),
            Self::Gcra(plan) => State::Gcra(plan.adopt(&carried)),
        }
    }
}

impl State {
    pub(crate) fn ring(&self) -> Option<&Ring> {
        match self {
            Self::SlidingWindow(ring) => Some(ring),
            _ => None,
        }
    }

    pub(crate) fn ring_mut(&mut self) -> Option<&mut Ring> {
        match self {
            Self::SlidingWindow(ring) => Some(ring),
            _ => None,
        }
    }
}

fn rate(spec: &LimitSpec) -> Rate {
    Rate::new(spec.max(), window(spec))
}

/// The window in nanoseconds, within the bounds that the arithmetic here relies on.
fn window(spec: &LimitSpec) -> u64 {
    let nanoseconds = |window: Duration| u64::try_from(window.as_nanos()).unwrap_or(u64::MAX);
    nanoseconds(spec.window()).clamp(1, LONGEST_WINDOW)
}
