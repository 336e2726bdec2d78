use ratelimit_runtime::{LazyKeyedLimiter, LazyLimiter, RateLimited, limiter, rate_limit};

static LOGIN: LazyLimiter = limiter!(max = 5, window = "1m");
static LOGIN_BY_USER: LazyKeyedLimiter = limiter!(keyed, max = 5, window = "1m");

#[rate_limit(limiter = LOGIN, key = user_id)]
fn a_key_too_much(user_id: u64) -> Result<u64, RateLimited> {
    Ok(user_id)
}

#[rate_limit(limiter = LOGIN_BY_USER)]
fn no_key(user_id: u64) -> Result<u64, RateLimited> {
    Ok(user_id)
}

#[rate_limit(limiter = LOGOUT)]
fn no_such_limiter(user_id: u64) -> Result<u64, RateLimited> {
    Ok(user_id)
}

fn main() {
    let _ = (a_key_too_much(1), no_key(1), no_such_limiter(1));
}
