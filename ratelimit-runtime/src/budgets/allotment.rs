//! Permits set out to be taken without a lock.
//!
//! Under its lock, a budget works out how many calls of cost 1 it would admit in a row until some instant, such that it
//! makes no difference when before that instant they come; of a sliding window, what is left until its current bucket
//! ends. It sets those permits out here. Calls take them with one read-modify-write, and what they took is charged to the
//! budget the next time somebody is at its lock. Everything else a budget does begins with taking the rest in again.
//!
//! ```text
//! word    number of the opening : 32 | permits left : 32
//! ```
//!
//! 1. Only the holder of the lock opens and closes, and each changes the number.
//! 2. The terms (until when, from when, ...) change only while closed, with nothing left.
//! 3. A call takes a permit by compare-exchange on a word that it read before the terms. So it takes one only if
//!    the terms that it read are those of that opening: had they changed, the number would have.
//! 4. Closing is a swap, so every permit is either taken before, and counted by [`Allotment::close`], or not at all.
//!
//! The number wraps after 2^32 openings; a call would have to sleep through all of them between two of its steps.

use crate::{
    budget::Terms,
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
    word: AtomicU64,
    /// Calls at this instant or later ask the budget; 0 while closed.
    until: AtomicU64,
    /// The instant from which the permits count that are taken here.
    from: AtomicU64,
    /// The life of the budget meanwhile.
    life: AtomicU64,
    /// When a call that finds nothing left would be admitted; 0: it has to ask the budget.
    ready_at: AtomicU64,
}

/// What a call of cost 1 came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Take {
    Taken {
        left: u32,
        from: u64,
        life: u64,
    },
    Denied {
        ready_at: u64,
    },
    /// Only the budget knows.
    Ask,
}

impl Allotment {
    pub(super) fn closed() -> Self {
        Self {
            word: AtomicU64::new(0),
            until: AtomicU64::new(0),
            from: AtomicU64::new(0),
            life: AtomicU64::new(0),
            ready_at: AtomicU64::new(0),
        }
    }

    /// Takes one permit, if that is plain.
    #[inline]
    pub(super) fn take(&self, now: u64) -> Take {
        // Acquire: pairs with the Release in `open`, and shows that opening's terms, or later ones.
        let mut word = self.word.load(Acquire);
        loop {
            // Acquire, here and of `ready_at`: pairs with the Release in `open`; whoever has read a term of a later opening
            // also sees that the one before was closed.
            if now >= self.until.load(Acquire) {
                return Take::Ask;
            }
            race_point();
            let left = left(word);
            if left == 0 {
                let ready_at = self.ready_at.load(Acquire);
                race_point();
                let again = self.word.load(Acquire);
                if again != word {
                    word = again;
                    continue;
                }
                return if ready_at > now { Take::Denied { ready_at } } else { Take::Ask };
            }
            // Relaxed: they are used only if the exchange proves that the opening is still the same.
            let (from, life) = (self.from.load(Relaxed), self.life.load(Relaxed));
            race_point();
            // Release on success: pairs with the Acquire of the swap in `close`, so that terms written after it cannot have
            // been read above. Acquire, also on failure: as the first load.
            match self.word.compare_exchange_weak(word, word - 1, AcqRel, Acquire) {
                Ok(_) => return Take::Taken { left: left - 1, from, life },
                Err(changed) => word = changed,
            }
        }
    }

    /// Sets permits out. To be called under the budget's lock, after [`close`](Self::close).
    pub(super) fn open(&self, terms: &Terms) {
        self.from.store(terms.from, Relaxed);
        self.life.store(terms.life, Relaxed);
        race_point();
        // Release: pairs with the loads in `take`.
        self.ready_at.store(terms.ready_at, Release);
        self.until.store(terms.until, Release);
        race_point();
        // Relaxed: only the holder of the lock changes the number.
        let number = next_number(self.word.load(Relaxed));
        // Release: pairs with the loads in `take`, which then see the terms above.
        self.word.store(number | u64::from(terms.permits), Release);
    }

    /// Takes in what is left, and says how much. To be called under the budget's lock.
    pub(super) fn close(&self) -> u32 {
        let number = next_number(self.word.load(Relaxed));
        // Acquire: pairs with the exchanges in `take`, see there. Release: so that the number is seen with it.
        let word = self.word.swap(number, AcqRel);
        race_point();
        self.until.store(0, Release);
        left(word)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the low half")]
fn left(word: u64) -> u32 {
    word as u32
}

fn next_number(word: u64) -> u64 {
    ((word >> 32) + 1) << 32
}
