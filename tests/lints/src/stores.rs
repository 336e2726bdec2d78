//! Limits in a store, in every layout.

use ratelimit_runtime::{LazyKeyedLimiter, RateLimited, limiter, rate_limit};

use crate::waits::Boxed;

/// Shared, and in a store.
pub static SHARED: LazyKeyedLimiter = limiter!(keyed, rate = "5/m", store = "redis", name = "stores.shared");

/// Blocks for the answer.
///
/// # Errors
/// Over the limit.
#[rate_limit(rate = "1/s", store = "redis", name = "stores.sync", permit = permit)]
pub fn stored_sync(key: u64) -> Result<u64, RateLimited> {
    permit.refund();
    Ok(key)
}

/// Awaits the answer.
///
/// # Errors
/// Over the limit.
#[rate_limit(rate = "1/s", key = key, store = "redis", name = "stores.asynchronous")]
pub async fn stored_asynchronous(key: u64) -> Result<u64, RateLimited> {
    Ok(key)
}

/// Awaits the answer, and falls back.
#[rate_limit(rate = "1/s", key = key, store = "redis", name = "stores.falls_back", fallback = |_| 0)]
pub async fn stored_falls_back(key: u64) -> u64 {
    key
}

/// Awaits its turn.
///
/// # Errors
/// The store is down.
#[rate_limit(rate = "1/s", store = "redis", name = "stores.waits", wait)]
pub async fn stored_waits(key: u64) -> Result<u64, RateLimited> {
    Ok(key)
}

/// Awaits the answer in the future.
#[rate_limit(rate = "1/s", key = key, store = "redis", name = "stores.boxed", permit = permit)]
#[must_use]
pub fn stored_boxed<'a>(key: &'a str) -> Boxed<'a, Result<&'a str, RateLimited>> {
    Box::pin(async move {
        permit.refund();
        Ok(key)
    })
}

/// One of a limiter that may be anywhere.
///
/// # Errors
/// Over the limit.
#[rate_limit(limiter = SHARED, key = (key, "x"))]
#[rate_limit(limiter = SHARED, key = &key)]
pub async fn stored_shared(key: u64) -> Result<u64, RateLimited> {
    Ok(key)
}
