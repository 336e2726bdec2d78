//! What time it is.

mod manual;
mod system;

use std::{sync::Arc, task::Waker, time::Duration};

pub use self::manual::ManualClock;
#[cfg(feature = "test-util")]
pub(crate) use self::system::paused_by_tokio;
use crate::algorithm::END_OF_TIME;

/// A source of time for a limiter.
///
/// The default is the operating system's monotonic clock. Give another one to [`Limiter::with_clock`] or
/// [`KeyedLimiter::with_clock`]: [`ManualClock`] in tests, or your own.
///
/// A clock that steps backwards is harmless: a limiter goes by the latest time that it has seen, never admits more
/// because of the step, and goes on as before once the clock has caught up.
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

/// The clock of one limiter, read in whole nanoseconds.
#[derive(Clone)]
pub(crate) enum TimeSource {
    System,
    Custom {
        clock: Arc<dyn Clock>,
        /// What the limiter's own time counts from: so far before its first look at the clock that a clock may step back
        /// by a century, and near enough that one which counts from long ago has centuries left.
        origin: Duration,
    },
}

impl TimeSource {
    pub(crate) fn custom(clock: impl Clock) -> Self {
        const CENTURY: Duration = Duration::from_secs(36_525 * 24 * 60 * 60);
        let origin = clock.now().saturating_sub(CENTURY);
        Self::Custom { clock: Arc::new(clock), origin }
    }

    pub(crate) fn now(&self) -> u64 {
        match self {
            TimeSource::System => system::now(),
            TimeSource::Custom { clock, origin } => nanos(clock.now().saturating_sub(*origin)),
        }
    }

    /// Asks the clock itself to wake at `at`; `false` if real time has to do it.
    pub(crate) fn wake_at(&self, at: u64, waker: &Waker) -> bool {
        match self {
            TimeSource::System => false,
            TimeSource::Custom { clock, origin } => {
                clock.wake_at(origin.saturating_add(Duration::from_nanos(at)), waker)
            }
        }
    }
}

/// `duration` in nanoseconds, at most [`END_OF_TIME`]: so that adding a window to it never wraps.
pub(crate) fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).map_or(END_OF_TIME, |nanos| nanos.min(END_OF_TIME))
}
