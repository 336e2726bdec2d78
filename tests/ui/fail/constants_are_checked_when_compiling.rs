use std::time::Duration;

use ratelimit_runtime::{RateLimited, rate_limit};

const NONE: u32 = 0;

#[rate_limit(max = const { NONE }, window = "1s")]
fn max() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(max = 1, window = const { Duration::from_secs(0) })]
fn window() -> Result<(), RateLimited> {
    Ok(())
}

fn main() {
    let _ = (max(), window());
}
