use ratelimit_runtime::{RateLimited, rate_limit};

#[rate_limit("100/s")]
fn a_rate_alone() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(100, "1s")]
fn values_alone() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(max(100), window("1s"))]
fn in_parentheses() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(max: 100, window: "1s")]
fn with_colons() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(max = 100 window = "1s")]
fn without_commas() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(key = f::<A, B>(|a, b| a +), max = 0, window = "1s")]
fn half_typed() -> Result<(), RateLimited> {
    Ok(())
}

fn main() {}
