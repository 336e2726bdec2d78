//! The clock of an isolation: moved by hand, and along with tokio's paused clock.

use std::{
    sync::{Arc, OnceLock},
    task::Waker,
    time::{Duration, Instant},
};

use crate::clock::{Clock, ManualClock, paused_by_tokio};

#[derive(Clone, Debug, Default)]
pub(super) struct IsolatedClock {
    by_hand: ManualClock,
    /// Tokio's time when this clock first met tokio's paused clock.
    met_tokio_at: Arc<OnceLock<Instant>>,
}

impl IsolatedClock {
    pub(super) fn advance(&self, duration: Duration) {
        self.by_hand.advance(duration);
    }

    /// How far tokio's paused clock has moved; `None` where it is not paused.
    fn moved_by_tokio(&self) -> Option<Duration> {
        let now = paused_by_tokio()?;
        Some(now.saturating_duration_since(*self.met_tokio_at.get_or_init(|| now)))
    }
}

impl Clock for IsolatedClock {
    fn now(&self) -> Duration {
        self.by_hand.now() + self.moved_by_tokio().unwrap_or_default()
    }

    fn wake_at(&self, at: Duration, waker: &Waker) -> bool {
        let moved_by_tokio = self.moved_by_tokio();
        self.by_hand.wake_at(at.saturating_sub(moved_by_tokio.unwrap_or_default()), waker);
        // Tokio moves its paused clock on only for those who sleep by it.
        moved_by_tokio.is_none()
    }
}
