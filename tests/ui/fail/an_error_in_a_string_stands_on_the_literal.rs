use ratelimit_runtime::{RateLimited, rate_limit};

#[rate_limit(rate = "1/s", key = "user_id +")]
fn no_expression(user_id: u64) -> Result<u64, RateLimited> {
    Ok(user_id)
}

#[rate_limit(rate = "1/s", key = "")]
fn empty(user_id: u64) -> Result<u64, RateLimited> {
    Ok(user_id)
}

#[rate_limit(rate = "1/s", cost = "user_id")]
fn wrong_type(user_id: u64) -> Result<u64, RateLimited> {
    Ok(user_id)
}

fn main() {
    let _ = (no_expression(1), empty(1), wrong_type(1));
}
