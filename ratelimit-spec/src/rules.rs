//! The rules of a limit, one function each, so that a caller with several values can report several mistakes.
//!
//! [`LimitSpec::validate`](crate::LimitSpec::validate) is made of the same functions. Values as they are written
//! come as `u64`, and those that pass are returned in the type that [`LimitSpec`](crate::LimitSpec) takes.

use std::time::Duration;

use crate::algorithm::{Algorithm, AlgorithmOption};
use crate::error::{BrokenRule, SpecError};

/// The most buckets that a sliding window can be divided into.
pub const MAX_BUCKETS: u32 = 1000;

/// The longest window: 100 years of 365.25 days, as `humantime` reads `"100 years"`.
pub const MAX_WINDOW: Duration = Duration::from_secs(100 * 31_557_600);

/// A declared `max` is at least 1. (A spec made at run time may have 0, which denies every call.)
///
/// # Errors
/// If `value` is 0 or does not fit a `u32`.
pub const fn max(value: u64) -> Result<u32, SpecError> {
    if value == 0 {
        Err(SpecError(BrokenRule::MaxIsZero))
    } else if value > u32::MAX as u64 {
        Err(SpecError(BrokenRule::MaxTooLarge(value)))
    } else {
        Ok(narrow(value))
    }
}

/// `window` is above 0 and at most [`MAX_WINDOW`].
///
/// # Errors
/// If it is not.
pub const fn window(window: Duration) -> Result<(), SpecError> {
    if window.is_zero() {
        Err(SpecError(BrokenRule::WindowIsZero))
    } else if window.as_nanos() > MAX_WINDOW.as_nanos() {
        Err(SpecError(BrokenRule::WindowTooLong(window)))
    } else {
        Ok(())
    }
}

/// `buckets` is 1 to [`MAX_BUCKETS`].
///
/// # Errors
/// If it is not.
pub const fn buckets(value: u64) -> Result<u32, SpecError> {
    if value == 0 || value > MAX_BUCKETS as u64 {
        Err(SpecError(BrokenRule::BucketsOutOfRange(value)))
    } else {
        Ok(narrow(value))
    }
}

/// Each bucket of a sliding window is at least 1 ns long. Of the other algorithms, which have no buckets, not asked.
///
/// # Errors
/// If `window` is shorter than `buckets` nanoseconds.
pub const fn window_holds_buckets(window: Duration, buckets: u32) -> Result<(), SpecError> {
    if window.as_nanos() < buckets as u128 {
        Err(SpecError(BrokenRule::WindowTooShort { window, buckets }))
    } else {
        Ok(())
    }
}

/// A `burst` that is set is at least 1. (Unset, it is `max`, and may be 0 with it.)
///
/// # Errors
/// If `value` is 0 or does not fit a `u32`.
pub const fn burst(value: u64) -> Result<u32, SpecError> {
    if value == 0 || value > u32::MAX as u64 {
        Err(SpecError(BrokenRule::BurstOutOfRange(value)))
    } else {
        Ok(narrow(value))
    }
}

/// `initial` is at most `burst` (which is `max` where unset).
///
/// # Errors
/// If it is more.
pub const fn initial(value: u64, burst: u32) -> Result<u32, SpecError> {
    if value > burst as u64 {
        Err(SpecError(BrokenRule::InitialAboveBurst { initial: value, burst }))
    } else {
        Ok(narrow(value))
    }
}

/// `option` is set only with an algorithm that takes it.
///
/// # Errors
/// If `algorithm` does not take it.
pub const fn option_fits(option: AlgorithmOption, algorithm: Algorithm) -> Result<(), SpecError> {
    if algorithm.takes(option) {
        Ok(())
    } else {
        Err(SpecError(BrokenRule::OptionDoesNotFit(option, algorithm)))
    }
}

#[expect(clippy::cast_possible_truncation, reason = "called only with values found to fit")]
const fn narrow(value: u64) -> u32 {
    value as u32
}
