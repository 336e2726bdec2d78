use ratelimit_runtime::{RateLimited, rate_limit};

#[rate_limit(rate = "1/s", wait = true)]
fn yes() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(rate = "1/s", wait = "soon")]
fn soon() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(rate = "1/s", wait("1s"))]
fn in_parentheses() -> Result<(), RateLimited> {
    Ok(())
}

fn main() {}
