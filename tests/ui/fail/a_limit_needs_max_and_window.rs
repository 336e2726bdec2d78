use ratelimit_runtime::{LazyLimiter, RateLimited, limiter, rate_limit};

#[rate_limit]
fn nothing() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(key = user_id)]
fn neither(user_id: u64) -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(max = 100)]
fn no_window() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(window = "1s")]
fn no_max() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(rate = "1/s")]
#[rate_limit(max = 100)]
fn no_window_below() -> Result<(), RateLimited> {
    Ok(())
}

static LOGIN: LazyLimiter = limiter!(name = "login");

fn main() {
    let _ = (nothing(), neither(1), no_window(), no_max(), no_window_below(), &LOGIN);
}
