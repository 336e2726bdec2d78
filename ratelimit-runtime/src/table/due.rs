//! When to look which keys may be let go of.

use std::{
    array,
    cmp::Reverse,
    collections::{BinaryHeap, binary_heap::PeekMut},
    sync::Arc,
};

use super::{SHARDS, slot::Slot};
use crate::sync::atomic::{
    AtomicU64,
    Ordering::{AcqRel, Relaxed},
};

pub(super) const NEVER: u64 = u64::MAX;

/// The entries of one shard that are to be looked at, the earliest first.
pub(super) struct Due {
    queue: BinaryHeap<Reverse<(u64, Slot)>>,
    /// When to look at the plain budgets, which are in no queue.
    plain: u64,
    agenda: Arc<Agenda>,
    shard: usize,
}

/// When each shard has something due, for those who look for room without its lock.
///
/// Written under the lock of the shard. It guards nothing: whoever reads a time that is out of date looks in vain, or sends
/// one new key to an overflow budget.
pub(super) struct Agenda {
    next: [AtomicU64; SHARDS],
    /// No later than any of them: so that in a flood of new keys most need not look at them all.
    soonest: AtomicU64,
}

impl Agenda {
    pub(super) fn new() -> Self {
        Self { next: array::from_fn(|_| AtomicU64::new(NEVER)), soonest: AtomicU64::new(NEVER) }
    }

    /// A shard of which keys may be let go of.
    pub(super) fn first_due(&self, now: u64) -> Option<usize> {
        let soonest = self.soonest.load(Relaxed);
        if soonest > now {
            return None;
        }
        let due = self.next.iter().position(|next| next.load(Relaxed) <= now);
        if due.is_none() {
            // Only if nobody has announced an earlier time since; and one who did so before, and changed nothing, has
            // left its time to be found now. AcqRel: pairs with that in `announce`.
            let later = self.earliest();
            if self.soonest.compare_exchange(soonest, later, AcqRel, Relaxed).is_ok() {
                self.soonest.fetch_min(self.earliest(), AcqRel);
            }
        }
        due
    }

    fn earliest(&self) -> u64 {
        self.next.iter().map(|next| next.load(Relaxed)).min().unwrap_or(NEVER)
    }

    fn announce(&self, shard: usize, next: u64) {
        self.next[shard].store(next, Relaxed);
        // AcqRel: who moves `soonest` on after this sees the time above.
        self.soonest.fetch_min(next, AcqRel);
    }
}

impl Due {
    pub(super) fn new(agenda: Arc<Agenda>, shard: usize) -> Self {
        Self { queue: BinaryHeap::new(), plain: NEVER, agenda, shard }
    }

    pub(super) fn push(&mut self, at: u64, slot: Slot) {
        self.queue.push(Reverse((at, slot)));
        self.announce();
    }

    /// The earliest entry, and when it was due, if that is not after `now`.
    pub(super) fn pop(&mut self, now: u64) -> Option<(u64, Slot)> {
        let next = self.queue.peek_mut().filter(|next| next.0.0 <= now)?;
        let Reverse(due) = PeekMut::pop(next);
        self.announce();
        Some(due)
    }

    pub(super) fn clear(&mut self) {
        self.queue = BinaryHeap::new();
        self.announce();
    }

    pub(super) fn set_plain(&mut self, at: u64) {
        if self.plain != at {
            self.plain = at;
            self.announce();
        }
    }

    /// When there is something to look at.
    pub(super) fn next(&self) -> u64 {
        self.queue.peek().map_or(NEVER, |Reverse((at, _))| *at).min(self.plain)
    }

    fn announce(&self) {
        self.agenda.announce(self.shard % SHARDS, self.next());
    }
}

#[cfg(all(test, not(ratelimit_loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_shard_is_found_as_soon_as_something_is_due_there() {
        let agenda = Agenda::new();
        assert_eq!(agenda.first_due(NEVER - 1), None);
        agenda.announce(3, 100);
        agenda.announce(5, 50);
        assert_eq!(agenda.first_due(49), None);
        assert_eq!(agenda.first_due(50), Some(5));
        agenda.announce(5, 200);
        assert_eq!(agenda.first_due(99), None);
        assert_eq!(agenda.first_due(100), Some(3));
        agenda.announce(3, NEVER);
        assert_eq!(agenda.first_due(150), None);
        agenda.announce(7, 140);
        assert_eq!(agenda.first_due(150), Some(7));
    }
}
