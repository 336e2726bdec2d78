//! Permits set out to be taken without a lock.
//!
//! Under its lock, a budget works out how many calls of cost 1 it would admit in a row until some instant, such that it
//! makes no difference when before that instant they come; of a sliding window, what is left until its current bucket
//! ends, of a fixed one until it ends itself. It sets those permits out here. A call takes one with a single decrement, and
//! what was taken is charged to the budget the next time somebody is at its lock. Everything else a budget does begins with
//! taking the rest in again.
//!
//! ```text
//! word    life of the budget, the lowest bits : 16 | permits left, and 2^40 : 48
//! ```
//!
//! 1. Only the holder of the lock opens and closes. While closed, nothing or less is left, and `ready_at` is 0.
//! 2. A decrement that finds 1 or more has taken a permit of the opening that it landed in, whichever that is, and learns
//!    its life. One that finds less has taken nothing: opening overwrites it, closing counts it as 0. So what is left may
//!    be negative; to reach the life, 2^40 calls would have to come at once.
//! 3. `until` never decreases from one opening to the next; where it would, nothing is opened. So a call whose time is
//!    before the `until` that it read is before that of the opening that it lands in, which is the same or a later one.
//! 4. A full opening has no permits, and says with `ready_at` when there will be some. Who reads the same `ready_at` before
//!    and after `until` has seen the budget full, until an instant that lies ahead. Denials only read.

use crate::{
    budget::{Take, Taken, Terms},
    sync::{
        atomic::{
            AtomicU64,
            Ordering::{AcqRel, Acquire, Relaxed, Release},
        },
        race_point,
    },
};

#[derive(Debug)]
pub(super) struct Allotment {
    /// Calls at this instant or later ask the budget.
    until: AtomicU64,
    /// When a call would be admitted, while nothing is left; else 0.
    ready_at: AtomicU64,
    /// The instant from which the permits count that are taken here.
    from: AtomicU64,
    /// The life of the budget meanwhile.
    life: AtomicU64,
    word: Apart<AtomicU64>,
}

const LIFE: u32 = 48;

/// What is left when nothing is.
const NOTHING: u64 = 1 << 40;

/// A value on cache lines of its own, of which processors fetch two at a time.
#[derive(Debug)]
#[repr(align(128))]
struct Apart<T>(T);

impl Allotment {
    pub(super) fn closed() -> Self {
        Self {
            until: AtomicU64::new(0),
            ready_at: AtomicU64::new(0),
            from: AtomicU64::new(0),
            life: AtomicU64::new(0),
            word: Apart(AtomicU64::new(NOTHING)),
        }
    }

    /// Takes one permit, if that is plain.
    #[inline(always)]
    pub(super) fn take(&self, now: u64) -> Take {
        // Acquire, here and of `until`: pairs with the Release in `open`. Who reads a later opening's term also sees that
        // every one before it is closed, so what follows is about that opening or a later one.
        let ready_at = self.ready_at.load(Acquire);
        race_point();
        if now >= self.until.load(Acquire) {
            return Take::Ask;
        }
        race_point();
        if ready_at != 0 {
            let is_full = ready_at > now && self.ready_at.load(Acquire) == ready_at;
            return if is_full { Take::Denied { ready_at } } else { Take::Ask };
        }
        // Relaxed: if the budget goes on to another opening meanwhile, this is an instant of the one before. What the permit
        // gives back, if ever, is then one that was charged a moment earlier.
        let from = self.from.load(Relaxed);
        // That it lands in no opening before the one of `until` follows from the Acquire above. Acquire: pairs with the
        // Release in `open`, and shows the life of that opening, or a later one. Release: pairs with the Acquire in `close`,
        // so that who reads the clock after that reads no earlier time than this call has.
        let word = self.word.0.fetch_sub(1, AcqRel);
        match left(word) {
            0 => Take::Ask,
            left => Take::Taken(Taken { left: left - 1, from, life: life_in(word, self.life.load(Relaxed)) }),
        }
    }

    /// Sets permits out. To be called under the budget's lock, after [`close`](Self::close).
    pub(super) fn open(&self, terms: &Terms) {
        self.from.store(terms.from, Relaxed);
        self.life.store(terms.life, Relaxed);
        // Release: pairs with the loads in `take`.
        self.until.store(terms.until, Release);
        race_point();
        // A swap, since it has to come after every decrement that found the budget closed.
        self.word.0.swap(terms.life << LIFE | (NOTHING + u64::from(terms.permits)), Release);
        self.ready_at.store(terms.ready_at, Release);
    }

    /// Takes in what is left, and says how much. To be called under the budget's lock.
    pub(super) fn close(&self) -> u32 {
        // Relaxed: whoever finds the next opening's terms, or the lock free, sees this as well.
        self.ready_at.store(0, Relaxed);
        race_point();
        // Acquire: pairs with the decrements in `take`.
        left(self.word.0.swap(NOTHING, Acquire))
    }
}

fn left(word: u64) -> u32 {
    let left = (word & ((1 << LIFE) - 1)).saturating_sub(NOTHING);
    u32::try_from(left).unwrap_or(u32::MAX)
}

/// The life that a word tells the end of: not after `seen`, and not 2^16 lives before it.
fn life_in(word: u64, seen: u64) -> u64 {
    seen.wrapping_sub(seen.wrapping_sub(word >> LIFE) & 0xFFFF)
}
