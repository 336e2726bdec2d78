//! One round, of one contestant.

use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// What came of the calls that count.
pub(super) struct Round {
    /// The time of the slowest thread.
    pub(super) took: Duration,
    /// Of the calls of all threads.
    pub(super) admitted: usize,
    /// Whether every thread had a core to itself nearly throughout, and all ran at the same time.
    pub(super) undisturbed: bool,
}

impl Round {
    /// Every thread makes its calls: some beforehand and then, beginning together, those that count.
    pub(super) fn of(
        threads: usize,
        beforehand: impl Fn(usize) -> usize + Sync,
        counted: impl Fn(usize) -> usize + Sync,
    ) -> Self {
        let barrier = SpinBarrier::new(threads);
        let lane = &|thread| {
            beforehand(thread);
            barrier.wait();
            let waited = waited_for_a_core();
            let began = Instant::now();
            let admitted = counted(thread);
            let ended = Instant::now();
            Lane { began, ended, waited: waited_for_a_core().saturating_sub(waited), admitted }
        };
        let lanes: Vec<Lane> = thread::scope(|scope| {
            let running: Vec<_> = (0..threads).map(|thread| scope.spawn(move || lane(thread))).collect();
            running.into_iter().map(|lane| lane.join().expect("no contestant panics")).collect()
        });
        Self::sum(&lanes)
    }

    fn sum(lanes: &[Lane]) -> Self {
        let took = lanes.iter().map(Lane::took).max().unwrap_or_default();
        let waited = lanes.iter().map(|lane| lane.waited).max().unwrap_or_default();
        let last_to_begin = lanes.iter().map(|lane| lane.began).max();
        let first_to_end = lanes.iter().map(|lane| lane.ended).min();
        let together = first_to_end
            .zip(last_to_begin)
            .map_or(Duration::ZERO, |(ended, began)| ended.saturating_duration_since(began));
        Self {
            took,
            admitted: lanes.iter().map(|lane| lane.admitted).sum(),
            undisturbed: waited * 50 <= took && together * 5 >= took * 4,
        }
    }
}

/// One thread's part.
struct Lane {
    began: Instant,
    ended: Instant,
    waited: Duration,
    admitted: usize,
}

impl Lane {
    fn took(&self) -> Duration {
        self.ended - self.began
    }
}

/// How long this thread has been ready to run without running. Zero where the system does not tell.
fn waited_for_a_core() -> Duration {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = text.split(' ').nth(1).and_then(|number| number.parse().ok());
    Duration::from_nanos(nanos.unwrap_or(0))
}

/// Lets threads go on together, without the time that it takes to wake one.
struct SpinBarrier {
    missing: AtomicUsize,
}

impl SpinBarrier {
    fn new(threads: usize) -> Self {
        Self { missing: AtomicUsize::new(threads) }
    }

    fn wait(&self) {
        // AcqRel and Acquire: what a thread did before its turn has happened for those that go on with it.
        self.missing.fetch_sub(1, Ordering::AcqRel);
        while self.missing.load(Ordering::Acquire) > 0 {
            // The missing thread may wait for this one's core.
            thread::yield_now();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_takes_as_long_as_its_slowest_thread() {
        let pause = |thread: usize| Duration::from_millis(20) * u32::from(thread == 1);
        let counted = |thread| {
            thread::sleep(pause(thread));
            thread + 1
        };
        let round = Round::of(2, |_| 0, counted);
        assert!(round.took >= Duration::from_millis(20));
        assert_eq!(round.admitted, 3);
        assert!(!round.undisturbed, "one thread was alone for most of it");
    }
}
