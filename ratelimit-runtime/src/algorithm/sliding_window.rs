//! `sliding_window`: in any interval of one window, at most `max` permits.
//!
//! Charges are counted in buckets, and a bucket's charges are released together, one window after the bucket has ended.
//! So a charge counts for a window at least, and for a window and a bucket at most. That takes one bucket more than the
//! window has: without it, the oldest would be released when the current one begins, up to a bucket too early.

#[cfg(test)]
mod tests;

use std::mem;

use super::{
    Allowance, Charged, Denial, END_OF_TIME, Grain, Lag,
    carried::{Carried, Past, Placed, Used},
    grid::Grid,
};

#[derive(Clone, Debug)]
pub(crate) struct SlidingWindow {
    grid: Grid,
    /// How far behind the clock may be: by so much, or a little more, the grid's window is longer than the limit's.
    lag: Lag,
}

/// The buckets that count: the current one and a window of those before it.
#[derive(Clone, Debug)]
pub(crate) struct Ring {
    /// Permits charged in each: from the oldest, in the place after the current bucket, round to the current one.
    counts: Box<[u32]>,
    /// The sum of the counts.
    used: u32,
    /// The place of the current bucket.
    place: usize,
    /// The number of the current bucket.
    bucket: u64,
    /// The end of the current bucket, which is also when the oldest one is released.
    end: u64,
    /// The latest instant seen; always in the current bucket.
    latest: u64,
    blocked: Blocked,
    /// Where charges are that were made before the last change.
    past: Option<Box<Past>>,
}

/// The last answer to "when will so many permits have been released?", so that a flood of denials costs one search.
/// It holds for any number above `above`, up to `up_to`; charges leave it true, a release or a refund does not.
#[derive(Clone, Copy, Debug)]
struct Blocked {
    above: u32,
    up_to: u32,
    released_at: u64,
}

impl Blocked {
    /// Holds for no number of permits.
    const UNKNOWN: Self = Self { above: 0, up_to: 0, released_at: 0 };

    fn answers(self, permits: u32) -> bool {
        self.above < permits && permits <= self.up_to
    }
}

impl Ring {
    /// The number of the current bucket.
    pub(crate) fn bucket(&self) -> u64 {
        self.bucket
    }

    pub(crate) fn in_use(&self) -> u32 {
        self.used
    }

    /// What each bucket holds: a window of those before the current one, and that.
    pub(crate) fn counts(&self) -> impl Iterator<Item = u32> {
        self.oldest_first()
    }

    /// Charges made before a change are found where those of `other` are.
    pub(crate) fn has_past_of(&self, other: &Self) -> bool {
        self.past.is_none() || self.past == other.past
    }

    fn oldest_first(&self) -> impl Iterator<Item = u32> {
        let (newer, older) = self.counts.split_at(self.place + 1);
        older.iter().chain(newer).copied()
    }
}

impl SlidingWindow {
    pub(super) fn new(window: u64, buckets: u32, grain: Grain) -> Self {
        let (grid, lag) = grain.grid(window, buckets);
        Self { grid, lag }
    }

    pub(super) fn lag(&self) -> Lag {
        self.lag
    }

    pub(super) fn fresh(&self) -> Ring {
        Ring {
            counts: vec![0; self.grid.buckets() as usize + 1].into_boxed_slice(),
            used: 0,
            place: 0,
            bucket: 0,
            end: self.grid.start(1),
            latest: 0,
            blocked: Blocked::UNKNOWN,
            past: None,
        }
    }

    /// Makes `ring` one whose current bucket is `bucket`, with `latest` the latest instant seen in it. What it knows of
    /// charges made before a change remains.
    pub(crate) fn load(&self, ring: &mut Ring, bucket: u64, latest: u64, counts: impl Iterator<Item = u32>) {
        ring.used = 0;
        for (place, count) in ring.counts.iter_mut().zip(counts) {
            *place = count;
            ring.used += count;
        }
        ring.place = ring.counts.len() - 1;
        (ring.bucket, ring.latest, ring.end) = (bucket, latest, self.grid.start(bucket + 1));
        ring.blocked = Blocked::UNKNOWN;
    }

    /// Buckets of a window.
    pub(crate) fn buckets(&self) -> u32 {
        self.grid.buckets()
    }

    /// The number of the bucket that holds `instant`.
    pub(crate) fn bucket_at(&self, instant: u64) -> u64 {
        self.grid.bucket_at(instant)
    }

    /// The first instant of a bucket.
    pub(crate) fn start(&self, bucket: u64) -> u64 {
        self.grid.start(bucket)
    }

    #[inline]
    pub(super) fn charge(
        &self,
        ring: &mut Ring,
        now: u64,
        cost: u32,
        capacity: u32,
    ) -> Result<Charged, Denial> {
        self.advance(ring, now);
        let Some(most_used) = capacity.checked_sub(cost) else {
            return Err(Denial::CostExceedsCapacity);
        };
        if let Some(remaining) = most_used.checked_sub(ring.used) {
            ring.used += cost;
            ring.counts[ring.place] += cost;
            return Ok(Charged::new(remaining, ring.latest));
        }
        if cost == 0 {
            return Ok(Charged::new(0, ring.latest));
        }
        let excess = ring.used - most_used;
        if !ring.blocked.answers(excess) {
            ring.blocked = self.search(ring, excess);
        }
        Err(Denial::Exceeded { ready_at: ring.blocked.released_at })
    }

    /// Until the current bucket ends, it makes no difference when in it a charge is made.
    pub(super) fn allowance(&self, ring: &mut Ring, now: u64, capacity: u32) -> Option<Allowance> {
        self.advance(ring, now);
        let most_used = capacity.checked_sub(1)?;
        let excess = ring.used.saturating_sub(most_used);
        let ready_at = if excess == 0 { 0 } else { self.released_at(ring, excess) };
        let permits = capacity.saturating_sub(ring.used);
        Some(Allowance { permits, from: ring.latest, until: ring.end, ready_at })
    }

    pub(super) fn ready_at(&self, ring: &Ring, now: u64, cost: u32, capacity: u32) -> Option<u64> {
        let most_used = capacity.checked_sub(cost)?;
        let excess = ring.used.saturating_sub(most_used);
        if cost == 0 || excess == 0 { Some(now) } else { Some(self.released_at(ring, excess).max(now)) }
    }

    pub(super) fn used(&self, ring: &Ring, now: u64) -> u32 {
        let now = now.min(END_OF_TIME);
        if ring.used == 0 || now < ring.end {
            return ring.used;
        }
        let steps = usize::try_from(self.grid.bucket_at(now) - ring.bucket).unwrap_or(usize::MAX);
        ring.oldest_first().skip(steps).sum()
    }

    pub(super) fn clear_at(&self, ring: &Ring, now: u64) -> u64 {
        if ring.used == 0 { now } else { self.released_at(ring, ring.used).max(now) }
    }

    pub(super) fn refund(&self, ring: &mut Ring, now: u64, charged_at: u64, cost: u32) -> u32 {
        self.advance(ring, now);
        let counted_from = ring.past.as_ref().map_or(Some(charged_at), |past| past.place(charged_at));
        let Some(place) = counted_from.and_then(|instant| self.place_of(ring, instant)) else {
            return 0;
        };
        let given_back = ring.counts[place].min(cost);
        ring.counts[place] -= given_back;
        ring.used -= given_back;
        ring.blocked = Blocked::UNKNOWN;
        given_back
    }

    pub(super) fn counts_alike(&self, at: u64, other: u64) -> bool {
        self.grid.bucket_at(at) == self.grid.bucket_at(other)
    }

    pub(super) fn carry(&self, mut ring: Ring, now: u64) -> Carried {
        self.advance(&mut ring, now);
        let (at, grid) = (ring.latest, self.grid);
        let oldest = ring.bucket.saturating_sub(u64::from(grid.buckets()));
        let since = ring.past.as_ref().map_or(0, |past| past.since()).max(grid.start(oldest));
        // Near the start of the timeline the ring has places for buckets before it, which are empty.
        let missing = ring.counts.len() as u64 - 1 - (ring.bucket - oldest);
        let live = ring.oldest_first().skip(usize::try_from(missing).unwrap_or(usize::MAX));
        let placed = Placed::InBuckets { grid, later: 0 };
        let charges = (oldest..).zip(live).filter(|(_, permits)| *permits > 0);
        let charges = charges.map(|(bucket, permits)| (placed.place(grid.start(bucket), at), permits));
        Carried { at, since, used: Used::Charges(charges.collect(), placed) }
    }

    pub(super) fn adopt(&self, carried: Carried) -> Ring {
        let mut ring = self.fresh();
        self.advance(&mut ring, carried.at);
        let (charges, past) = carried.charges();
        for (at, permits) in charges {
            if let Some(place) = self.place_of(&ring, at) {
                ring.counts[place] += permits;
                ring.used += permits;
            }
        }
        ring.past = Some(Box::new(past));
        ring
    }

    /// Whether a ring of one is a ring of the other as it is.
    pub(super) fn counts_as(&self, other: &Self) -> bool {
        self.grid == other.grid && self.lag.by == other.lag.by
    }

    /// Brings the ring to `now`, or leaves it where it is if it has been later.
    #[inline]
    fn advance(&self, ring: &mut Ring, now: u64) {
        let now = now.min(END_OF_TIME);
        if now > ring.latest {
            ring.latest = now;
            if now >= ring.end {
                self.rotate(ring);
            }
        }
    }

    /// Releases what has aged, and makes the bucket of `latest` the current one.
    #[cold]
    fn rotate(&self, ring: &mut Ring) {
        let bucket = self.grid.bucket_at(ring.latest);
        let used_before = ring.used;
        let mut steps = bucket - ring.bucket;
        // Once the ring is empty, any place will do for the current bucket.
        while steps > 0 && ring.used > 0 {
            ring.place = if ring.place + 1 == ring.counts.len() { 0 } else { ring.place + 1 };
            ring.used -= mem::take(&mut ring.counts[ring.place]);
            steps -= 1;
        }
        ring.bucket = bucket;
        ring.end = self.grid.start(bucket + 1);
        if ring.used != used_before {
            ring.blocked = Blocked::UNKNOWN;
        }
    }

    /// When `permits` of those in use will have been released; `permits` is above 0 and at most `used`.
    fn released_at(&self, ring: &Ring, permits: u32) -> u64 {
        if ring.blocked.answers(permits) {
            ring.blocked.released_at
        } else {
            self.search(ring, permits).released_at
        }
    }

    #[cold]
    fn search(&self, ring: &Ring, permits: u32) -> Blocked {
        let mut found = Blocked { above: 0, up_to: 0, released_at: ring.end };
        // The oldest bucket is released when the one after the current begins, the next oldest a bucket later, and so on.
        for (bucket, count) in (ring.bucket + 1..).zip(ring.oldest_first()) {
            found.above = found.up_to;
            found.up_to += count;
            if found.answers(permits) {
                found.released_at = self.grid.start(bucket);
                break;
            }
        }
        found
    }

    /// The place of the bucket that holds `instant`, if that one still counts.
    fn place_of(&self, ring: &Ring, instant: u64) -> Option<usize> {
        let age = ring.bucket.checked_sub(self.grid.bucket_at(instant))?;
        let age = usize::try_from(age).ok().filter(|&age| age < ring.counts.len())?;
        Some((ring.place + ring.counts.len() - age) % ring.counts.len())
    }
}
