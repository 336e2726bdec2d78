//! `ratelimit`: a token bucket in atomics, without keys.

use ratelimit::Ratelimiter;

use super::Limit;

pub(crate) const NAME: &str = "ratelimit";

pub(crate) fn unkeyed(limit: Limit) -> impl Fn() -> bool {
    let max = u64::from(limit.max);
    let limiter = Ratelimiter::builder(max)
        .period(limit.window)
        .max_tokens(max)
        .initial_available(max)
        .build()
        .expect("a valid limit");
    move || limiter.try_wait().is_ok()
}
