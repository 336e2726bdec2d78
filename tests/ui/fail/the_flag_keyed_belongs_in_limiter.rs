use ratelimit_runtime::{RateLimited, rate_limit};

#[rate_limit(keyed, max = 5, window = "1m")]
fn login() -> Result<(), RateLimited> {
    Ok(())
}

fn main() {
    let _ = login();
}
