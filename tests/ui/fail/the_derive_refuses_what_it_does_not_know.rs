use ratelimit_runtime::{RateLimitKey, RateLimited, rate_limit};

#[derive(RateLimitKey, Clone, Copy)]
union Bits {
    integer: u32,
    float: f32,
}

#[derive(RateLimitKey)]
#[rate_limit_key(rename = "user")]
struct User {
    id: u64,
    #[rate_limit_key(skipped)]
    name: String,
}

#[rate_limit(rate = "1/s", key = (bits, user))]
fn both(bits: Bits, user: User) -> Result<String, RateLimited> {
    let _ = unsafe { bits.integer } + user.id as u32;
    Ok(user.name)
}

fn main() {
    let _ = both(Bits { float: 0.5 }, User { id: 1, name: String::new() });
}
