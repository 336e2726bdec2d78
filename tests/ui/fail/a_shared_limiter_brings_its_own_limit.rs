use ratelimit_runtime::{LazyLimiter, RateLimited, limiter, rate_limit};

static LOGIN: LazyLimiter = limiter!(max = 5, window = "1m");

#[rate_limit(limiter = LOGIN, max = 5, name = "login")]
fn after_it() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(max = 5, window = "1m", limiter = LOGIN)]
fn before_it() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(limiter = LOGIN())]
fn no_path() -> Result<(), RateLimited> {
    Ok(())
}

fn main() {}
