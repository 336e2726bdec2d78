//! One packed budget, and the word that says who may do what with it.
//!
//! ```text
//! state   permits in use : 32 | LOCK : 1 | stamp : 31
//! ```
//!
//! The stamp grows with every unlocking. The words behind the state are written under LOCK only; a vacant place stays locked.

use super::{
    counters::Counters,
    low_half,
    shape::{KEY, Shape},
};
use crate::{
    key::Key,
    sync::{
        atomic::{
            AtomicU64,
            Ordering::{Acquire, Relaxed, Release},
            fence,
        },
        yield_now,
    },
};

const LOCK: u64 = 1 << 31;
const STAMP: u64 = LOCK - 1;

/// The bucket of a place that no key has.
const VACANT: u64 = u64::MAX;

#[derive(Clone, Copy)]
pub(in crate::table) struct Packed<'a> {
    /// The state, the bucket, and the key, or what of it there is.
    head: &'a [AtomicU64; 5],
    words: &'a [AtomicU64],
    shape: &'a Shape,
}

/// What the state word said.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::table) struct Seen(u64);

impl Seen {
    /// Permits in use.
    #[inline]
    pub(in crate::table) fn used(self) -> u32 {
        low_half(self.0 >> 32)
    }

    #[inline]
    pub(super) fn is_locked(self) -> bool {
        self.0 & LOCK != 0
    }
}

impl<'a> Packed<'a> {
    #[inline]
    pub(super) fn new(words: &'a [AtomicU64], shape: &'a Shape) -> Option<Self> {
        Some(Self { head: words.first_chunk()?, words, shape })
    }

    /// The words of a vacant place.
    pub(super) fn vacant(shape: Shape) -> impl Iterator<Item = AtomicU64> {
        (0..shape.stride).map(|word| {
            AtomicU64::new(match word {
                0 => LOCK,
                1 => VACANT,
                _ => 0,
            })
        })
    }

    /// Acquire: pairs with the Release in `unlock`, and shows what was written before it, or later.
    #[inline]
    pub(in crate::table) fn see(self) -> Seen {
        Seen(self.head[0].load(Acquire))
    }

    /// Whether nothing has been written between `seen` and what was read since.
    #[inline]
    pub(super) fn is_still(self, seen: Seen) -> bool {
        // Pairs with the fence in `try_lock`: whoever has read what was written after that sees the lock, or a later stamp.
        fence(Acquire);
        self.head[0].load(Relaxed) == seen.0
    }

    /// Charges `cost`, if nothing has happened since `seen`. So what was read after it was right.
    #[inline]
    pub(super) fn charge(self, seen: Seen, cost: u32) -> bool {
        let charged = seen.0 + (u64::from(cost) << 32);
        // Release: pairs with the Acquire in `try_lock`, so that what is written under that lock cannot have been read
        // before this. Relaxed on failure: whoever tries again sees again.
        self.head[0].compare_exchange(seen.0, charged, Release, Relaxed).is_ok()
    }

    #[inline]
    pub(super) fn try_lock(self, seen: Seen) -> bool {
        let locked = self.head[0].compare_exchange(seen.0, seen.0 | LOCK, Acquire, Relaxed).is_ok();
        // Pairs with the fence in `is_still`.
        fence(Release);
        locked
    }

    /// Waits for the lock. Who has it needs nothing from us, and only a moment.
    ///
    /// For the holder of the shard's lock, and never for a vacant place.
    pub(in crate::table) fn lock(self) -> Seen {
        loop {
            let seen = self.see();
            if !seen.is_locked() && self.try_lock(seen) {
                return seen;
            }
            yield_now();
        }
    }

    /// Unlocks with so many permits in use; `seen` is what the state was before it was locked.
    pub(in crate::table) fn unlock(self, seen: Seen, used: u32) {
        let stamp = (seen.0 + 1) & STAMP;
        self.head[0].store(u64::from(used) << 32 | stamp, Release);
    }

    /// Unlocks what was not written to.
    pub(in crate::table) fn unlock_as_it_was(self, seen: Seen) {
        self.head[0].store(seen.0, Release);
    }

    /// The number of the bucket that charges count in.
    #[inline]
    pub(in crate::table) fn bucket(self) -> u64 {
        self.head[1].load(Relaxed)
    }

    pub(in crate::table) fn set_bucket(self, bucket: u64) {
        self.head[1].store(bucket, Relaxed);
    }

    /// For the holder of the shard's lock, who alone changes it.
    pub(in crate::table) fn is_vacant(self) -> bool {
        self.bucket() == VACANT
    }

    #[inline]
    pub(super) fn is_of(self, key: &[u64; 3]) -> bool {
        let difference = |word: usize| self.head[2 + word].load(Relaxed) ^ key[word];
        difference(0) | difference(1) | (difference(2) & self.shape.third_of_key()) == 0
    }

    pub(in crate::table) fn key(self) -> Key {
        let mut words = [0; 3];
        let kept = &self.words[KEY..self.shape.counters_at()];
        for (word, kept) in words.iter_mut().zip(kept) {
            *word = kept.load(Relaxed);
        }
        self.shape.key_of(words)
    }

    /// See [`Counters::ready`].
    #[inline]
    pub(super) fn ready(self) -> u16 {
        self.words.last().map_or(0, |word| (word.load(Relaxed) >> Counters::READY) as u16)
    }

    pub(super) fn counters(self) -> Counters<'a> {
        Counters::new(&self.words[self.shape.counters_at()..], *self.shape)
    }

    /// Gives a vacant place to a key. It stays locked; `seen` is what to unlock it from.
    pub(super) fn occupy(self, key: &[u64; 3]) -> Seen {
        let seen = Seen(self.head[0].load(Relaxed) & !LOCK);
        // Pairs with the fence in `is_still`; the place was locked when it became vacant.
        fence(Release);
        let at = KEY;
        for (word, key) in self.words[at..self.shape.counters_at()].iter().zip(key) {
            word.store(*key, Relaxed);
        }
        seen
    }

    /// Makes a locked place vacant, and remembers which was vacant before it.
    pub(super) fn vacate(self, next_vacant: u32) {
        self.set_bucket(VACANT);
        self.words[KEY].store(u64::from(next_vacant), Relaxed);
    }

    pub(super) fn next_vacant(self) -> u32 {
        low_half(self.words[KEY].load(Relaxed))
    }

    /// Takes over the bucket and the counters of one that is locked.
    pub(super) fn copy_from(self, other: Packed<'_>) {
        self.set_bucket(other.bucket());
        let from = &other.words[other.shape.counters_at()..];
        for (to, from) in self.words[self.shape.counters_at()..].iter().zip(from) {
            to.store(from.load(Relaxed), Relaxed);
        }
    }
}
