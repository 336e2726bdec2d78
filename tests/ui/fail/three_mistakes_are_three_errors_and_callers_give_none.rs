use ratelimit_runtime::{RateLimited, rate_limit};

#[rate_limit(max = 0, windw = "1s", buckets = 2000, permit = permit)]
async fn profile(user_id: u64) -> Result<u64, RateLimited> {
    permit.refund();
    Ok(user_id)
}

async fn caller() -> u64 {
    profile(7).await.map_or(0, |user_id| user_id + 1)
}

fn main() {
    let _ = caller();
}
