//! Never one over, and never one under, from many threads.

use std::{
    sync::{
        Barrier,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    thread,
};

use ratelimit_runtime::{KeyedLimiter, Limiter, ManualClock};

use crate::support::{ALGORITHMS, SECOND};

const THREADS: usize = 8;
const ROUNDS: u32 = 200;

/// Lets all threads ask in every round, of which `free` permits are free then, and counts what is admitted.
fn hammer(
    take: impl Fn(u32) -> bool + Sync,
    clock: &ManualClock,
    free: impl Fn(u32) -> u32 + Sync,
    what: &str,
) {
    let barrier = Barrier::new(THREADS);
    let admitted = AtomicU32::new(0);
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for round in 0..ROUNDS {
                    barrier.wait();
                    let taken = (0..8).filter(|_| take(round)).count();
                    admitted.fetch_add(u32::try_from(taken).unwrap(), Relaxed);
                    if barrier.wait().is_leader() {
                        assert_eq!(admitted.swap(0, Relaxed), free(round), "{what}, round {round}");
                        clock.advance(SECOND);
                    }
                }
            });
        }
    });
}

#[test]
fn eight_threads_are_never_let_in_one_too_often() {
    for algorithm in ALGORITHMS {
        let clock = ManualClock::new();
        let limiter =
            Limiter::with_clock(format!("20/900ms algorithm={algorithm}").parse().unwrap(), clock.clone())
                .unwrap();
        hammer(|_| limiter.try_acquire().is_ok(), &clock, |_| 20, algorithm);
        let clock = ManualClock::new();
        let keyed = KeyedLimiter::with_clock(
            format!("20/900ms algorithm={algorithm}").parse().unwrap(),
            clock.clone(),
        )
        .unwrap();
        hammer(|round| keyed.try_acquire(&(round % 3)).is_ok(), &clock, |_| 20, algorithm);
    }
}

#[test]
fn what_has_refilled_in_part_is_admitted_to_the_permit() {
    for algorithm in ["token_bucket", "leaky_bucket", "gcra"] {
        let clock = ManualClock::new();
        let spec = format!("7/3s algorithm={algorithm} burst=20").parse().unwrap();
        let limiter = Limiter::with_clock(spec, clock.clone()).unwrap();
        // 7 permits in 3 rounds: 2, 2 and 3.
        let free = |round| if round == 0 { 20 } else { round * 7 / 3 - (round - 1) * 7 / 3 };
        hammer(|_| limiter.try_acquire().is_ok(), &clock, free, algorithm);
    }
}
