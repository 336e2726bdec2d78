//! `throttle_my_fn`: an attribute, and a log of calls behind a mutex, without keys.

use std::time::Duration;

use throttle_my_fn::throttle;

use super::Limit;

pub(crate) const NAME: &str = "throttle_my_fn";

/// Its limits stand in the source, so there is one that denies and one that admits. The latter's window is a millisecond:
/// in a second its log would take gigabytes.
pub(crate) fn unkeyed(limit: Limit) -> impl Fn() -> bool {
    let call = if limit.max == 1 { denied } else { admitted };
    move || call().is_some()
}

#[throttle(100_000, Duration::from_millis(1))]
fn admitted() {}

#[throttle(1, Duration::from_secs(1))]
fn denied() {}
