//! Every argument in every form.

use std::net::IpAddr;
use std::time::Duration;

use ratelimit_runtime::{LazyKeyedLimiter, LazyLimiter, RateLimited, limiter, rate_limit};

use crate::keys::User;

const MAX: u32 = 100;

/// Shared.
pub static LOGIN: LazyLimiter = limiter!(max = 5, window = "1m", name = "login");

/// Shared, with keys.
pub static LOGIN_BY_USER: LazyKeyedLimiter =
    limiter!(keyed, rate = "5/m", buckets = 12, max_keys = 10_000, mode = "shadow", store = "local");

static PRIVATE: LazyLimiter = limiter!(
    max = const { MAX },
    window = const { Duration::from_millis(1500) },
    crate = ::ratelimit_runtime
);

/// Literals.
#[rate_limit(max = 100, window = "1s")]
#[must_use]
pub fn literals(number: u32) -> Option<u32> {
    number.checked_add(1)
}

/// Constants.
#[rate_limit(window = const { Duration::from_secs(1) }, max = const { MAX / 2 },)]
#[must_use]
pub fn constants(number: u32) -> Option<u32> {
    number.checked_add(1)
}

/// Expressions, bare and in strings.
#[rate_limit(max = user.quota(), window = "1m 30s", key = user.id)]
#[rate_limit(max = "user.quota()", window = "1h", key = "(user.id, (ip, &user.name))")]
#[must_use]
pub fn expressions(user: User, ip: IpAddr) -> Option<(User, IpAddr)> {
    ip.is_loopback().then_some((user, ip))
}

/// What describes a limit.
#[rate_limit(
    rate = "1000/min",
    algorithm = "sliding_window",
    buckets = 100,
    mode = "off",
    name = "all",
    store = "local"
)]
#[must_use]
pub fn descriptions(number: u32) -> Option<u32> {
    number.checked_add(1)
}

/// What describes a call.
#[rate_limit(rate = "5/10s", key = ["x", &user.name, user.name], max_keys = 10, cost = 2, share = 0.5, when = !user.is_admin)]
#[rate_limit(
    rate = "5/10s",
    cost = "u32::from(user.is_admin)",
    share = "if user.is_admin { 1.0 } else { 0.5 }",
    when = true
)]
#[rate_limit(rate = "5/10s", cost = 1 + 1, share = 1)]
#[must_use]
pub fn calls(user: &User) -> Option<u64> {
    user.id.checked_add(1)
}

/// Limits that others use too.
///
/// # Errors
/// Over a limit.
#[rate_limit(limiter = LOGIN, cost = 2)]
#[rate_limit(limiter = LOGIN_BY_USER, key = user_id, crate = ::ratelimit_runtime)]
#[rate_limit(limiter = PRIVATE, permit = permit, when = user_id > 0)]
pub fn shares(user_id: u64) -> Result<u64, RateLimited> {
    Ok(user_id.saturating_add(permit.remaining().into()))
}

/// A permit that is given back.
///
/// # Errors
/// Over the limit.
#[rate_limit(key = name, rate = "5/m", permit = permit)]
pub fn refunds(name: &str, password: &str) -> Result<bool, RateLimited> {
    let is_right = name == password;
    if is_right {
        permit.refund();
    }
    Ok(is_right)
}
