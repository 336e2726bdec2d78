use ratelimit_runtime::{RateLimited, rate_limit};

struct User {
    id: u64,
}

#[rate_limit(rate = "1/s", key = user)]
fn a_struct(user: User) -> Result<u64, RateLimited> {
    Ok(user.id)
}

#[rate_limit(rate = "1/s", key = (user.id, weight))]
fn a_float_in_a_tuple(user: User, weight: f64) -> Result<f64, RateLimited> {
    Ok(weight)
}

fn main() {
    let _ = (a_struct(User { id: 1 }), a_float_in_a_tuple(User { id: 1 }, 0.5));
}
