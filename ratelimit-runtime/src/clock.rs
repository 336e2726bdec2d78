//! What time it is.

mod manual;
mod system;

use std::{
    sync::{Arc, Mutex},
    task::Waker,
    time::Duration,
};

pub use self::manual::ManualClock;
#[cfg(feature = "test-util")]
pub(crate) use self::system::paused_by_tokio;
use crate::{algorithm::END_OF_TIME, sync::unpoisoned};

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
    Custom { clock: Arc<dyn Clock>, timeline: Arc<Mutex<Timeline>> },
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
    pub(crate) fn custom(clock: impl Clock) -> Self {
        let timeline = Timeline::begin(clock.now());
        Self::Custom { clock: Arc::new(clock), timeline: Arc::new(Mutex::new(timeline)) }
    }

    #[inline]
    pub(crate) fn now(&self) -> u64 {
        match self {
            TimeSource::System => system::now(),
            TimeSource::Custom { clock, timeline } => {
                let reading = clock.now();
                unpoisoned(timeline.lock()).at(reading)
            }
        }
    }

    /// Asks the clock itself to wake at `at`; `false` if real time has to do it.
    pub(crate) fn wake_at(&self, at: u64, waker: &Waker) -> bool {
        match self {
            TimeSource::System => false,
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
