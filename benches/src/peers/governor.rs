//! `governor`: GCRA, with a `DashMap` for keys.

use std::num::NonZeroU32;

use governor::{DefaultDirectRateLimiter, DefaultKeyedRateLimiter, Quota, RateLimiter};

use super::Limit;

pub(crate) const NAME: &str = "governor";

pub(crate) fn unkeyed(limit: Limit) -> impl Fn() -> bool {
    let limiter: DefaultDirectRateLimiter = RateLimiter::direct(quota(limit));
    move || limiter.check().is_ok()
}

pub(crate) fn by_number(limit: Limit) -> impl Fn(u64) -> bool {
    let limiter: DefaultKeyedRateLimiter<u64> = RateLimiter::keyed(quota(limit));
    move |key| limiter.check_key(&key).is_ok()
}

/// By `String`: a look-up takes `&String`, so the text is copied into a buffer that the calls share.
pub(crate) fn by_text(limit: Limit) -> impl Fn(&mut String, &str) -> bool {
    let limiter: DefaultKeyedRateLimiter<String> = RateLimiter::keyed(quota(limit));
    move |buffer, key| {
        buffer.clear();
        buffer.push_str(key);
        limiter.check_key(buffer).is_ok()
    }
}

fn quota(limit: Limit) -> Quota {
    let burst = NonZeroU32::new(limit.max).expect("a case admits something");
    Quota::with_period(limit.window / limit.max).expect("a permit each nanosecond at most").allow_burst(burst)
}
