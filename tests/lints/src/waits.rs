//! Calls that wait, in every layout.

use std::convert::Infallible;
use std::future::{Future, ready};
use std::pin::Pin;

use ratelimit_runtime::{RateLimited, rate_limit};

/// A boxed future.
pub type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Returns nothing.
#[rate_limit(rate = "1/s", wait)]
pub async fn nothing() {}

/// Returns something.
#[rate_limit(rate = "1/s", wait)]
pub async fn something(number: u32) -> u32 {
    number
}

/// May be denied.
///
/// # Errors
/// Over the limit.
#[rate_limit(rate = "1/s", wait = "100ms", max_waiters = 10, permit = permit)]
pub async fn denied() -> Result<u32, RateLimited> {
    Ok(permit.remaining())
}

/// Cannot be denied, but could.
#[rate_limit(rate = "1/s", wait, fallback = |_| 0)]
pub async fn falls_back(number: u32) -> u32 {
    number
}

/// Blocks.
#[rate_limit(rate = "1/s", wait)]
pub fn blocks() {}

/// Blocks, and returns something.
#[rate_limit(rate = "1/s", wait)]
#[must_use]
pub fn blocks_for(number: &str) -> usize {
    number.len()
}

/// Blocks, and has its permit.
#[rate_limit(rate = "1/s", wait, permit = permit)]
#[must_use]
pub fn blocks_with_permit(number: u32) -> u32 {
    number.saturating_add(permit.remaining())
}

/// Blocks, or is denied.
///
/// # Errors
/// Over the limit.
#[rate_limit(rate = "1/s", wait = "1s")]
pub fn blocks_or_is_denied(number: u32) -> Result<u32, RateLimited> {
    Ok(number)
}

/// A type that could be a boxed future's.
#[derive(Clone, Copy, Debug)]
pub struct Total(pub u64);

/// Blocks, though the type could be a boxed future's.
#[rate_limit(rate = "1/s", wait)]
#[must_use]
pub fn blocks_for_a_type(numbers: &[u64]) -> Total {
    Total(numbers.iter().sum())
}

/// Blocks, may leave early, and falls back.
#[rate_limit(rate = "1/s", wait = "1ms", fallback = |_| Total(0), permit = permit)]
#[must_use]
pub fn blocks_and_leaves_early(numbers: &[u64]) -> Total {
    if numbers.is_empty() {
        permit.refund();
        return Total(1);
    }
    Total(numbers.iter().sum())
}

/// Never returns.
#[rate_limit(rate = "1/s", wait)]
pub fn exits() -> ! {
    std::process::exit(0)
}

/// Never returns, though its type does not say so to the attribute.
#[rate_limit(rate = "1/s", wait)]
#[must_use]
pub fn serves() -> Infallible {
    loop {
        std::thread::park();
    }
}

/// Waits in its future.
#[rate_limit(rate = "1/s", wait)]
#[must_use]
pub fn boxed(number: u32) -> Boxed<'static, u32> {
    Box::pin(ready(number))
}

/// Waits in its future, and has its permit.
#[rate_limit(key = text, rate = "1/s", wait = "1s", permit = permit)]
#[must_use]
pub fn boxed_with_permit(text: &str) -> Boxed<'_, Result<usize, RateLimited>> {
    if text.is_empty() {
        return Box::pin(ready(Ok(0)));
    }
    Box::pin(async move {
        permit.refund();
        Ok(text.len())
    })
}

/// Waits in its future, and falls back.
#[rate_limit(rate = "1/s", wait = "1s", fallback = |limited| Box::pin(async move { limited.to_string().len() }))]
#[must_use]
pub fn boxed_and_falls_back(text: &str) -> Boxed<'_, usize> {
    Box::pin(async move { text.len() })
}

/// Waits for two limits.
#[rate_limit(rate = "1/s", wait)]
#[rate_limit(rate = "100/h")]
pub async fn stack(mut number: u32) -> u32 {
    number = number.saturating_add(1);
    number
}
