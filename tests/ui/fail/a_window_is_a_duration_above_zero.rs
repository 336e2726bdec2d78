use ratelimit_runtime::{RateLimited, rate_limit};

#[rate_limit(max = 1, window = 10)]
fn no_string() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(max = 1, window = 10s)]
fn no_quotes() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(max = 1, window = "10")]
fn no_unit() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(max = 1, window = "10 secnds")]
fn no_such_unit() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(max = 1, window = "")]
fn empty() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(max = 1, window = "0s")]
fn zero() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(max = 1, window = "101 years")]
fn too_long() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(max = 1, window = "10ns")]
fn too_short_for_its_buckets() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(max = 1, window = std::time::Duration::from_secs(1))]
fn not_constant() -> Result<(), RateLimited> {
    Ok(())
}

fn main() {}
