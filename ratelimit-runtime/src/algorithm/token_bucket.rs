//! `token_bucket`: a bucket of `burst` tokens that refills at `max` in a window; in any time at most a full bucket and what
//! flows in meanwhile.
//!
//! What is kept is how much the bucket misses. So a bucket that is made larger has more, and one that is made smaller
//! than what has been taken stays closed until that has flowed in.
//!
//! A bucket begins with `initial` tokens when the limiter is made, used or not: one that nobody has used yet has been
//! refilling since then.

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
pub(crate) struct TokenBucket {
    refill: Refill,
    /// A bucket that nobody has used.
    untouched: Tokens,
}

#[derive(Clone, Debug)]
pub(crate) struct Tokens {
    /// What the bucket misses at `at`, in drops.
    missing: u128,
    /// The latest instant seen.
    at: u64,
    refunds: Refunds,
}

impl TokenBucket {
    /// A limiter is made: its buckets miss so many permits.
    pub(super) fn new(refill: Refill, missing: u32, now: u64) -> Self {
        let missing = refill.rate.drops(missing);
        Self { refill, untouched: Tokens { missing, at: now.min(END_OF_TIME), refunds: Refunds::default() } }
    }

    /// A limiter is changed: its buckets miss what they did before.
    pub(super) fn continues(refill: Refill, untouched: &Carried) -> Self {
        let mut plan = Self::new(refill, 0, 0);
        plan.untouched = plan.adopt(untouched);
        plan
    }

    pub(super) fn refill(&self) -> Refill {
        self.refill
    }

    pub(super) fn fresh(&self) -> Tokens {
        self.untouched.clone()
    }

    pub(super) fn charge(
        &self,
        tokens: &mut Tokens,
        now: u64,
        cost: u32,
        capacity: u32,
    ) -> Result<Charged, Denial> {
        self.advance(tokens, now);
        let rate = self.refill.rate;
        if cost > capacity {
            return Err(Denial::CostExceedsCapacity);
        }
        let (missing, at) = (tokens.missing + rate.drops(cost), tokens.at);
        let excess = missing.saturating_sub(rate.drops(capacity));
        if excess > 0 && cost > 0 {
            let ready_at = rate.time(excess).ok_or(Denial::CostExceedsCapacity)?;
            return Err(Denial::Exceeded { ready_at: at.saturating_add(ready_at) });
        }
        let clear_at = at.saturating_add(rate.time_within(tokens.missing));
        let trace = if cost > 0 { tokens.refunds.charged(clear_at) } else { Trace::of_none(at) };
        tokens.missing = missing;
        let remaining = capacity.saturating_sub(rate.permits(missing));
        Ok(Charged { remaining, at, trace })
    }

    pub(super) fn ready_at(&self, tokens: &Tokens, now: u64, cost: u32, capacity: u32) -> Option<u64> {
        if cost > capacity {
            return None;
        }
        let rate = self.refill.rate;
        let (missing, at) = self.missing(tokens, now);
        let excess = (missing + rate.drops(cost)).saturating_sub(rate.drops(capacity));
        if cost == 0 || excess == 0 { Some(now) } else { Some(at.saturating_add(rate.time(excess)?)) }
    }

    pub(super) fn used(&self, tokens: &Tokens, now: u64) -> u32 {
        self.refill.rate.permits(self.missing(tokens, now).0)
    }

    /// When it is as an untouched one would be.
    pub(super) fn clear_at(&self, tokens: &Tokens, now: u64) -> u64 {
        let (missing, at) = self.missing(tokens, now);
        // Both refill alike, so they meet when this one is full, unless they have met.
        if missing <= self.missing(&self.untouched, at).0 {
            return now;
        }
        self.refill.rate.time(missing).map_or(u64::MAX, |time| at.saturating_add(time))
    }

    pub(super) fn refund(&self, tokens: &mut Tokens, now: u64, charged_at: u64, cost: u32) -> u32 {
        let reading = self.reading(tokens, now);
        let given_back = tokens.refunds.refund(&self.refill, reading, charged_at, cost);
        tokens.missing -= given_back;
        self.refill.rate.permits(given_back)
    }

    pub(super) fn undo(
        &self,
        tokens: &mut Tokens,
        now: u64,
        charged_at: u64,
        trace: &Trace,
        cost: u32,
    ) -> u32 {
        let reading = self.reading(tokens, now);
        let given_back = tokens.refunds.undo(&self.refill, reading, charged_at, trace, cost);
        tokens.missing -= given_back;
        self.refill.rate.permits(given_back)
    }

    pub(super) fn carry(&self, mut tokens: Tokens, now: u64) -> Carried {
        let (at, missing) = self.reading(&mut tokens, now);
        Carried { at, since: tokens.refunds.since(), used: Used::Drops(missing, self.refill.rate) }
    }

    pub(super) fn adopt(&self, carried: &Carried) -> Tokens {
        Tokens { missing: carried.drops(self.refill.rate), at: carried.at, refunds: Refunds::adopt(carried) }
    }

    /// How much of it is missing at `now`, or at the latest instant seen, and which of the two it is.
    pub(super) fn reading(&self, tokens: &mut Tokens, now: u64) -> (u64, u128) {
        self.advance(tokens, now);
        (tokens.at, tokens.missing)
    }

    /// So much is missing at `at`, after charges that left no trace.
    pub(super) fn set_reading(&self, tokens: &mut Tokens, at: u64, missing: u128) {
        self.advance(tokens, at);
        tokens.missing = missing;
        tokens.refunds.charged(at);
    }

    /// What is missing at `now`, or at the latest instant seen, and which of the two it is.
    fn missing(&self, tokens: &Tokens, now: u64) -> (u128, u64) {
        let at = tokens.at.max(now.min(END_OF_TIME));
        (tokens.missing.saturating_sub(self.refill.rate.flow(at - tokens.at)), at)
    }

    fn advance(&self, tokens: &mut Tokens, now: u64) {
        (tokens.missing, tokens.at) = self.missing(tokens, now);
    }
}
