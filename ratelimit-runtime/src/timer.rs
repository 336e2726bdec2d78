//! Waking a waiter after a while, on any executor.

mod thread;
#[cfg(feature = "tokio")]
mod tokio;

use std::{task::Waker, time::Duration};

/// One waiter's alarm. Dropping it takes it back.
///
/// Inside a tokio runtime it rings by tokio's timer (and so follows tokio's paused clock), elsewhere by a thread of
/// this process that is started with the first such alarm.
pub(crate) struct Alarm {
    _held: Held,
}

enum Held {
    #[cfg(feature = "tokio")]
    Tokio(#[expect(dead_code, reason = "held for its drop")] tokio::Alarm),
    Thread(#[expect(dead_code, reason = "held for its drop")] thread::Alarm),
}

impl Alarm {
    /// Has `waker` woken once `after` has passed, which may be at once.
    pub(crate) fn new(after: Duration, waker: &Waker) -> Self {
        #[cfg(feature = "tokio")]
        if let Some(alarm) = tokio::Alarm::new(after, waker) {
            return Self { _held: Held::Tokio(alarm) };
        }
        Self { _held: Held::Thread(thread::Alarm::new(after, waker)) }
    }
}
