use ratelimit_runtime::{RateLimited, rate_limit};

#[rate_limit(max = const { 5u64 }, window = "1s")]
fn max() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(max = 1, window = const { 5 })]
fn window() -> Result<(), RateLimited> {
    Ok(())
}

fn main() {
    let _ = (max(), window());
}
