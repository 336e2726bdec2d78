//! `sliding_log`: in any interval of one window, at most `max` permits, and nothing else is denied.
//!
//! Every charge is kept until exactly a window after it was made. Charges of one instant are one entry, so there are at
//! most `max` of them; that memory is the price.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use super::{
    Charged, Denial, END_OF_TIME,
    carried::{Carried, Past, Placed, Used},
};

#[derive(Clone, Debug)]
pub(crate) struct SlidingLog {
    window: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct Log {
    /// The oldest first.
    entries: VecDeque<Entry>,
    /// Permits charged before the oldest entry. It counts modulo 2^32, as the entries do: only differences matter, and they
    /// are at most what is in use.
    before: u32,
    /// The latest instant seen.
    latest: u64,
    past: Option<Box<Past>>,
}

/// The charges made at one instant.
#[derive(Clone, Copy, Debug)]
struct Entry {
    at: u64,
    /// Permits charged up to and with it: a sum, so that what is in use at an instant is found by halving.
    up_to: u32,
}

impl Log {
    fn used(&self) -> u32 {
        self.charged_up_to(self.entries.len()).wrapping_sub(self.before)
    }

    /// Permits charged in all entries before this one.
    fn charged_up_to(&self, entry: usize) -> u32 {
        entry.checked_sub(1).and_then(|last| self.entries.get(last)).map_or(self.before, |last| last.up_to)
    }

    fn push(&mut self, at: u64, permits: u32) {
        let up_to = self.charged_up_to(self.entries.len()).wrapping_add(permits);
        match self.entries.back_mut() {
            Some(last) if last.at == at => last.up_to = up_to,
            _ => self.entries.push_back(Entry { at, up_to }),
        }
    }
}

impl SlidingLog {
    pub(super) fn new(window: u64) -> Self {
        Self { window }
    }

    #[expect(clippy::unused_self, reason = "as for every algorithm")]
    pub(super) fn fresh(&self) -> Log {
        Log { entries: VecDeque::new(), before: 0, latest: 0, past: None }
    }

    pub(super) fn charge(
        &self,
        log: &mut Log,
        now: u64,
        cost: u32,
        capacity: u32,
    ) -> Result<Charged, Denial> {
        self.advance(log, now);
        let Some(most_used) = capacity.checked_sub(cost) else {
            return Err(Denial::CostExceedsCapacity);
        };
        let used = log.used();
        if let Some(remaining) = most_used.checked_sub(used) {
            if cost > 0 {
                log.push(log.latest, cost);
            }
            return Ok(Charged::new(remaining, log.latest));
        }
        if cost == 0 {
            return Ok(Charged::new(0, log.latest));
        }
        Err(Denial::Exceeded { ready_at: self.released_at(log, used - most_used) })
    }

    pub(super) fn ready_at(&self, log: &Log, now: u64, cost: u32, capacity: u32) -> Option<u64> {
        let most_used = capacity.checked_sub(cost)?;
        let excess = log.used().saturating_sub(most_used);
        if cost == 0 || excess == 0 { Some(now) } else { Some(self.released_at(log, excess).max(now)) }
    }

    pub(super) fn used(&self, log: &Log, now: u64) -> u32 {
        let now = now.min(END_OF_TIME);
        let released = log.entries.partition_point(|entry| entry.at + self.window <= now);
        log.charged_up_to(log.entries.len()).wrapping_sub(log.charged_up_to(released))
    }

    pub(super) fn clear_at(&self, log: &Log, now: u64) -> u64 {
        log.entries.back().map_or(now, |last| now.max(last.at + self.window))
    }

    pub(super) fn refund(&self, log: &mut Log, now: u64, charged_at: u64, cost: u32) -> u32 {
        self.advance(log, now);
        let counted_at = log.past.as_ref().map_or(Some(charged_at), |past| past.place(charged_at));
        let Some(counted_at) = counted_at else { return 0 };
        let Ok(number) = log.entries.binary_search_by_key(&counted_at, |entry| entry.at) else { return 0 };
        let permits = log.entries[number].up_to.wrapping_sub(log.charged_up_to(number));
        let given_back = permits.min(cost);
        for entry in log.entries.range_mut(number..) {
            entry.up_to = entry.up_to.wrapping_sub(given_back);
        }
        if given_back == permits {
            log.entries.remove(number);
        }
        given_back
    }

    pub(super) fn carry(&self, mut log: Log, now: u64) -> Carried {
        self.advance(&mut log, now);
        let charges = (0..log.entries.len()).map(|number| {
            let Entry { at, up_to } = log.entries[number];
            (at, up_to.wrapping_sub(log.charged_up_to(number)))
        });
        let oldest = (log.latest + 1).saturating_sub(self.window);
        let since = log.past.as_ref().map_or(0, |past| past.since()).max(oldest);
        Carried { at: log.latest, since, used: Used::Charges(charges.collect(), Placed::Exactly) }
    }

    pub(super) fn adopt(&self, carried: Carried) -> Log {
        let mut log = self.fresh();
        log.latest = carried.at;
        let (charges, past) = carried.charges();
        for (at, permits) in charges {
            log.push(at, permits);
        }
        log.past = Some(Box::new(past));
        self.advance(&mut log, 0);
        log
    }

    /// Releases what has aged by `now`, or by the latest instant seen.
    fn advance(&self, log: &mut Log, now: u64) {
        log.latest = log.latest.max(now.min(END_OF_TIME));
        while let Some(oldest) = log.entries.front()
            && oldest.at + self.window <= log.latest
        {
            log.before = oldest.up_to;
            log.entries.pop_front();
        }
    }

    /// When `permits` of those in use will have been released; `permits` is above 0 and at most what is in use.
    fn released_at(&self, log: &Log, permits: u32) -> u64 {
        let last = log.entries.partition_point(|entry| entry.up_to.wrapping_sub(log.before) < permits);
        log.entries.get(last).map_or(log.latest, |entry| entry.at + self.window)
    }
}
