//! The counters of a packed budget: a ring of small integers, many to a word.
//!
//! Bucket `n` has counter `n` modulo their number. That of the current bucket holds what was in use when the bucket
//! began, until the bucket is left: so a charge need not touch it.

use super::{low_half, shape::Shape};
use crate::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Everything here is Relaxed: who may read and write when is the matter of the state word.
#[derive(Clone, Copy)]
pub(super) struct Counters<'a> {
    words: &'a [AtomicU64],
    shape: Shape,
}

impl<'a> Counters<'a> {
    /// Where "ready" is in the last word: see [`set_ready`](Self::set_ready).
    pub(super) const READY: u32 = 48;

    pub(super) fn new(words: &'a [AtomicU64], shape: Shape) -> Self {
        Self { words, shape }
    }

    pub(super) fn get(&self, counter: usize) -> u32 {
        let (word, shift) = self.shape.place(counter);
        low_half(self.words[word].load(Relaxed) >> shift & self.lane())
    }

    pub(super) fn set(&self, counter: usize, count: u32) {
        let (word, shift) = self.shape.place(counter);
        let others = self.words[word].load(Relaxed) & !(self.lane() << shift);
        self.words[word].store(others | (u64::from(count) & self.lane()) << shift, Relaxed);
    }

    pub(super) fn clear(&self) {
        self.words.iter().for_each(|word| word.store(0, Relaxed));
    }

    /// Moves on by `steps` buckets to the one of counter `place`. `used` are in use, those of the bucket that is left
    /// included; gives what is in use after it.
    pub(super) fn rotate(&self, place: usize, steps: u64, used: u32) -> u32 {
        self.set_ready(0);
        let counters = self.shape.counters;
        let Some(steps) = usize::try_from(steps).ok().filter(|&steps| steps < counters) else {
            self.clear();
            return 0;
        };
        let left = back(place, steps, counters);
        self.set(left, used.saturating_sub(self.get(left)));
        let next = if left + 1 == counters { 0 } else { left + 1 };
        let used = used.saturating_sub(self.take(next, steps));
        self.set(place, used);
        used
    }

    /// Empties `count` counters from `first` on, and gives what they held.
    fn take(&self, first: usize, count: usize) -> u32 {
        let mut taken = 0;
        self.ranges(first, count).for_each(|range| {
            self.masks(range).for_each(|(word, mask)| {
                let held = self.words[word].load(Relaxed);
                if held & mask != 0 {
                    taken += self.lanes(held & mask).map(u64::from).sum::<u64>();
                    self.words[word].store(held & !mask, Relaxed);
                }
            });
        });
        u32::try_from(taken).unwrap_or(u32::MAX)
    }

    /// How many buckets after that of counter `place` more than `most` are no longer in use, where `used` are now.
    pub(super) fn search(&self, place: usize, used: u32, most: u32) -> u16 {
        let excess = used.saturating_sub(most);
        let counters = self.shape.counters;
        let mut released = 0;
        // The oldest is released when the next bucket begins, the next oldest a bucket later, and so on.
        for step in 1..counters {
            released += self.get(ahead(place, step, counters));
            if released >= excess {
                return u16::try_from(step).unwrap_or(u16::MAX);
            }
        }
        u16::try_from(counters).unwrap_or(u16::MAX)
    }

    /// What each bucket holds, the oldest first, where the current one is that of counter `place`.
    pub(super) fn oldest_first(self, place: usize, used: u32) -> impl Iterator<Item = u32> + use<'a> {
        let counters = self.shape.counters;
        let before = (1..counters).map(move |step| self.get(ahead(place, step, counters)));
        before.chain([used.saturating_sub(self.get(place))])
    }

    /// Sets them all.
    pub(super) fn fill(&self, place: usize, used: u32, oldest_first: impl Iterator<Item = u32>) {
        self.clear();
        let counters = self.shape.counters;
        for (step, count) in (1..=counters).zip(oldest_first) {
            if step == counters {
                self.set(place, used.saturating_sub(count));
            } else if count > 0 {
                self.set(ahead(place, step, counters), count);
            }
        }
    }

    /// How many buckets before that of counter `place` the latest is in which anything was charged; `None`: nothing is.
    pub(super) fn latest_charge(&self, place: usize, used: u32) -> Option<usize> {
        if used > self.get(place) {
            return Some(0);
        }
        let counters = self.shape.counters;
        (1..counters).find(|&age| self.get(back(place, age, counters)) > 0)
    }

    /// Tells how many buckets after the current one the next call of cost 1 is admitted; 0: not known.
    pub(super) fn set_ready(&self, ready: u16) {
        if let Some(word) = self.words.last() {
            let others = word.load(Relaxed) & !(u64::from(u16::MAX) << Self::READY);
            word.store(others | u64::from(ready) << Self::READY, Relaxed);
        }
    }

    fn ranges(&self, first: usize, count: usize) -> impl Iterator<Item = (usize, usize)> {
        let counters = self.shape.counters;
        let end = first + count;
        [(first, end.min(counters)), (0, end.saturating_sub(counters))]
            .into_iter()
            .filter(|(from, to)| from < to)
    }

    /// The words in which the counters of a range are, and their bits in each.
    fn masks(&self, (from, to): (usize, usize)) -> impl Iterator<Item = (usize, u64)> {
        let ((first, begin), (last, end)) = (self.shape.place(from), self.shape.place(to));
        let last = if end == 0 { last - 1 } else { last };
        (first..=last).map(move |word| {
            let mut mask = u64::MAX;
            if word == first {
                mask &= u64::MAX << begin;
            }
            if word == last && end > 0 {
                mask &= (1 << end) - 1;
            }
            (word, mask)
        })
    }

    fn lanes(&self, mut word: u64) -> impl Iterator<Item = u32> {
        std::iter::from_fn(move || {
            let lane = (word != 0).then(|| low_half(word & self.lane()));
            word >>= self.shape.bits();
            lane
        })
    }

    /// The bits of one counter.
    fn lane(&self) -> u64 {
        u64::MAX >> (64 - self.shape.bits())
    }
}

fn ahead(place: usize, steps: usize, counters: usize) -> usize {
    let ahead = place + steps;
    if ahead >= counters { ahead - counters } else { ahead }
}

fn back(place: usize, steps: usize, counters: usize) -> usize {
    if place >= steps { place - steps } else { place + counters - steps }
}
