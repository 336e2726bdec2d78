//! A call that is admitted by a key's budget that is already there allocates nothing.

use allocation_counter::measure;
use ratelimit_runtime::{RateLimited, rate_limit};

/// How often a hundred calls allocate, after a first one that makes the limiter and the key's budget.
fn allocations(call: impl Fn()) -> u64 {
    call();
    measure(|| (0..100).for_each(|_| call())).count_total
}

#[test]
fn an_admitted_call_without_a_key_allocates_nothing() {
    #[rate_limit(max = 1000, window = "1h")]
    fn call() -> Result<(), RateLimited> {
        Ok(())
    }

    assert_eq!(allocations(|| call().unwrap()), 0);
}

#[test]
fn an_admitted_call_of_a_known_key_allocates_nothing() {
    #[rate_limit(key = (tenant, user), max = 1000, window = "1h")]
    fn call(tenant: u64, user: &str) -> Result<(), RateLimited> {
        Ok(())
    }

    assert_eq!(allocations(|| call(7, "ada").unwrap()), 0);
    let long = "ada".repeat(10_000);
    assert_eq!(allocations(|| call(7, &long).unwrap()), 0, "a long key is digested, not copied");
}

#[test]
fn an_admitted_call_of_a_stack_allocates_nothing() {
    #[rate_limit(max = 2000, window = "1h", permit = permit)]
    #[rate_limit(key = user, max = 1000, window = "1h")]
    #[rate_limit(key = user, max = 1000, window = "1m", mode = "shadow")]
    fn call(user: u64) -> Result<u32, RateLimited> {
        Ok(permit.remaining())
    }

    assert_eq!(allocations(|| assert!(call(7).is_ok())), 0);
}

#[test]
fn a_denied_call_allocates_nothing() {
    #[rate_limit(key = user, max = 1, window = "1h")]
    fn call(user: u64) -> Result<(), RateLimited> {
        Ok(())
    }

    assert_eq!(allocations(|| drop(call(7))), 0);
}

#[test]
fn an_async_call_that_need_not_wait_allocates_nothing() {
    #[rate_limit(max = 1000, window = "1h", wait)]
    async fn call() {}

    assert_eq!(allocations(|| futures::FutureExt::now_or_never(call()).unwrap()), 0);
}
