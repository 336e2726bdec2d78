//! Counts that many threads add to at once, without getting in each other's way.
//!
//! A thread has a seat, no two of them the same one at a time, and at each set of tallies that seat has a cache line of
//! its own: so to count is a load and a store, as of a variable that nobody shares. Threads beyond the number of seats
//! count together, by a read-modify-write.

use std::{
    array,
    cell::Cell,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use crate::sync::unpoisoned;

const SEATS: usize = 15;

/// `N` counts. Relaxed throughout: they guard no memory.
pub(super) struct Tallies<const N: usize> {
    /// The last line is for those without a seat. On the heap, since the lines would fill their owner with gaps.
    lines: Box<[Line<N>; SEATS + 1]>,
}

#[repr(align(64))]
struct Line<const N: usize>([AtomicU64; N]);

impl<const N: usize> Default for Tallies<N> {
    fn default() -> Self {
        let line = |_| Line(array::from_fn(|_| AtomicU64::new(0)));
        Self { lines: Box::new(array::from_fn(line)) }
    }
}

impl<const N: usize> Tallies<N> {
    /// In line: it is on the way of most calls, and shorter than a call.
    #[inline(always)]
    pub(super) fn add(&self, which: usize, count: u64) {
        let seat = usize::from(SEAT.get());
        match self.lines.get(seat) {
            Some(Line(line)) if seat < SEATS => {
                let tally = &line[which];
                tally.store(tally.load(Relaxed).wrapping_add(count), Relaxed);
            }
            _ => self.add_aside(which, count),
        }
    }

    #[cold]
    fn add_aside(&self, which: usize, count: u64) {
        if SEAT.get() == NEWCOMER {
            take_seat();
            self.add(which, count);
        } else {
            self.lines[SEATS].0[which].fetch_add(count, Relaxed);
        }
    }

    pub(super) fn sum(&self, which: usize) -> u64 {
        self.lines.iter().fold(0, |sum, Line(line)| sum.wrapping_add(line[which].load(Relaxed)))
    }
}

/// Of a thread that has not counted yet.
const NEWCOMER: u8 = u8::MAX;

/// Of a thread that has no seat to itself.
const STANDING: u8 = u8::MAX - 1;

thread_local! {
    /// Apart from the guard, and without a destructor: so to read it is one load.
    static SEAT: Cell<u8> = const { Cell::new(NEWCOMER) };
    static GUARD: Guard = const { Guard };
}

/// Bit `n` is set while seat `n` is taken. The lock also hands on what the thread before has counted.
static TAKEN: Mutex<u16> = Mutex::new(0);

/// Gives up the seat of a thread that ends.
struct Guard;

impl Drop for Guard {
    fn drop(&mut self) {
        let seat = SEAT.replace(STANDING);
        if usize::from(seat) < SEATS {
            *unpoisoned(TAKEN.lock()) &= !(1 << seat);
        }
    }
}

fn take_seat() {
    // A model checker runs all of its threads in one: there they stand.
    let may_sit = !cfg!(all(test, ratelimit_loom)) && GUARD.try_with(|_| ()).is_ok();
    let mut taken = unpoisoned(TAKEN.lock());
    let seat = taken.trailing_ones() as usize;
    if may_sit && seat < SEATS {
        *taken |= 1 << seat;
        SEAT.set(u8::try_from(seat).unwrap_or(STANDING));
    } else {
        SEAT.set(STANDING);
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn no_count_is_lost_between_threads_that_come_and_go() {
        let tallies = Tallies::<2>::default();
        for _ in 0..3 {
            thread::scope(|scope| {
                for _ in 0..SEATS + 3 {
                    scope.spawn(|| (0..100).for_each(|_| tallies.add(1, 2)));
                }
            });
        }
        assert_eq!(tallies.sum(1), 3 * (SEATS as u64 + 3) * 200);
        assert_eq!(tallies.sum(0), 0);
    }
}
