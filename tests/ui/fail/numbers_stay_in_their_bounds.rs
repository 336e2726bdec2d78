use ratelimit_runtime::{RateLimited, rate_limit};

#[rate_limit(rate = "1/s", buckets = 0)]
fn no_buckets() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(rate = "1/s", buckets = 1001)]
fn too_many_buckets() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(rate = "1/s", buckets = "ten")]
fn buckets_in_words() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(rate = "1/s", cost = 5000000000)]
fn too_large_a_cost() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(rate = "1/s", cost = -1)]
fn negative_cost() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(rate = "1/s", share = 1.5)]
fn more_than_all() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(rate = "1/s", share = -0.5)]
fn less_than_nothing() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(rate = "1/s", wait, max_waiters = 5000000000)]
fn too_long_a_line() -> Result<(), RateLimited> {
    Ok(())
}

fn main() {}
