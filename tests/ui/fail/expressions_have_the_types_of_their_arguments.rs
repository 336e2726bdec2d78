use ratelimit_runtime::{RateLimited, rate_limit};

#[rate_limit(max = size, window = "1s", cost = size + 1, when = size, share = size)]
fn all_wrong(size: u64) -> Result<u64, RateLimited> {
    Ok(size)
}

fn main() {
    let _ = all_wrong(1);
}
