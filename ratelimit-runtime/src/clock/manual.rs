//! A clock that is moved by hand.

use std::{
    fmt,
    sync::{Arc, Mutex},
    task::Waker,
    time::Duration,
};

use super::Clock;
use crate::sync::unpoisoned;

/// A clock that stands still until it is moved: for tests without sleeping.
///
/// It starts at zero. Clones share one time. Moving it wakes those who wait by it; moving it backwards is allowed.
///
/// ```
/// use std::time::Duration;
/// use ratelimit_runtime::{LimitSpec, Limiter, ManualClock};
///
/// let clock = ManualClock::new();
/// let limiter = Limiter::with_clock(LimitSpec::new(1, Duration::from_secs(1)), clock.clone())?;
/// assert!(limiter.try_acquire().is_ok());
/// let limited = limiter.try_acquire().unwrap_err();
///
/// clock.advance(limited.retry_after().unwrap());
/// assert!(limiter.try_acquire().is_ok());
/// # Ok::<(), ratelimit_runtime::SpecError>(())
/// ```
#[derive(Clone, Default)]
pub struct ManualClock {
    shared: Arc<Mutex<Shared>>,
}

#[derive(Default)]
struct Shared {
    now: Duration,
    sleepers: Vec<(Duration, Waker)>,
}

impl ManualClock {
    /// A clock at zero.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Moves the clock on by `duration`, and wakes those whose time has come.
    pub fn advance(&self, duration: Duration) {
        self.turn(|now| now.saturating_add(duration));
    }

    /// Sets the clock to `now` after its start, earlier or later than it was, and wakes those whose time has come.
    pub fn set(&self, now: Duration) {
        self.turn(|_| now);
    }

    fn turn(&self, to: impl FnOnce(Duration) -> Duration) {
        let mut shared = unpoisoned(self.shared.lock());
        shared.now = to(shared.now);
        let now = shared.now;
        let due: Vec<_> = shared.sleepers.extract_if(.., |(at, _)| *at <= now).collect();
        // A waker may run the task at once, and the task may read this clock.
        drop(shared);
        for (_, waker) in due {
            waker.wake();
        }
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Duration {
        unpoisoned(self.shared.lock()).now
    }

    fn wake_at(&self, at: Duration, waker: &Waker) -> bool {
        let mut shared = unpoisoned(self.shared.lock());
        if at <= shared.now {
            drop(shared);
            waker.wake_by_ref();
            return true;
        }
        let known = shared.sleepers.iter_mut().find(|(_, known)| known.will_wake(waker));
        match known {
            Some((earliest, _)) => *earliest = at.min(*earliest),
            None => shared.sleepers.push((at, waker.clone())),
        }
        true
    }
}

impl fmt::Debug for ManualClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ManualClock").field("now", &self.now()).finish_non_exhaustive()
    }
}
