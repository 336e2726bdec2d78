use ratelimit_runtime::{RateLimited, rate_limit};

#[rate_limit(rate = "1/s", share = 0.5, wait)]
fn wait_is_later() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(rate = "1/s", wait = "1s")]
#[rate_limit(rate = "1/s", share = 0.5)]
fn share_is_later() -> Result<(), RateLimited> {
    Ok(())
}

fn main() {}
