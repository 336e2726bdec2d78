use ratelimit_runtime::{RateLimited, rate_limit};

#[rate_limit(max = 0, window = "1s", wait = "1s", crate = ::ratelimit_runtime)]
#[doc = "Attributes between them stay where they are."]
#[rate_limit(max = 1, window = "1x", wait)]
#[ratelimit_runtime::rate_limit(rate = "1", permit = permit, permit = other)]
#[must_use]
#[rate_limit(rate = "1/s", permit = permit, fallback = |_| Ok(()), crate = ::ratelimit_runtime)]
fn stacked() -> Result<(), RateLimited> {
    Ok(())
}

fn main() {
    let _ = stacked();
}
