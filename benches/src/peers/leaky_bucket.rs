//! `leaky-bucket`: a token bucket behind a mutex, refilled once a window, without keys.

use leaky_bucket::RateLimiter;

use super::Limit;

pub(crate) const NAME: &str = "leaky-bucket";

pub(crate) fn unkeyed(limit: Limit) -> impl Fn() -> bool {
    let max = limit.max as usize;
    let limiter = RateLimiter::builder().max(max).initial(max).refill(max).interval(limit.window).build();
    move || limiter.try_acquire(1)
}
