use std::fmt::Display;
use std::future::Future;
use std::pin::Pin;

use ratelimit_runtime::{RateLimited, rate_limit};

struct TooBusy;

#[rate_limit(rate = "1/s")]
fn nothing() {}

#[rate_limit(rate = "1/s")]
async fn a_number() -> u64 {
    1
}

#[rate_limit(rate = "1/s")]
fn an_error_that_is_made_of_no_denial() -> Result<u64, TooBusy> {
    Err(TooBusy)
}

#[rate_limit(rate = "1/s")]
fn opaque() -> impl Display {
    "opaque"
}

#[rate_limit(rate = "1/s")]
fn a_future() -> impl Future<Output = Result<u64, RateLimited>> {
    async { Ok(5) }
}

#[rate_limit(rate = "1/s", wait = "1s")]
fn boxed() -> Pin<Box<dyn Future<Output = u64> + Send>> {
    Box::pin(async { 1 })
}

#[rate_limit(rate = "1/s", wait = "1s")]
fn never() -> ! {
    std::process::exit(0)
}

#[rate_limit(rate = "1/s", wait, store = "redis", name = "waits")]
async fn waits_for_a_store() {}

fn main() {
    let _: Option<RateLimited> = None;
    nothing();
    let _ = (a_number(), an_error_that_is_made_of_no_denial(), opaque(), a_future(), boxed(), waits_for_a_store());
    never()
}
