//! `trypema`: a sliding window of buckets for each key, which is a `&str`. Under contention it may admit more than the limit.

use trypema::local::LocalRateLimiterProvider;
use trypema::{BucketSize, RateLimit, RateLimitDecision, RateLimiterBuilder, WindowSize};

use super::Limit;

pub(crate) const NAME: &str = "trypema";

pub(crate) fn by_text(limit: Limit) -> impl Fn(&mut String, &str) -> bool {
    let bucket = u64::try_from((limit.window / limit.buckets).as_millis()).unwrap_or(u64::MAX);
    let provider = LocalRateLimiterProvider::builder()
        .window_size(WindowSize::seconds_or_panic(limit.window.as_secs()))
        .bucket_size(BucketSize::milliseconds_or_panic(bucket))
        .build()
        .expect("a valid limit");
    let rate = RateLimit::per_second_or_panic(f64::from(limit.max) / limit.window.as_secs_f64());
    move |_, key| matches!(provider.absolute().inc(key, &rate, 1), RateLimitDecision::Allowed)
}
