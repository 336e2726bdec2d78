use ratelimit_runtime::{RateLimited, rate_limit};

#[rate_limit(max = 100, windw = "1s")]
fn likely() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(limit = 100, per = "1s")]
fn words_of_other_limiters() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(max = 100, window = "1s", colour = "red")]
fn unlikely() -> Result<(), RateLimited> {
    Ok(())
}

fn main() {
    let _ = (likely(), words_of_other_limiters(), unlikely());
}
