use ratelimit_runtime::{RateLimited, rate_limit};

#[rate_limit(rate = "1/s", algorithm = "gcar")]
fn unknown() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(rate = "1/s", algorithm = "gcra", buckets = 5)]
fn buckets_of_another() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(rate = "1/s", algorithm = gcra)]
fn no_quotes() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(rate = "1/s", burst = 5)]
fn burst_by_default() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(rate = "1/s", initial = 5, algorithm = "sliding_window")]
fn initial_before_it() -> Result<(), RateLimited> {
    Ok(())
}

fn main() {}
