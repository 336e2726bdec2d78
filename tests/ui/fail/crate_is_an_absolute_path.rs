use ratelimit_runtime::{RateLimited, rate_limit};

#[rate_limit(rate = "1/s", crate = ratelimit_runtime)]
fn relative() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(rate = "1/s", crate = 5)]
fn no_path() -> Result<(), RateLimited> {
    Ok(())
}

fn main() {
    let _ = (relative(), no_path());
}
