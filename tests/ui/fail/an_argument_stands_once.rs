use ratelimit_runtime::{RateLimited, rate_limit};

#[rate_limit(max = 100, window = "1s", max = 200)]
fn twice() -> Result<(), RateLimited> {
    Ok(())
}

fn main() {
    let _ = twice();
}
