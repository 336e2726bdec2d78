//! The monotonic clock of the standard library, or in tests that of tokio. There is no coarse one.

use std::{sync::OnceLock, time::Instant};

use crate::clock::nanos;

/// Nanoseconds since the first call in this process.
pub(crate) fn now() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    let now = instant();
    nanos(now.saturating_duration_since(*START.get_or_init(|| now)))
}

pub(crate) fn coarse_now() -> u64 {
    now()
}

pub(crate) fn lag() -> u64 {
    0
}

#[cfg(not(all(feature = "test-util", feature = "tokio")))]
fn instant() -> Instant {
    Instant::now()
}

/// Tokio's clock is the system's, unless a test has paused it.
#[cfg(all(feature = "test-util", feature = "tokio"))]
fn instant() -> Instant {
    tokio::time::Instant::now().into_std()
}

/// The time of tokio's clock, if a test has paused it on this thread.
#[cfg(all(feature = "test-util", feature = "tokio"))]
pub(crate) fn paused_by_tokio() -> Option<Instant> {
    let before = Instant::now();
    let now = instant();
    // Else it would have been read between the two.
    (now < before || Instant::now() < now).then_some(now)
}

#[cfg(all(feature = "test-util", not(feature = "tokio")))]
pub(crate) fn paused_by_tokio() -> Option<Instant> {
    None
}
