//! A decision about a key that is known allocates nothing, whatever it is.
#![cfg(feature = "macros")]

use std::{
    future::Future,
    net::{IpAddr, Ipv4Addr},
    pin::pin,
    task::{Context, Poll, Waker},
    time::Duration,
};

use allocation_counter::measure;
use ratelimit_runtime::{
    KeyedLimiter, LazyKeyedLimiter, LimitSpec, Limiter, ManualClock, Permit, RateLimited, limiter, rate_limit,
};

type Answer = Result<(), RateLimited>;

/// The first two calls may allocate: they make the limiter and the key's budget. No later one does.
fn allocates_nothing(what: &str, mut call: impl FnMut()) {
    call();
    call();
    let allocated = measure(|| (0..100).for_each(|_| call()));
    assert_eq!(allocated.count_total, 0, "{what}");
}

/// Polls a future that has no reason to wait.
fn ready<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("the call is decided at its first poll"),
    }
}

#[rate_limit(max = 1000, window = "1h")]
fn plain() -> Answer {
    Ok(())
}

#[rate_limit(max = 1000, window = "1h")]
#[expect(clippy::unused_async, reason = "async is what is tested")]
async fn plain_async() -> Answer {
    Ok(())
}

#[rate_limit(key = "user", max = 1000, window = "1h")]
fn keyed(user: &str) -> Answer {
    let _ = user;
    Ok(())
}

#[rate_limit(key = "(user, client)", max = 1000, window = "1h")]
#[expect(clippy::unused_async, reason = "async is what is tested")]
async fn keyed_async(user: &str, client: IpAddr) -> Answer {
    let _ = (user, client);
    Ok(())
}

#[rate_limit(max = 1000, window = "1h", permit = permit)]
#[rate_limit(key = "user", max = 1000, window = "1h", cost = 2, share = 0.9)]
#[rate_limit(key = "(user, 7)", max = "plan", window = "1m")]
#[rate_limit(max = 1000, window = "1h", mode = "shadow")]
fn stacked(user: &str, plan: u32) -> Result<Permit<'static>, RateLimited> {
    let _ = user;
    Ok(permit)
}

#[rate_limit(key = "user", max = 1000, window = "1h", wait)]
async fn waits(user: u32) -> Answer {
    let _ = user;
    Ok(())
}

#[rate_limit(max = 1, window = "1h")]
fn full() -> Answer {
    Ok(())
}

#[rate_limit(key = "user", max = 1, window = "1h")]
#[rate_limit(max = 2, window = "1h")]
#[rate_limit(key = "(user, user)", max = 3, window = "1h")]
fn full_stack(user: u32) -> Answer {
    let _ = user;
    Ok(())
}

#[test]
fn an_admitted_call_allocates_nothing() {
    allocates_nothing("no key", || plain().unwrap());
    allocates_nothing("no key, async", || ready(plain_async()).unwrap());
    allocates_nothing("a key", || keyed("alice").unwrap());
    let long = "alice".repeat(100);
    allocates_nothing("a long key", || keyed(&long).unwrap());
    let client = IpAddr::V4(Ipv4Addr::LOCALHOST);
    allocates_nothing("two keys, async", || ready(keyed_async("alice", client)).unwrap());
    allocates_nothing("a stack", || drop(stacked("alice", 1000).unwrap()));
    allocates_nothing("no reason to wait", || ready(waits(1)).unwrap());
}

#[test]
fn a_refund_allocates_nothing() {
    keyed("bob").unwrap();
    stacked("bob", 1000).unwrap();
    allocates_nothing("a refund of a stack", || stacked("bob", 1000).unwrap().refund());
}

#[test]
fn a_denied_call_allocates_nothing() {
    full().unwrap();
    allocates_nothing("no key", || drop(full().unwrap_err()));
    full_stack(1).unwrap();
    allocates_nothing("a stack", || drop(full_stack(1).unwrap_err().clone()));
}

static SHARED: LazyKeyedLimiter = limiter!(keyed, max = 2, window = "1h", max_keys = 1);

#[test]
fn a_call_that_an_overflow_budget_decides_allocates_nothing() {
    SHARED.try_acquire("first").unwrap();
    allocates_nothing("admitted and refunded", || SHARED.try_acquire("second").unwrap().refund());
    SHARED.try_acquire_n("second", 2).unwrap();
    allocates_nothing("denied", || drop(SHARED.try_acquire("second").unwrap_err()));
}

#[test]
fn a_look_allocates_nothing() {
    let keyed = KeyedLimiter::new(LimitSpec::new(1, Duration::from_secs(3600))).unwrap();
    keyed.try_acquire("known").unwrap();
    for key in ["known", "unknown"] {
        allocates_nothing("a cost of 0", || drop(keyed.try_acquire_n(key, 0).unwrap()));
        allocates_nothing("a look", || _ = (keyed.used(key), keyed.remaining(key), keyed.tracked_keys()));
    }
}

#[test]
fn a_window_that_turns_allocates_nothing() {
    let clock = ManualClock::new();
    let spec = LimitSpec::new(50, Duration::from_secs(1));
    let limiter = Limiter::with_clock(spec, clock.clone()).unwrap();
    let keyed = KeyedLimiter::with_clock(spec, clock.clone()).unwrap();
    allocates_nothing("no key", || {
        clock.advance(Duration::from_millis(23));
        limiter.try_acquire().unwrap();
    });
    allocates_nothing("a key", || {
        clock.advance(Duration::from_millis(23));
        keyed.try_acquire("alice").unwrap();
    });
}
