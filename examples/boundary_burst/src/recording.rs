//! A clock that remembers what it told.

use std::cell::Cell;
use std::time::Duration;

use ratelimit_runtime::Clock;

/// Hands out the time of another clock, and remembers for each thread what it handed out last: the instant of that
/// thread's last decision, since a limiter reads its clock once for each.
#[derive(Clone)]
pub(crate) struct Recording<C> {
    clock: C,
}

thread_local! {
    static LAST_READING: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

impl<C: Clock> Recording<C> {
    pub(crate) fn of(clock: C) -> Self {
        Self { clock }
    }

    #[expect(clippy::unused_self, reason = "there is a reading only where there is such a clock")]
    pub(crate) fn last_reading(&self) -> Duration {
        LAST_READING.get()
    }
}

impl<C: Clock> Clock for Recording<C> {
    fn now(&self) -> Duration {
        let now = self.clock.now();
        LAST_READING.set(now);
        now
    }
}
