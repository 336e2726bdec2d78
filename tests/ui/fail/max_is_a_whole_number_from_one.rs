use ratelimit_runtime::{RateLimited, rate_limit};

#[rate_limit(max = 0, window = "1s")]
fn zero() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(max = -1, window = "1s")]
fn negative() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(max = 5000000000, window = "1s")]
fn too_large() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(max = 100u64, window = "1s")]
fn of_another_type() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(max = 1.5, window = "1s")]
fn not_whole() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(max, window = "1s")]
fn no_value() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(max = , window = "1s")]
fn no_value_either() -> Result<(), RateLimited> {
    Ok(())
}

fn main() {}
