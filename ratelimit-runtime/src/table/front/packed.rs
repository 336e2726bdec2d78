//! One packed budget, and the word that says who may do what with it.
//!
//! ```text
//! state   permits in use : 32 | LOCK : 1 | stamp : 31
//! ```
//!
//! The stamp grows with every unlocking. The words behind the state are written under LOCK only; a vacant place stays locked.

use super::{counters::Counters, low_half, shape::Shape};
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

/// Places for packed budgets. What every call reads comes first.
#[repr(C)]
pub(super) struct Places {
    heads: Box<[Head]>,
    pub(super) shape: Shape,
    tails: Box<[AtomicU64]>,
}

#[derive(Clone, Copy)]
pub(in crate::table) struct Packed<'a> {
    head: &'a Head,
    place: usize,
    places: &'a Places,
}

/// The state, the bucket, and the first two words of the key.
#[repr(align(32))]
struct Head([AtomicU64; 4]);

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

impl Places {
    pub(super) fn new(shape: Shape, places: usize) -> Self {
        let vacant = || Head([LOCK, VACANT, 0, 0].map(AtomicU64::new));
        let tails = (0..places * shape.tail()).map(|_| AtomicU64::new(0));
        Self { shape, heads: (0..places).map(|_| vacant()).collect(), tails: tails.collect() }
    }

    #[inline]
    pub(super) fn get(&self, place: usize) -> Option<Packed<'_>> {
        Some(Packed { head: self.heads.get(place)?, place, places: self })
    }
}

impl<'a> Packed<'a> {
    /// Acquire: pairs with the Release in `unlock`, and shows what was written before it, or later.
    #[inline]
    pub(in crate::table) fn see(self) -> Seen {
        Seen(self.head.0[0].load(Acquire))
    }

    /// Whether nothing has been written between `seen` and what was read since.
    #[inline]
    pub(super) fn is_still(self, seen: Seen) -> bool {
        // Pairs with the fence in `try_lock`: whoever has read what was written after that sees the lock, or a later stamp.
        fence(Acquire);
        self.head.0[0].load(Relaxed) == seen.0
    }

    /// Charges `cost`, if nothing has happened since `seen`. So what was read after it was right.
    #[inline]
    pub(super) fn charge(self, seen: Seen, cost: u32) -> bool {
        let charged = seen.0 + (u64::from(cost) << 32);
        // Release: pairs with the Acquire in `try_lock`, so that what is written under that lock cannot have been read
        // before this. Relaxed on failure: whoever tries again sees again.
        self.head.0[0].compare_exchange(seen.0, charged, Release, Relaxed).is_ok()
    }

    #[inline]
    pub(super) fn try_lock(self, seen: Seen) -> bool {
        let locked = self.head.0[0].compare_exchange(seen.0, seen.0 | LOCK, Acquire, Relaxed).is_ok();
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
        self.head.0[0].store(u64::from(used) << 32 | stamp, Release);
    }

    /// Unlocks what was not written to.
    pub(in crate::table) fn unlock_as_it_was(self, seen: Seen) {
        self.head.0[0].store(seen.0, Release);
    }

    /// The number of the bucket that charges count in.
    #[inline]
    pub(in crate::table) fn bucket(self) -> u64 {
        self.head.0[1].load(Relaxed)
    }

    pub(in crate::table) fn set_bucket(self, bucket: u64) {
        self.head.0[1].store(bucket, Relaxed);
    }

    /// For the holder of the shard's lock, who alone changes it.
    pub(in crate::table) fn is_vacant(self) -> bool {
        self.bucket() == VACANT
    }

    #[inline]
    pub(super) fn is_of(self, key: &Key) -> bool {
        let [.., first, second] = &self.head.0;
        let words = key.words();
        let difference = (first.load(Relaxed) ^ words[0]) | (second.load(Relaxed) ^ words[1]);
        difference == 0 && self.third_of_key() == words[2]
    }

    pub(in crate::table) fn key(self) -> Key {
        let [.., first, second] = &self.head.0;
        Key::of_words([first.load(Relaxed), second.load(Relaxed), self.third_of_key()])
    }

    #[inline]
    fn third_of_key(self) -> u64 {
        let shape = self.places.shape;
        if shape.has_third() { self.word_of_tail(shape.counter_words) } else { 0 }
    }

    #[inline]
    fn tail(self) -> &'a [AtomicU64] {
        let length = self.places.shape.tail();
        &self.places.tails[self.place * length..][..length]
    }

    #[inline]
    fn word_of_tail(self, number: usize) -> u64 {
        let word = self.places.tails.get(self.place * self.places.shape.tail() + number);
        word.map_or(0, |word| word.load(Relaxed))
    }

    /// See [`Counters::ready`].
    #[inline]
    pub(super) fn ready(self) -> u16 {
        (self.word_of_tail(self.places.shape.counter_words.wrapping_sub(1)) >> Counters::READY) as u16
    }

    pub(super) fn counters(self) -> Counters<'a> {
        Counters::new(&self.tail()[..self.places.shape.counter_words], self.places.shape)
    }

    /// Gives a vacant place to a key. It stays locked; `seen` is what to unlock it from.
    pub(super) fn occupy(self, key: &Key) -> Seen {
        let [first, second, third] = key.words();
        let seen = Seen(self.head.0[0].load(Relaxed) & !LOCK);
        // Pairs with the fence in `is_still`; the place was locked when it became vacant.
        fence(Release);
        self.head.0[2].store(first, Relaxed);
        self.head.0[3].store(second, Relaxed);
        if let Some(word) = self.tail().get(self.places.shape.counter_words) {
            word.store(third, Relaxed);
        }
        seen
    }

    /// Makes a locked place vacant.
    pub(super) fn vacate(self) {
        self.set_bucket(VACANT);
    }

    /// Takes over the bucket and the counters of one that is locked.
    pub(super) fn copy_from(self, other: Packed<'_>) {
        self.set_bucket(other.bucket());
        let to = &self.tail()[..self.places.shape.counter_words];
        let from = &other.tail()[..other.places.shape.counter_words];
        for (to, from) in to.iter().zip(from) {
            to.store(from.load(Relaxed), Relaxed);
        }
    }
}
