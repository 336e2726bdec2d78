//! A steadily refilling budget in one word, to be charged without a lock.
//!
//! The word is the instant at which the budget is full again, in [`Ticks`] since an origin; a permit moves it on. Under its
//! lock, the budget sets the word out here. Calls charge it by compare-exchange, and the next to hold the lock takes it in
//! again.
//!
//! ```text
//! word    number of the terms : 8 | full again at : 56        or all ones, while closed
//! ```
//!
//! 1. Only the holder of the lock opens and closes. The terms change only while closed, and their number with them.
//! 2. A call reads the word, the terms, and then exchanges that very word. So the terms that it went by are the word's
//!    own: had they changed since, the number would have. It wraps after 256 changes of the limit; a call would have to
//!    sleep through all of them between two of its steps, and then find the same instant.
//! 3. A denial only reads, the word twice, with the terms between.
//! 4. A call may know the time only roughly: it is `now` at the earliest, and `lag` later at the latest. It decides then
//!    only what is the same at either. A budget that may be full goes by the exact time, since from then it refills.

#[cfg(test)]
mod tests;

use crate::{
    algorithm::{Metered, Ticks},
    budget::{Take, Taken},
    sync::{
        atomic::{
            AtomicBool, AtomicU64,
            Ordering::{AcqRel, Acquire, Relaxed, Release},
        },
        race_point,
    },
};

pub(super) struct Meter {
    /// Relaxed: whoever believes it too long, or not yet, finds the word closed, or asks the budget.
    is_open: AtomicBool,
    origin: AtomicU64,
    life: AtomicU64,
    per_nanosecond: AtomicU64,
    per_permit: AtomicU64,
    capacity: AtomicU64,
    charged: Charged,
}

/// What calls write, on cache lines of its own.
#[repr(align(128))]
struct Charged {
    word: AtomicU64,
    /// The latest instant that is known exactly: a clock that steps back does not go behind it. Relaxed: it only grows, and
    /// whoever reads an earlier one sees more in use.
    latest: AtomicU64,
}

/// What a budget has set out here: its holder keeps it under the lock.
#[derive(Clone, Copy)]
pub(super) struct SetOut {
    terms: Terms,
    number: u8,
    full_at: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Terms {
    ticks: Ticks,
    origin: u64,
    /// The life of the budget.
    life: u64,
}

const CLOSED: u64 = u64::MAX;
const NUMBER: u32 = 56;

impl Meter {
    pub(super) fn closed() -> Self {
        let zero = || AtomicU64::new(0);
        Self {
            is_open: AtomicBool::new(false),
            origin: zero(),
            life: zero(),
            per_nanosecond: zero(),
            per_permit: zero(),
            capacity: zero(),
            charged: Charged { word: AtomicU64::new(CLOSED), latest: zero() },
        }
    }

    #[inline]
    pub(super) fn is_open(&self) -> bool {
        self.is_open.load(Relaxed)
    }

    /// Charges one permit, if that is plain at any time from `now` until `lag` later. Nobody has counted it then.
    #[inline(always)]
    pub(super) fn take(&self, now: u64, lag: u64) -> Take {
        let latest = self.charged.latest.load(Relaxed);
        let now = now.max(latest);
        // Acquire, here and below: pairs with the Release in `open`, and shows the terms of that word, or later ones.
        let mut word = self.charged.word.load(Acquire);
        loop {
            if word == CLOSED {
                return Take::Ask;
            }
            let full_at = full_at(word);
            let Terms { ticks, origin, life } = self.terms();
            let time = |instant: u64| instant.saturating_sub(origin).checked_mul(ticks.per_nanosecond);
            let (Some(earliest), Some(latest_now)) = (time(now), time(now.saturating_add(lag))) else {
                return Take::Ask;
            };
            if full_at < latest_now && lag > 0 {
                return Take::Ask;
            }
            let charged = full_at.max(earliest).saturating_add(ticks.per_permit);
            if charged >= Ticks::MOST {
                return Take::Ask;
            }
            race_point();
            if charged <= earliest.saturating_add(ticks.capacity) {
                let next = word - full_at + charged;
                // Release on success: pairs with the Acquire in `close`, so that terms written after that were not read above.
                match self.charged.word.compare_exchange_weak(word, next, AcqRel, Acquire) {
                    Ok(_) if lag == 0 && now > latest => self.charged.latest.fetch_max(now, Relaxed),
                    Ok(_) => latest,
                    Err(other) => {
                        word = other;
                        continue;
                    }
                };
                // Divided only for those who hold a permit: who does not look at it has it left out.
                let left = (earliest + ticks.capacity - charged) / ticks.per_permit.max(1);
                let left = u32::try_from(left).unwrap_or(u32::MAX);
                return Take::Taken(Taken { left, from: now, life });
            }
            if lag > 0 && charged <= latest_now.saturating_add(ticks.capacity) {
                return Take::Ask;
            }
            // Acquire: as the first load.
            let again = self.charged.word.load(Acquire);
            if again == word {
                let ready_at = (charged - ticks.capacity).div_ceil(ticks.per_nanosecond.max(1));
                return Take::Denied { ready_at: origin.saturating_add(ready_at) };
            }
            word = again;
        }
    }

    fn terms(&self) -> Terms {
        // Acquire: pairs with the Release in `open`; whoever has read a later term finds the word before it closed.
        let load = |term: &AtomicU64| term.load(Acquire);
        Terms {
            ticks: Ticks {
                per_nanosecond: load(&self.per_nanosecond),
                per_permit: load(&self.per_permit),
                capacity: load(&self.capacity),
            },
            origin: load(&self.origin),
            life: load(&self.life),
        }
    }

    /// Sets a budget out, after what was set out `before`, if its numbers fit. To be called under the budget's lock, after
    /// [`close`](Self::close).
    pub(super) fn open(&self, metered: &Metered, life: u64, before: Option<SetOut>) -> Option<SetOut> {
        let set_out = SetOut::of(metered, life, before)?;
        let Terms { ticks, origin, life } = set_out.terms;
        // Release: pairs with `terms`.
        let store = |term: &AtomicU64, value| term.store(value, Release);
        store(&self.per_nanosecond, ticks.per_nanosecond);
        store(&self.per_permit, ticks.per_permit);
        store(&self.capacity, ticks.capacity);
        store(&self.origin, origin);
        store(&self.life, life);
        self.charged.latest.fetch_max(metered.at, Relaxed);
        race_point();
        // Release: pairs with the loads in `take`.
        self.charged.word.store(u64::from(set_out.number) << NUMBER | set_out.full_at, Release);
        self.is_open.store(true, Relaxed);
        Some(set_out)
    }

    /// Takes a budget in, and says when and how full it is, if anything has been charged. To be called under the budget's
    /// lock.
    pub(super) fn close(&self, set_out: &SetOut) -> Option<Metered> {
        self.is_open.store(false, Relaxed);
        // Acquire: pairs with the exchanges in `take`.
        let word = self.charged.word.swap(CLOSED, AcqRel);
        let full_at = full_at(word);
        if word == CLOSED || full_at == set_out.full_at {
            return None;
        }
        let Terms { ticks, origin, .. } = set_out.terms;
        let at = self.charged.latest.load(Relaxed);
        let ahead = full_at.saturating_sub(at.saturating_sub(origin).saturating_mul(ticks.per_nanosecond));
        Some(Metered { ticks, at, ahead })
    }
}

impl SetOut {
    /// By the terms before, if they still serve.
    fn of(metered: &Metered, life: u64, before: Option<Self>) -> Option<Self> {
        let &Metered { ticks, at, ahead } = metered;
        let full_at = |origin: u64| {
            let passed = at.checked_sub(origin)?.checked_mul(ticks.per_nanosecond)?;
            passed.checked_add(ahead).filter(|full_at| *full_at <= Ticks::MOST / 2)
        };
        if let Some(before) = before
            && (before.terms.ticks, before.terms.life) == (ticks, life)
            && let Some(full_at) = full_at(before.terms.origin)
        {
            return Some(Self { full_at, ..before });
        }
        let number = before.map_or(0, |before| before.number.wrapping_add(1));
        Some(Self { terms: Terms { ticks, origin: at, life }, number, full_at: full_at(at)? })
    }
}

fn full_at(word: u64) -> u64 {
    word & Ticks::MOST
}
