use ratelimit_runtime::{RateLimited, rate_limit};

#[rate_limit(rate = "1/s", max_keys = 100)]
fn max_keys_without_key() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(rate = "1/s", max_waiters = 100)]
fn max_waiters_without_wait() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(rate = "1/s", store = "redis")]
fn store_without_name() -> Result<(), RateLimited> {
    Ok(())
}

fn main() {}
