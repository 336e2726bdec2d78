//! The attribute `#[rate_limit]`, `limiter!` and `derive(RateLimitKey)`.
