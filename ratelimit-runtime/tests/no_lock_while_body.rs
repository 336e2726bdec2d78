//! No lock is held while a user's code runs: a function's body, a key, a clock, a waker. Held ones would deadlock here.
#![cfg(feature = "macros")]

use std::{
    cell::Cell,
    future::Future,
    pin::pin,
    sync::{Arc, OnceLock},
    task::{Context, Poll, Wake, Waker},
    time::Duration,
};

use ratelimit_runtime::{
    Clock, KeyEncoder, KeyedLimiter, LazyKeyedLimiter, LazyLimiter, LimitSpec, Limiter, ManualClock, Permit,
    RateLimitKey, RateLimited, limit, limiter, rate_limit,
};

type Answer<T> = Result<T, RateLimited>;

const SECOND: Duration = Duration::from_secs(1);

fn spec(max: u32) -> LimitSpec {
    LimitSpec::new(max, 3600 * SECOND)
}

#[rate_limit(max = 5, window = "1h", name = "recursion")]
fn recursion(depth: u32) -> Answer<u32> {
    recursion(depth + 1).or(Ok(depth))
}

#[test]
fn a_function_that_calls_itself_is_limited_at_every_depth() {
    assert_eq!(recursion(1).unwrap(), 5);
    assert_eq!(limit("recursion").unwrap().stats().denied, 1);
}

#[rate_limit(key = "depth % 2", max = 5, window = "1h")]
async fn recursion_by_key(depth: u32) -> Answer<u32> {
    Box::pin(recursion_by_key(depth + 1)).await.or(Ok(depth))
}

#[tokio::test]
async fn an_async_function_that_calls_itself_is_limited_at_every_depth() {
    assert_eq!(recursion_by_key(1).await.unwrap(), 10);
}

static SHARED: LazyLimiter = limiter!(max = 100, window = "1h", name = "shared");
static BY_KEY: LazyKeyedLimiter = limiter!(keyed, max = 100, window = "1h", name = "by.key");

/// Everything that can be done to a limit, done from where a lock might be held.
fn does_everything() {
    SHARED.try_acquire().unwrap().refund();
    BY_KEY.try_acquire("alice").unwrap().refund();
    for name in ["shared", "by.key"] {
        let limit = limit(name).unwrap();
        limit.set_spec(limit.spec()).unwrap();
        limit.set_mode(limit.mode());
        limit.reset_key("alice");
        limit.reset();
        assert_eq!((limit.used("alice"), limit.stats().tracked_keys), (0, 0));
    }
}

#[rate_limit(limiter = SHARED, permit = permit)]
#[rate_limit(limiter = BY_KEY, key = "user")]
fn body_that_does_everything(user: &str) -> Answer<Permit<'static>> {
    assert_eq!(user, "alice");
    does_everything();
    Ok(permit)
}

/// A key whose encoding does everything too.
struct Meddler;

impl RateLimitKey for Meddler {
    fn encode(&self, encoder: &mut KeyEncoder) {
        does_everything();
        "meddler".encode(encoder);
    }
}

#[test]
fn a_body_and_a_key_may_do_everything_to_their_own_limits() {
    body_that_does_everything("alice").unwrap().refund();
    BY_KEY.try_acquire(&Meddler).unwrap();
    let limit = limit("by.key").unwrap();
    assert_eq!(limit.used(&Meddler), 0);
    limit.reset_key(&Meddler);
}

/// A clock that asks its own limiters what time it is for.
#[derive(Clone, Default)]
struct MeddlingClock {
    limiters: Arc<OnceLock<(Limiter, KeyedLimiter)>>,
}

thread_local! {
    static MEDDLES: Cell<bool> = const { Cell::new(false) };
}

impl Clock for MeddlingClock {
    fn now(&self) -> Duration {
        // Once only: the calls made here read the clock as well.
        if let Some((limiter, keyed)) = self.limiters.get()
            && !MEDDLES.replace(true)
        {
            meddle(limiter, keyed);
            MEDDLES.set(false);
        }
        SECOND
    }
}

fn meddle(limiter: &Limiter, keyed: &KeyedLimiter) {
    _ = limiter.try_acquire().map(Permit::refund);
    _ = keyed.try_acquire("alice").map(Permit::refund);
    _ = (limiter.used(), limiter.remaining(), limiter.spec(), format!("{limiter:?}"));
    _ = (keyed.used("alice"), keyed.remaining("alice"), keyed.spec(), format!("{keyed:?}"));
    _ = keyed.tracked_keys();
    limiter.set_spec(spec(99)).unwrap();
    keyed.set_spec(spec(99)).unwrap();
    limiter.reset();
    keyed.reset_key("alice");
    keyed.reset();
}

#[test]
fn a_clock_may_do_everything_to_the_limiter_that_reads_it() {
    let clock = MeddlingClock::default();
    let limiters = clock.limiters.clone();
    let limiter = Limiter::with_clock(spec(100), clock.clone()).unwrap();
    let keyed = KeyedLimiter::with_clock(spec(100), clock).unwrap();
    let (limiter, keyed) = limiters.get_or_init(|| (limiter, keyed));
    meddle(limiter, keyed);
    limiter.try_acquire_n(99).unwrap();
    keyed.try_acquire_n("alice", 99).unwrap();
    assert!(pin!(limiter.acquire()).poll(&mut Context::from_waker(Waker::noop())).is_ready());
}

/// A waker that takes a permit, looks and resets, as a task that runs at once might.
struct Meddle(&'static Limiter);

impl Wake for Meddle {
    fn wake(self: Arc<Self>) {
        _ = self.0.try_acquire();
        assert!(self.0.used() <= 2);
        self.0.set_spec(spec(2)).unwrap();
    }
}

#[test]
fn a_waker_may_do_everything_to_the_limiter_that_wakes_it() {
    let clock = ManualClock::new();
    let limiter = &*Box::leak(Box::new(Limiter::with_clock(spec(1), clock.clone()).unwrap()));
    let waker = Waker::from(Arc::new(Meddle(limiter)));
    let mut context = Context::from_waker(&waker);
    let permit = limiter.try_acquire().unwrap();
    let mut waits = pin!(limiter.acquire());
    assert!(waits.as_mut().poll(&mut context).is_pending());
    permit.refund();
    assert!(matches!(waits.as_mut().poll(&mut context), Poll::Ready(Ok(_))));
    let mut by_time = pin!(limiter.acquire());
    while by_time.as_mut().poll(&mut context).is_pending() {
        clock.advance(3600 * SECOND);
    }
}
