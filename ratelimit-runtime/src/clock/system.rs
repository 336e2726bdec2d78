//! The operating system's monotonic clock.

use std::{sync::OnceLock, time::Instant};

use super::nanos;

/// Nanoseconds since the first call in this process.
pub(super) fn now() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    nanos(START.get_or_init(Instant::now).elapsed())
}
