//! The operating system's monotonic clock, in nanoseconds since any fixed start.
//!
//! Two files have the same: `now`, `coarse_now`, which may be up to `lag` behind it on the same timeline, and `lag`, which
//! is 0 where there is no coarse clock.

// Under `test-util` limits follow tokio's clock, and the interpreter miri has no vDSO.
#[cfg(all(target_os = "linux", not(feature = "test-util"), not(miri)))]
mod linux;
#[cfg(not(all(target_os = "linux", not(feature = "test-util"), not(miri))))]
mod portable;

#[cfg(all(target_os = "linux", not(feature = "test-util"), not(miri)))]
pub(crate) use self::linux::*;
#[cfg(not(all(target_os = "linux", not(feature = "test-util"), not(miri))))]
pub(crate) use self::portable::*;
