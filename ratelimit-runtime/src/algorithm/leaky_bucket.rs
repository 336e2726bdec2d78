//! `leaky_bucket`: a bucket that holds `burst` permits and leaks `max` in a window, evenly.
//!
//! To a call that does not wait it is a meter: it goes through at once if its permits fit. That is the arithmetic of
//! [`gcra`](super::gcra).
//!
//! Calls that wait make it a queue. What has gone through fills the bucket until it has leaked, and so does what stands in
//! line; a call that does not fit on top of both is denied. The first in line goes through when all before it has leaked,
//! its *turn*. So a queue holds exactly what a meter would admit, lets it through `window / max` apart, and needs no
//! charge of those who wait: who leaves the line has taken nothing.

#[cfg(test)]
mod tests;

use super::{
    Charged, Denial,
    carried::Carried,
    gcra::{Arrival, Gcra},
    rate::Refill,
    trace::Trace,
};

#[derive(Clone, Debug)]
pub(crate) struct LeakyBucket {
    meter: Gcra,
}

/// When the bucket has leaked out.
pub(crate) type Level = Arrival;

impl LeakyBucket {
    pub(super) fn new(leak: Refill) -> Self {
        Self { meter: Gcra::new(leak) }
    }

    pub(super) fn refill(&self) -> Refill {
        self.meter.refill()
    }

    pub(super) fn fresh(&self) -> Level {
        self.meter.fresh()
    }

    pub(super) fn charge(
        &self,
        level: &mut Level,
        now: u64,
        cost: u32,
        capacity: u32,
    ) -> Result<Charged, Denial> {
        self.meter.charge(level, now, cost, capacity)
    }

    pub(super) fn reading(&self, level: &mut Level, now: u64) -> (u64, u128) {
        self.meter.reading(level, now)
    }

    pub(super) fn set_reading(&self, level: &mut Level, at: u64, used: u128) {
        self.meter.set_reading(level, at, used);
    }

    pub(super) fn ready_at(&self, level: &Level, now: u64, cost: u32, capacity: u32) -> Option<u64> {
        self.meter.ready_at(level, now, cost, capacity)
    }

    /// Charges the first in line, as of its turn: who is late to let it through keeps up nobody behind it.
    pub(super) fn charge_in_turn(
        &self,
        level: &mut Level,
        now: u64,
        turn: u64,
        cost: u32,
        capacity: u32,
    ) -> Result<Charged, Denial> {
        let now = Gcra::advance(level, now);
        match self.turn_at(level, now, cost, capacity) {
            None => Err(Denial::CostExceedsCapacity),
            Some(ready_at) if ready_at > now => Err(Denial::Exceeded { ready_at }),
            Some(_) => {
                let leaked_at = self.refill().rate.time_within(level.full_at);
                let charged = self.meter.charge_from(level, turn.min(now), cost, capacity)?;
                Ok(Charged { at: charged.at.max(leaked_at), ..charged })
            }
        }
    }

    /// When all that is in the bucket has leaked.
    pub(super) fn turn_at(&self, level: &Level, now: u64, cost: u32, capacity: u32) -> Option<u64> {
        if cost > capacity { None } else { self.meter.ready_at(level, now, cost, cost) }
    }

    /// When a call fits in on top of so many permits that stand in line.
    pub(super) fn joins_at(
        &self,
        level: &Level,
        now: u64,
        waiting: u64,
        cost: u32,
        capacity: u32,
    ) -> Option<u64> {
        let mut level = level.clone();
        Gcra::advance(&mut level, now);
        self.meter.pour(&mut level, waiting);
        self.meter.ready_at(&level, now, cost, capacity)
    }

    pub(super) fn used(&self, level: &Level, now: u64) -> u32 {
        self.meter.used(level, now)
    }

    pub(super) fn clear_at(&self, level: &Level, now: u64) -> u64 {
        self.meter.clear_at(level, now)
    }

    pub(super) fn refund(&self, level: &mut Level, now: u64, charged_at: u64, cost: u32) -> u32 {
        self.meter.refund(level, now, charged_at, cost)
    }

    pub(super) fn undo(&self, level: &mut Level, now: u64, charged_at: u64, trace: &Trace, cost: u32) -> u32 {
        self.meter.undo(level, now, charged_at, trace, cost)
    }

    pub(super) fn carry(&self, level: Level, now: u64) -> Carried {
        self.meter.carry(level, now)
    }

    pub(super) fn adopt(&self, carried: &Carried) -> Level {
        self.meter.adopt(carried)
    }
}
