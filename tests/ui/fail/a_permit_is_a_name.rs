use ratelimit_runtime::{RateLimited, rate_limit};

#[rate_limit(rate = "1/s", permit = self.permit)]
fn a_place() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(rate = "1/s", permit)]
fn no_name() -> Result<(), RateLimited> {
    Ok(())
}

fn main() {}
