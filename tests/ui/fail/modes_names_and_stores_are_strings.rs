use ratelimit_runtime::{RateLimited, rate_limit};

#[rate_limit(rate = "1/s", mode = "shadwo")]
fn unknown_mode() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(rate = "1/s", mode = off)]
fn mode_without_quotes() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(rate = "1/s", name = "")]
fn empty_name() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(rate = "1/s", name = login)]
fn name_without_quotes() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(rate = "1/s", store = redis, name = "login")]
fn store_without_quotes() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(rate = "1/s", store = "", name = "login")]
fn empty_store() -> Result<(), RateLimited> {
    Ok(())
}

fn main() {}
