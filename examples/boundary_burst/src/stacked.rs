//! Two limits on one function: so much in a second, and not all of it at once.

use std::time::Duration;

use ratelimit_runtime::{RateLimited, rate_limit};

use crate::{Admission, Measured, THREADS, Time, pour};

/// Permits in a second, and in 100 ms.
pub const LIMITS: [u32; 2] = [1000, 200];

/// At most 1000 in any second, and at most 200 in any 100 ms. A call that one of them denies is charged to neither.
///
/// # Errors
///
/// One of the limits is used up.
#[rate_limit(max = const { LIMITS[0] }, window = "1s")]
#[rate_limit(max = const { LIMITS[1] }, window = "100ms")]
pub fn stacked() -> Result<(), RateLimited> {
    Ok(())
}

/// Pours calls at the function with two limits for so long.
pub fn through_two_limits(time: &impl Time, length: Duration) -> Measured {
    let admissions = pour(THREADS, time, length, || {
        let earliest = time.now();
        stacked().ok()?;
        Some(Admission { earliest, latest: time.now() })
    });
    Measured { name: "1000/1s and 200/100ms".to_owned(), max: LIMITS[0], admissions }
}
