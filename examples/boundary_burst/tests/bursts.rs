//! The example's own claims, in time that its threads move by hand: nobody sleeps.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::Duration;

use boundary_burst::{Admission, MAX, Measured, STACKED_LIMITS, THREADS, Time, pour, stacked, through};
use ratelimit_runtime::test_util::{IsolationHandle, isolate};
use ratelimit_runtime::{Algorithm, Clock};

const LENGTH: Duration = Duration::from_millis(3_500);

/// Every rest of one thread moves the time of all by its part of a millisecond.
#[derive(Clone)]
struct ByHand {
    nanos: Arc<AtomicU64>,
    step: u64,
    isolation: Option<IsolationHandle>,
}

impl ByHand {
    fn for_threads(threads: usize) -> Self {
        Self { nanos: Arc::default(), step: 1_000_000 / threads as u64, isolation: None }
    }
}

impl Clock for ByHand {
    fn now(&self) -> Duration {
        Duration::from_nanos(self.nanos.load(SeqCst))
    }
}

impl Time for ByHand {
    fn rest(&self) {
        if let Some(isolation) = self.isolation.clone() {
            isolation.enter().advance(Duration::from_nanos(self.step));
        }
        self.nanos.fetch_add(self.step, SeqCst);
    }
}

fn bursts_at(algorithm: Algorithm) -> Measured {
    through(algorithm, &ByHand::for_threads(THREADS), LENGTH).unwrap()
}

#[test]
fn the_sliding_ones_admit_the_limit_in_every_second_and_no_more() {
    for algorithm in [Algorithm::SlidingWindow, Algorithm::SlidingLog] {
        let measured = bursts_at(algorithm);
        assert!(measured.admissions.len() > MAX as usize, "{algorithm}: more than one window was seen");
        let most = measured.most_in_a_second();
        assert!(most <= MAX as usize, "{algorithm}: {most}");
    }
}

#[test]
fn a_fixed_window_admits_nearly_twice_the_limit_around_its_edge() {
    let most = bursts_at(Algorithm::FixedWindow).most_in_a_second();
    assert!((900..=1000).contains(&most), "{most}");
}

#[test]
fn the_bucket_algorithms_admit_their_burst_and_what_refills() {
    for algorithm in [Algorithm::TokenBucket, Algorithm::LeakyBucket, Algorithm::Gcra] {
        let most = bursts_at(algorithm).most_in_a_second();
        assert!((900..=1000).contains(&most), "{algorithm}: {most}");
    }
}

#[test]
fn two_limits_on_one_function_both_hold() {
    let isolation = isolate();
    let handle = isolation.handle();
    // One thread: the function's clock and this one move together.
    let time = ByHand { isolation: Some(handle.clone()), step: 10_000, ..ByHand::for_threads(1) };
    let admissions = pour(1, &time, LENGTH, || {
        let _isolation = handle.clone().enter();
        let earliest = time.now();
        stacked().ok()?;
        Some(Admission { earliest, latest: time.now() })
    });
    let measured = Measured { name: "both".to_owned(), max: STACKED_LIMITS[0], admissions };
    assert_eq!(measured.most_in_a_second(), STACKED_LIMITS[0] as usize);
    assert_eq!(measured.most_in_a_tenth(), STACKED_LIMITS[1] as usize);
}
