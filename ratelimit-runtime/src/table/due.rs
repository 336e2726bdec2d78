//! When to look which keys may be let go of.

use std::{
    array,
    cmp::Reverse,
    collections::{BinaryHeap, binary_heap::PeekMut},
    sync::Arc,
};

use super::{SHARDS, shard::Slot};
use crate::sync::atomic::{AtomicU64, Ordering::Relaxed};

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
/// Written under the lock of the shard. Relaxed, as it guards nothing: whoever reads a time that is out of date looks in
/// vain, or sends one new key to an overflow budget.
pub(super) struct Agenda {
    next: [AtomicU64; SHARDS],
}

impl Agenda {
    pub(super) fn new() -> Self {
        Self { next: array::from_fn(|_| AtomicU64::new(NEVER)) }
    }

    /// A shard of which keys may be let go of.
    pub(super) fn first_due(&self, now: u64) -> Option<usize> {
        self.next.iter().position(|next| next.load(Relaxed) <= now)
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

    fn announce(&self) {
        let next = self.queue.peek().map_or(NEVER, |Reverse((at, _))| *at).min(self.plain);
        self.agenda.next[self.shard % SHARDS].store(next, Relaxed);
    }
}
