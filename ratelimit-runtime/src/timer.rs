//! Waking a waiter after a while, on any executor.

mod thread;
#[cfg(feature = "tokio")]
mod tokio;

use std::{task::Waker, time::Duration};

/// One waiter's alarm. Setting it again replaces the time before; dropping it takes it back.
///
/// Inside a tokio runtime it rings by tokio's timer (and so follows tokio's paused clock), elsewhere by a thread of
/// this process that is started with the first such alarm.
#[derive(Default)]
pub(crate) struct Alarm {
    set: Option<Set>,
}

enum Set {
    #[cfg(feature = "tokio")]
    Tokio(#[expect(dead_code, reason = "held for its drop")] tokio::Alarm),
    Thread(#[expect(dead_code, reason = "held for its drop")] thread::Alarm),
}

impl Alarm {
    /// Has `waker` woken once `after` has passed.
    pub(crate) fn set(&mut self, after: Duration, waker: &Waker) {
        // The old one goes first: it may hold a clone of a waker that the new one replaces.
        self.set = None;
        self.set = Some(Set::new(after, waker));
    }
}

impl Set {
    #[cfg(feature = "tokio")]
    fn new(after: Duration, waker: &Waker) -> Self {
        match tokio::Alarm::new(after, waker) {
            Some(alarm) => Set::Tokio(alarm),
            None => Set::Thread(thread::Alarm::new(after, waker)),
        }
    }

    #[cfg(not(feature = "tokio"))]
    fn new(after: Duration, waker: &Waker) -> Self {
        Set::Thread(thread::Alarm::new(after, waker))
    }
}
