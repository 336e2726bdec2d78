//! What a denied call returns, in every form.

use std::future::{Future, ready};
use std::pin::Pin;

use ratelimit_runtime::{FromRateLimited, RateLimited, rate_limit};

/// An error that carries a denial.
#[derive(Debug)]
pub enum AppError {
    /// It was denied.
    Busy(RateLimited),
    /// It was wrong.
    Wrong,
}

impl From<RateLimited> for AppError {
    fn from(limited: RateLimited) -> Self {
        Self::Busy(limited)
    }
}

/// A type that says itself what a denial is.
#[derive(Clone, Copy, Debug)]
pub enum Answer {
    /// Found.
    Yes,
    /// Not now.
    No,
}

impl FromRateLimited for Answer {
    fn from_rate_limited(_: RateLimited) -> Self {
        Self::No
    }
}

/// An alias.
pub type Maybe<T> = Result<T, AppError>;

/// By an alias.
///
/// # Errors
/// Wrong, or over the limit.
#[rate_limit(rate = "1/s")]
pub fn alias(number: u32) -> Maybe<u32> {
    if number == 0 {
        return Err(AppError::Wrong);
    }
    number.checked_add(1).ok_or(AppError::Wrong)
}

/// By a type of one's own.
#[rate_limit(rate = "1/s")]
#[must_use]
pub fn own_type(number: &str) -> Answer {
    if number.is_empty() { Answer::No } else { Answer::Yes }
}

/// By a closure.
#[rate_limit(rate = "1/s", fallback = |limited| format!("{name}: {limited}"))]
#[must_use]
pub fn closure(name: String) -> String {
    name
}

/// By a closure that needs nothing.
#[rate_limit(rate = "1/s", fallback = |_| {})]
pub fn unit_block(words: &mut Vec<String>) {
    words.push(String::new());
}

/// By a closure that needs nothing.
#[rate_limit(rate = "1/s", fallback = |_limited| ())]
pub fn unit(words: &mut Vec<String>) {
    words.push(String::new());
}

/// By a closure with types, in a block.
#[rate_limit(rate = "1/s", fallback = |limited: RateLimited| -> u64 {
    let remaining = u64::from(limited.remaining());
    remaining.saturating_add(number)
})]
#[must_use]
pub fn block(number: u64) -> u64 {
    number.saturating_mul(2)
}

/// By a tuple.
#[rate_limit(rate = "1/s", fallback = |_| (number, 0))]
#[must_use]
pub fn tuple(number: u64) -> (u64, u64) {
    (0, number)
}

/// By a closure that awaits.
#[rate_limit(rate = "1/s", fallback = |_| -> u64 { ready(number).await })]
pub async fn awaiting(number: u64) -> u64 {
    ready(number).await
}

/// By a closure that never returns.
#[rate_limit(rate = "1/s", fallback = |limited| std::process::exit(limited.remaining().cast_signed()))]
pub fn never(code: i32) -> ! {
    std::process::exit(code)
}

/// By a function.
#[rate_limit(rate = "1/s", fallback = denied)]
#[must_use]
pub fn function(text: &str) -> String {
    text.to_owned()
}

/// By a function and a permit.
#[rate_limit(rate = "1/s", fallback = denied, permit = permit)]
#[must_use]
pub fn function_and_permit(text: &str) -> String {
    format!("{text}{}", permit.remaining())
}

#[expect(clippy::needless_pass_by_value, reason = "a fallback takes the denial")]
fn denied(limited: RateLimited) -> String {
    limited.to_string()
}

/// By a ready future.
#[rate_limit(rate = "1/s")]
#[must_use]
pub fn future(number: u64) -> Pin<Box<dyn Future<Output = Option<u64>> + Send>> {
    Box::pin(ready(Some(number)))
}

/// By a future of the same type.
#[rate_limit(rate = "1/s", fallback = |limited| ready(Err(limited)))]
pub fn opaque_future(number: u64) -> impl Future<Output = Result<u64, RateLimited>> + Send {
    ready(Ok(number))
}
