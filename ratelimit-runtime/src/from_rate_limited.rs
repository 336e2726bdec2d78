//! How a function's return type carries a denial.

use std::{future::Future, pin::Pin};

use crate::denied::RateLimited;

/// A return type that can carry a denial: what an annotated function returns when its call is denied.
///
/// Implemented for `Result<T, E>` where `E: From<RateLimited>`, for `Option<T>` (`None`), for boxed futures of such types
/// (a ready future, so functions rewritten by `async_trait` work), and under the feature `axum` for `Response`. Implement
/// it for return types of your own:
///
/// ```
/// use ratelimit_runtime::{FromRateLimited, RateLimited};
///
/// enum Answer {
///     Found(String),
///     Busy,
/// }
///
/// impl FromRateLimited for Answer {
///     fn from_rate_limited(_: RateLimited) -> Self {
///         Answer::Busy
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "a denied call cannot be returned as `{Self}`",
    label = "this type cannot carry a denial",
    note = "return `Result<_, E>` with `E: From<RateLimited>`",
    note = "or add `fallback = |limited| ...` to say what a denied call returns",
    note = "or add a `wait` that cannot be denied: without a bound, `cost` and `max_waiters`, where the limit is the function's own, in this process (no `limiter`, no `store`), no `leaky_bucket`, and its `max` is a literal or `const {{ .. }}`",
    note = "for `-> impl Future`, make the function an `async fn`",
    note = "for `-> impl IntoResponse`, return `axum::response::Response` or a `Result`, and enable the feature `axum`"
)]
pub trait FromRateLimited {
    /// The value that a denied call returns.
    fn from_rate_limited(limited: RateLimited) -> Self;
}

#[diagnostic::do_not_recommend]
impl<T, E: From<RateLimited>> FromRateLimited for Result<T, E> {
    fn from_rate_limited(limited: RateLimited) -> Self {
        Err(limited.into())
    }
}

impl<T> FromRateLimited for Option<T> {
    fn from_rate_limited(_: RateLimited) -> Self {
        None
    }
}

impl<'a, T: FromRateLimited + 'a> FromRateLimited for Pin<Box<dyn Future<Output = T> + 'a>> {
    fn from_rate_limited(limited: RateLimited) -> Self {
        Box::pin(async { T::from_rate_limited(limited) })
    }
}

impl<'a, T: FromRateLimited + 'a> FromRateLimited for Pin<Box<dyn Future<Output = T> + Send + 'a>> {
    fn from_rate_limited(limited: RateLimited) -> Self {
        Box::pin(async { T::from_rate_limited(limited) })
    }
}

impl<'a, T: FromRateLimited + 'a> FromRateLimited for Pin<Box<dyn Future<Output = T> + Send + Sync + 'a>> {
    fn from_rate_limited(limited: RateLimited) -> Self {
        Box::pin(async { T::from_rate_limited(limited) })
    }
}
