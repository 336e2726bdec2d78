//! What time it is.

mod manual;
mod system;

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    task::Waker,
    time::Duration,
};

pub use self::manual::ManualClock;
pub(crate) use self::system::coarse_now;
#[cfg(feature = "test-util")]
pub(crate) use self::system::paused_by_tokio;
use crate::{algorithm::END_OF_TIME, sync::unpoisoned};

/// A source of time for a limiter.
///
/// The default is the operating system's monotonic clock; on Linux its coarse form, where that is as good (see
/// [`use_precise_clock`]). Give another one to [`Limiter::with_clock`] or
/// [`KeyedLimiter::with_clock`]: [`ManualClock`] in tests, or your own.
///
/// A clock that steps backwards is harmless: a limiter goes by the latest time that it has seen, one by key by the latest
/// that it has seen of some keys, among them the one in question. It never admits more because of the step, and goes on as
/// before once the clock has caught up.
///
/// [`Limiter::with_clock`]: crate::Limiter::with_clock
/// [`KeyedLimiter::with_clock`]: crate::KeyedLimiter::with_clock
///
/// ```
/// use std::time::{Duration, Instant};
/// use ratelimit_runtime::{Clock, LimitSpec, Limiter};
///
/// struct SinceStart(Instant);
///
/// impl Clock for SinceStart {
///     fn now(&self) -> Duration {
///         self.0.elapsed()
///     }
/// }
///
/// let limiter = Limiter::with_clock(LimitSpec::new(1, Duration::from_secs(60)), SinceStart(Instant::now()))?;
/// assert!(limiter.try_acquire().is_ok());
/// assert!(limiter.try_acquire().is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Clock: Send + Sync + 'static {
    /// The time since any fixed start. It is read once for every decision.
    fn now(&self) -> Duration;

    /// Has `waker` woken once this clock reads `at` or later; `false` if it cannot.
    ///
    /// Those who wait for a permit call it. By default it answers `false`, and they sleep for the difference in
    /// real time, look again, and sleep on if it is too early. A clock that is moved by hand answers `true` and
    /// wakes them when it is moved. Waking too early, or more than once, is harmless.
    fn wake_at(&self, at: Duration, waker: &Waker) -> bool {
        let _ = (at, waker);
        false
    }
}

/// Has every limit that is made from now on go by the system's precise clock only. To call at start-up.
///
/// By default, limits go by Linux's coarse clock where that is as good: those of the sliding window whose window is
/// 200 ticks or longer, which is 0.84 s where the kernel ticks 250 times a second. To read it takes about 3 ns, and the
/// precise one about 20 ns. The coarse clock lags by up to two ticks, and such a limit counts a charge for so much longer.
/// So it admits no more than `max` in any window of real time, and releases a charge at most 1 % of the window later.
///
/// `retry_after` of such a limit is never early, and may be late by as much as the clock was behind when the call was
/// denied and will be when it comes again: three ticks as a rule, four at most.
///
/// That rests on a kernel which ticks in time. Where a hypervisor stalls it for longer than two ticks, a limit may admit a
/// call by so much too early. Whoever cannot have that, not even then, chooses the precise clock.
///
/// Limits made before keep the clock that they have. Limits declared by an attribute are made with their first call.
/// Elsewhere than on Linux, and with the feature `test-util`, no clock but the precise one is read anyway.
///
/// ```
/// use std::time::Duration;
/// use ratelimit_runtime::{LimitSpec, Limiter, use_precise_clock};
///
/// use_precise_clock();
/// let limiter = Limiter::new(LimitSpec::new(100, Duration::from_secs(1)))?;
/// assert!(limiter.try_acquire().is_ok());
/// # Ok::<(), ratelimit_runtime::SpecError>(())
/// ```
pub fn use_precise_clock() {
    // Relaxed, here and where it is read: it guards no other memory.
    ONLY_PRECISE.store(true, Relaxed);
}

static ONLY_PRECISE: AtomicBool = AtomicBool::new(false);

/// The clock of one limiter, read in whole nanoseconds.
#[derive(Clone)]
pub(crate) enum TimeSource {
    System {
        /// How far the [coarse form](coarse_now) lags of what [`TimeSource::now`] reads; 0: it is not to be read.
        lag: u64,
    },
    Custom {
        clock: Arc<dyn Clock>,
        timeline: Arc<Mutex<Timeline>>,
    },
}

/// How a limiter's own time goes by its clock: nanoseconds that last for centuries, from an origin of its own.
pub(crate) struct Timeline {
    /// So far before the limiter's first look at the clock that this may step back by a century, and near enough that one
    /// which counts from long ago has centuries left.
    origin: Duration,
    /// The latest reading.
    latest: Duration,
}

impl Timeline {
    const CENTURY: Duration = Duration::from_secs(36_525 * 24 * 60 * 60);

    fn begin(reading: Duration) -> Self {
        Self { origin: reading.saturating_sub(Self::CENTURY), latest: reading }
    }

    fn at(&mut self, reading: Duration) -> u64 {
        // In more than two of the longest windows without a look, everything has aged out: it makes no difference how
        // much more it was, and less of the centuries is used up.
        let longest_pause = 2 * Self::CENTURY + Self::CENTURY / 100;
        let pause = reading.saturating_sub(self.latest);
        self.origin = self.origin.saturating_add(pause.saturating_sub(longest_pause));
        self.latest = self.latest.max(reading);
        nanos(reading.saturating_sub(self.origin))
    }
}

impl TimeSource {
    pub(crate) fn system() -> Self {
        let lag = if ONLY_PRECISE.load(Relaxed) { 0 } else { system::lag() };
        Self::System { lag }
    }

    pub(crate) fn custom(clock: impl Clock) -> Self {
        let timeline = Timeline::begin(clock.now());
        Self::Custom { clock: Arc::new(clock), timeline: Arc::new(Mutex::new(timeline)) }
    }

    /// How far [`coarse_now`] may be behind [`now`](Self::now), both being read at once; 0: it is not to be read.
    pub(crate) fn lag(&self) -> u64 {
        match self {
            TimeSource::System { lag } => *lag,
            TimeSource::Custom { .. } => 0,
        }
    }

    #[inline]
    pub(crate) fn now(&self) -> u64 {
        match self {
            TimeSource::System { .. } => system::now(),
            TimeSource::Custom { clock, timeline } => {
                let reading = clock.now();
                unpoisoned(timeline.lock()).at(reading)
            }
        }
    }

    /// Asks the clock itself to wake at `at`; `false` if real time has to do it.
    pub(crate) fn wake_at(&self, at: u64, waker: &Waker) -> bool {
        match self {
            TimeSource::System { .. } => false,
            TimeSource::Custom { clock, timeline } => {
                let origin = unpoisoned(timeline.lock()).origin;
                clock.wake_at(origin.saturating_add(Duration::from_nanos(at)), waker)
            }
        }
    }
}

/// `duration` in nanoseconds, at most [`END_OF_TIME`]: so that adding a window to it never wraps.
pub(crate) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).map_or(END_OF_TIME, |nanos| nanos.min(END_OF_TIME))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_coarse_clock_is_on_the_same_timeline_and_never_ahead() {
        let clock = TimeSource::system();
        for _ in 0..10_000 {
            let coarse = coarse_now();
            assert!(coarse <= clock.now());
        }
    }

    #[test]
    fn a_custom_clock_does_not_lag() {
        assert_eq!(TimeSource::custom(ManualClock::new()).lag(), 0);
    }

    #[test]
    fn a_limit_made_after_the_precise_clock_was_chosen_reads_no_other() {
        use_precise_clock();
        assert_eq!(TimeSource::system().lag(), 0);
    }
}
