//! What the store is asked by a call.

use super::*;

#[rate_limit(max = 3, window = "1h", store = "calls", name = "calls.sync")]
fn sync() -> Answer {
    Ok(())
}

#[rate_limit(max = 3, window = "1h", store = "calls", name = "calls.async", permit = permit)]
async fn asynchronous() -> Result<u32, RateLimited> {
    Ok(permit.remaining())
}

#[rate_limit(
    max = "max",
    window = "1h",
    key = "key",
    cost = "cost",
    share = 0.5,
    store = "calls",
    name = "calls.own"
)]
fn own(key: &str, max: u32, cost: u32) -> Answer {
    Ok(())
}

#[rate_limit(max = 3, window = "1h", store = "calls", name = "calls.unlimited", when = false)]
fn unlimited() -> Answer {
    Ok(())
}

static SHARED: LazyKeyedLimiter =
    limiter!(keyed, max = 3, window = "1h", store = "calls", name = "calls.shared");

#[rate_limit(limiter = SHARED, key = "key")]
async fn by_shared(key: &str) -> Answer {
    Ok(())
}

#[rate_limit(max = 2, window = "1h", key = "key", store = "calls", name = "calls.boxed", permit = permit)]
fn boxed<'a>(
    key: &'a str,
) -> std::pin::Pin<Box<dyn Future<Output = Result<&'a str, RateLimited>> + Send + Sync + 'a>> {
    Box::pin(async move {
        permit.refund();
        Ok(key)
    })
}

#[tokio::test]
async fn the_store_decides_and_nothing_else_does() {
    let store = install("calls");
    for _ in 0..3 {
        sync().unwrap();
    }
    let limited = sync().unwrap_err();
    assert_eq!((limited.name(), limited.reason()), ("calls.sync", Reason::Exceeded));
    assert_eq!(limited.retry_after(), Some(Duration::from_secs(60)));
    assert_eq!(store.asked(), vec!["charge 1 of 3 in calls.sync"; 4]);
    let stats = handle("calls.sync").stats();
    assert_eq!((stats.allowed, stats.denied, stats.store_failures), (3, 1, 0));

    for remaining in [2, 1, 0] {
        assert_eq!(asynchronous().await.unwrap(), remaining);
    }
    assert!(asynchronous().await.is_err());
    store.asked();

    // What each call brings along: its own `max`, its part of that, and its cost.
    own("alice", 20, 4).unwrap();
    own("alice", 20, 0).unwrap();
    assert_eq!(own("alice", 20, 11).unwrap_err().reason(), Reason::CostExceedsCapacity);
    assert_eq!(own("alice", 0, 1).unwrap_err().retry_after(), None);
    assert_eq!(store.asked(), ["charge 4 of 10 in calls.own", "look 0 of 10 in calls.own"]);

    unlimited().unwrap();
    assert!(store.asked().is_empty());

    // By hand and by attribute, one key is one budget, however long.
    let long = "x".repeat(1000);
    by_shared(&long).await.unwrap();
    SHARED.try_acquire(&long).unwrap();
    SHARED.acquire(&long).await.unwrap();
    assert!(by_shared(&long).await.is_err());
    assert_eq!((SHARED.used(&long), SHARED.remaining(&long)), (3, 0));
    by_shared("another").await.unwrap();

    // A boxed future asks when it is polled, and gives back what it was charged.
    store.asked();
    let future = boxed("key");
    assert!(store.asked().is_empty());
    assert_eq!(future.await.unwrap(), "key");
    assert_eq!(store.asked(), ["charge 1 of 2 in calls.boxed", "refund 1 of 2 in calls.boxed"]);
    assert_eq!(handle("calls.boxed").stats().refunded, 1);
}

#[rate_limit(max = 1, window = "1h", store = "modes", name = "modes.limit")]
fn moded() -> Answer {
    Ok(())
}

#[test]
fn shadow_asks_and_denies_nothing_and_off_does_not_ask() {
    let store = install("modes");
    let limit = handle("modes.limit");
    moded().unwrap();
    limit.set_mode(Mode::Shadow);
    moded().unwrap();
    let stats = limit.stats();
    assert_eq!((stats.allowed, stats.denied, stats.shadow_denied), (1, 0, 1));
    assert_eq!(store.asked().len(), 2);
    store.fail(OnFailure::Closed, 1.0);
    moded().unwrap();
    let stats = limit.stats();
    assert_eq!((stats.allowed, stats.shadow_denied, stats.store_failures), (2, 1, 1));
    limit.set_mode(Mode::Off);
    store.asked();
    moded().unwrap();
    assert!(store.asked().is_empty());
    store.work();
    limit.set_mode(Mode::Enforce);
    assert_eq!(limit.mode(), Mode::Enforce);
    moded().unwrap_err();
}

#[rate_limit(max = 1, window = "1h", store = "never installed in a test", name = "isolated")]
fn isolated() -> Answer {
    Ok(())
}

#[test]
fn an_isolated_test_has_budgets_of_its_own() {
    let time = ratelimit_runtime::test_util::isolate();
    isolated().unwrap();
    isolated().unwrap_err();
    assert_eq!(handle("isolated").stats().store_failures, 0);
    time.advance(Duration::from_secs(7200));
    isolated().unwrap();
}
