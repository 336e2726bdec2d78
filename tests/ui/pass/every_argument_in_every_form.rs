#![deny(warnings)]

use std::net::IpAddr;
use std::time::Duration;

use ratelimit_runtime::{LazyKeyedLimiter, LazyLimiter, RateLimited, limiter, rate_limit};

const MAX: u32 = 100;

struct User {
    id: u64,
    name: String,
    is_admin: bool,
}

impl User {
    fn quota(&self) -> u32 {
        MAX
    }
}

static LOGIN: LazyLimiter = limiter!(max = 5, window = "1m", name = "login");
static LOGIN_BY_USER: LazyKeyedLimiter =
    limiter!(keyed, rate = "5/m", buckets = 12, max_keys = 10_000, mode = "shadow", store = "local");

#[rate_limit(max = 100, window = "1s")]
fn literals() -> Option<()> {
    Some(())
}

#[rate_limit(window = const { Duration::from_secs(1) }, max = const { MAX / 2 },)]
fn constants() -> Option<()> {
    Some(())
}

#[rate_limit(max = user.quota(), window = "1m 30s", key = user.id)]
#[rate_limit(max = "user.quota()", window = "1h", key = "(user.id, (ip, &user.name))")]
fn expressions(user: User, ip: IpAddr) -> Option<(User, IpAddr)> {
    Some((user, ip))
}

#[rate_limit(rate = "1000/min", algorithm = "sliding_window", buckets = 100, mode = "off", name = "all", store = "local")]
fn descriptions() -> Option<()> {
    Some(())
}

#[rate_limit(rate = "5/10s", key = ["x", &user.name, user.name], max_keys = 10, cost = 2, share = 0.5, when = !user.is_admin)]
#[rate_limit(rate = "5/10s", cost = "u32::from(user.is_admin)", share = "if user.is_admin { 1.0 } else { 0.5 }", when = true)]
#[rate_limit(rate = "5/10s", cost = 1 + 1, share = 1)]
fn calls(user: &User) -> Option<()> {
    let _ = user;
    Some(())
}

#[rate_limit(rate = "1/s", wait)]
async fn waits_without_end() {}

#[rate_limit(rate = "1/s", wait = "100ms", max_waiters = 10, permit = permit)]
async fn waits_a_while() -> Result<u32, RateLimited> {
    Ok(permit.remaining())
}

#[rate_limit(rate = "1/s", fallback = |limited| format!("{name}: {limited}"))]
fn falls_back_to_a_closure(name: String) -> String {
    name
}

#[rate_limit(rate = "1/s", fallback = |_: RateLimited| -> u64 { std::future::ready(1).await })]
async fn falls_back_to_a_future() -> u64 {
    0
}

#[rate_limit(rate = "1/s", fallback = denied)]
fn falls_back_to_a_function() -> String {
    String::new()
}

fn denied(limited: RateLimited) -> String {
    limited.to_string()
}

#[rate_limit(limiter = LOGIN, cost = 2)]
#[rate_limit(limiter = crate::LOGIN_BY_USER, key = user_id, crate = ::ratelimit_runtime)]
fn shares(user_id: u64) -> Result<u64, RateLimited> {
    Ok(user_id)
}

#[tokio::main]
async fn main() {
    let user = || User { id: 1, name: "x".to_owned(), is_admin: true };
    assert!(literals().is_some() && constants().is_some() && descriptions().is_some());
    assert!(expressions(user(), IpAddr::from([127, 0, 0, 1])).is_some());
    assert!(calls(&user()).is_some());
    waits_without_end().await;
    assert_eq!(waits_a_while().await.ok(), Some(0));
    assert_eq!(falls_back_to_a_closure("a".to_owned()), "a");
    assert!(falls_back_to_a_closure("a".to_owned()).starts_with("a: "));
    assert_eq!([falls_back_to_a_future().await, falls_back_to_a_future().await], [0, 1]);
    assert_eq!(falls_back_to_a_function(), "");
    assert_ne!(falls_back_to_a_function(), "");
    assert_eq!(shares(1).ok(), Some(1));
    assert_eq!(LOGIN.remaining(), 3);
}
