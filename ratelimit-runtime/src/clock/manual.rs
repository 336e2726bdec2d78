//! A clock that is moved by hand.

use std::{
    collections::{BTreeMap, HashMap},
    fmt, mem, ptr,
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
    next: u64,
    sleepers: BTreeMap<Slot, Waker>,
    slots: HashMap<Identity, Slot>,
}

/// When, and in the order of their coming.
type Slot = (Duration, u64);

/// What tells a waker from others, as long as it is held.
type Identity = (usize, usize);

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
        let due = shared.take_due();
        // A waker may run the task at once, and the task may read this clock.
        drop(shared);
        due.into_values().for_each(Waker::wake);
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Duration {
        unpoisoned(self.shared.lock()).now
    }

    fn wake_at(&self, at: Duration, waker: &Waker) -> bool {
        // A waker's clone and drop are code of its executor: they run while the lock is not held.
        let waker = waker.clone();
        let mut shared = unpoisoned(self.shared.lock());
        if at <= shared.now {
            drop(shared);
            waker.wake();
        } else {
            let surplus = shared.wake_at(at, waker);
            drop(shared);
            drop(surplus);
        }
        true
    }
}

impl Shared {
    fn take_due(&mut self) -> BTreeMap<Slot, Waker> {
        let later = self.sleepers.split_off(&(self.now, u64::MAX));
        let due = mem::replace(&mut self.sleepers, later);
        for waker in due.values() {
            self.slots.remove(&identity(waker));
        }
        due
    }

    /// One waker is woken once, at the earliest of its times. Gives it back if it is held already.
    fn wake_at(&mut self, at: Duration, waker: Waker) -> Option<Waker> {
        let known = self.slots.get(&identity(&waker)).copied();
        if known.is_some_and(|(earlier, _)| earlier <= at) {
            return Some(waker);
        }
        let slot = (at, self.next);
        self.next += 1;
        self.slots.insert(identity(&waker), slot);
        let held = known.and_then(|known| self.sleepers.remove(&known));
        self.sleepers.insert(slot, waker);
        held
    }
}

fn identity(waker: &Waker) -> Identity {
    (waker.data().addr(), ptr::from_ref(waker.vtable()).addr())
}

impl fmt::Debug for ManualClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ManualClock").field("now", &self.now()).finish_non_exhaustive()
    }
}
