use ratelimit_runtime::{RateLimited, rate_limit};

#[rate_limit(rate = "1/s", fallback = 5)]
fn a_value() -> u32 {
    1
}

#[rate_limit(rate = "1/s", fallback = || 5)]
fn no_argument() -> u32 {
    1
}

#[rate_limit(rate = "1/s", fallback = async |limited| 5)]
async fn an_async_closure() -> u32 {
    1
}

fn main() {
    let _: Option<RateLimited> = None;
}
