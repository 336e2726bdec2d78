use ratelimit_runtime::{RateLimited, rate_limit};

#[rate_limit(rate = "1/s", key = "(user_id, ip)")]
fn in_a_string(user_id: u64) -> Result<u64, RateLimited> {
    Ok(user_id)
}

#[rate_limit(rate = "1/s", key = (user_id, ip))]
fn bare(user_id: u64) -> Result<u64, RateLimited> {
    Ok(user_id)
}

fn main() {
    let _ = (in_a_string(1), bare(1));
}
