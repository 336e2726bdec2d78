//! Many threads that call, and pause together so that their bursts straddle the edges of the windows.

use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};

use ratelimit_runtime::Clock;

use crate::Admission;

/// How many threads call.
pub const THREADS: usize = 100;

/// One call opens a window; all pour from shortly before its end until shortly before the end of the next; then all pause
/// until that is over.
const PERIOD: Duration = Duration::from_millis(2_200);
const POUR_FROM: Duration = Duration::from_millis(950);
const POUR_UNTIL: Duration = Duration::from_millis(1_950);

/// Time, and how the callers pass it.
pub trait Time: Clock + Clone {
    /// What a thread does between two calls, or instead of one: about a millisecond.
    fn rest(&self);
}

/// The system's monotonic time.
#[derive(Clone)]
pub struct RealTime(Instant);

impl RealTime {
    /// Counts from now.
    #[must_use]
    pub fn starting_now() -> Self {
        Self(Instant::now())
    }
}

impl Clock for RealTime {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }
}

impl Time for RealTime {
    fn rest(&self) {
        thread::sleep(Duration::from_millis(1));
    }
}

/// Calls from many threads for so long, and gives what was let through: counted from the start, in order.
pub fn pour(
    threads: usize,
    time: &impl Time,
    length: Duration,
    call: impl Fn() -> Option<Admission> + Sync,
) -> Vec<Admission> {
    let start = time.now();
    let opened = AtomicU64::new(0);
    let calls = || {
        let mut admissions = Vec::new();
        loop {
            let elapsed = time.now().saturating_sub(start);
            if elapsed >= length {
                return admissions;
            }
            if is_due(elapsed, &opened) {
                admissions.extend(call());
            }
            time.rest();
        }
    };
    let mut all: Vec<Admission> = thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(calls)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap_or_default()).collect()
    });
    for admission in &mut all {
        admission.earliest = admission.earliest.saturating_sub(start);
        admission.latest = admission.latest.saturating_sub(start);
    }
    all.sort_unstable();
    all
}

/// Whether a thread is to call: all pour, or this one opens the window.
fn is_due(elapsed: Duration, opened: &AtomicU64) -> bool {
    let [nanos, period] = [elapsed, PERIOD].map(|time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
    let (number, within) = (nanos / period, Duration::from_nanos(nanos % period));
    let pours = (POUR_FROM..POUR_UNTIL).contains(&within);
    pours || opened.fetch_max(number + 1, SeqCst) <= number
}
