use ratelimit_runtime::{RateLimited, rate_limit};

#[rate_limit(rate = "100")]
fn no_time() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(rate = "0/s")]
fn zero() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(rate = "many/s")]
fn no_number() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(rate = "100/fortnight")]
fn no_such_unit() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(rate = 100)]
fn no_string() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(rate = "100/s", max = 5)]
fn beside_max() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(window = "1s", rate = "100/s")]
fn after_window() -> Result<(), RateLimited> {
    Ok(())
}

fn main() {}
