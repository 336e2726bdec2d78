//! What the shop offers. The attributes are all there is of rate limiting here.

use std::net::IpAddr;

use ratelimit_runtime::{RateLimited, rate_limit};

/// Sync, one budget for all callers. The limit is named by its path, `quickstart::services::search`.
///
/// # Errors
///
/// The fiftieth search of the last minute was the last.
#[rate_limit(max = 50, window = "1m")]
pub fn search(words: &str) -> Result<usize, RateLimited> {
    Ok(words.len())
}

/// Async, a budget for each user.
///
/// # Errors
///
/// The user has looked five times in the last minute.
#[rate_limit(key = "user", max = 5, window = "1m", name = "profile")]
pub async fn profile(user: &str) -> Result<String, RateLimited> {
    tokio::task::yield_now().await;
    Ok(format!("profile of {user}"))
}

/// Two limits, one decision: where the address is denied, the whole shop's budget is not charged.
///
/// # Errors
///
/// Three came from this address in the last minute, or twenty from everywhere.
#[rate_limit(max = 20, window = "1m", name = "log_in")]
#[rate_limit(key = "address", max = 3, window = "1m", name = "log_in.address")]
pub fn log_in(address: IpAddr, user: &str) -> Result<String, RateLimited> {
    Ok(format!("{user} from {address}"))
}

/// Waits in line for its turn instead of being denied.
///
/// # Errors
///
/// The line is longer than five seconds.
#[rate_limit(max = 4, window = "100ms", wait = "5s", name = "mail")]
pub async fn send_mail(to: &str) -> Result<(), RateLimited> {
    tokio::task::yield_now().await;
    println!("mail to {to}");
    Ok(())
}

/// Over the limit, the caller gets less instead of an error.
#[rate_limit(key = "user", rate = "2/min", name = "recommend", fallback = |_| Vec::new())]
#[must_use]
pub fn recommend(user: &str) -> Vec<String> {
    vec![format!("a teapot for {user}")]
}
