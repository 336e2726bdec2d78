//! `tokio-rate-limit`: a token bucket for each key, which is a `&str`.

use tokio_rate_limit::RateLimiter;

use super::Limit;

pub(crate) const NAME: &str = "tokio-rate-limit";

pub(crate) fn by_text(limit: Limit) -> impl Fn(&mut String, &str) -> bool {
    let max = u64::from(limit.max);
    let limiter = RateLimiter::builder()
        .requests_per_second((max / limit.window.as_secs()).max(1))
        .burst(max)
        .build()
        .expect("a valid limit");
    move |_, key| limiter.check(key).permitted
}
