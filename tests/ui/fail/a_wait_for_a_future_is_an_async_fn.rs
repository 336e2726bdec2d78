use std::future::Future;

use ratelimit_runtime::{RateLimited, rate_limit};

#[rate_limit(rate = "1/s", wait)]
fn profile(user_id: u64) -> impl Future<Output = Result<u64, RateLimited>> + Send {
    async move { Ok(user_id) }
}

fn main() {
    let _ = profile(7);
}
