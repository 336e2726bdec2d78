//! What decides when the store does not.

use super::*;

use std::{
    pin::pin,
    task::{Context, Waker},
};

use ratelimit_runtime::{LazyLimiter, limiter};

#[rate_limit(max = 10, window = "1h", key = "key", store = "failures", name = "failures.limit")]
fn limited(key: u32) -> Answer {
    Ok(())
}

#[rate_limit(
    max = 10,
    window = "1h",
    algorithm = "gcra",
    burst = 20,
    store = "failures",
    name = "failures.bucket"
)]
fn bucket() -> Answer {
    Ok(())
}

#[test]
fn a_failure_is_no_denial_and_a_policy_decides() {
    let store = install("failures");
    let limit = handle("failures.limit");
    limited(1).unwrap();

    store.fail(OnFailure::Open, 1.0);
    for _ in 0..20 {
        limited(1).unwrap();
    }
    let stats = limit.stats();
    assert_eq!((stats.allowed, stats.denied, stats.store_failures), (21, 0, 20));

    store.fail(OnFailure::Closed, 1.0);
    let denial = limited(1).unwrap_err();
    assert_eq!((denial.reason(), denial.retry_after()), (Reason::StoreUnavailable, None));
    let stats = limit.stats();
    assert_eq!((stats.allowed, stats.denied, stats.store_failures), (21, 0, 21));

    // This process's share of ten permits, by its own budgets.
    store.fail(OnFailure::Local, 0.3);
    let admitted = |key| (0..20).filter(|_| limited(key).is_ok()).count();
    assert_eq!((admitted(1), admitted(2)), (3, 3));
    let denial = limited(1).unwrap_err();
    assert_eq!((denial.reason(), denial.limit().max()), (Reason::Exceeded, 3));
    assert!(denial.retry_after().unwrap() > Duration::from_secs(3500));
    let stats = limit.stats();
    assert_eq!((stats.allowed, stats.denied, stats.store_failures), (27, 35, 62));

    // Others have gone: the share grows, and what has been used still counts.
    store.fail(OnFailure::Local, 0.5);
    assert_eq!(admitted(1), 2);
    // A changed limit is divided anew.
    limit.set_spec("40/1h".parse().unwrap()).unwrap();
    assert_eq!(admitted(1), 15);

    store.work();
    limited(1).unwrap();
    assert_eq!(limit.spec().max(), 40);

    // Of a bucket both the size and the flow are divided; and nothing is closed for being shared.
    store.fail(OnFailure::Local, 0.1);
    assert_eq!((0..9).filter(|_| bucket().is_ok()).count(), 2);
    let wait = bucket().unwrap_err().retry_after().unwrap();
    assert!(wait > Duration::from_secs(3500) && wait <= Duration::from_secs(3600), "{wait:?}");
    handle("failures.bucket").set_spec("1/1h algorithm=gcra".parse().unwrap()).unwrap();
    store.fail(OnFailure::Local, 0.001);
    handle("failures.bucket").reset();
    assert_eq!((0..9).filter(|_| bucket().is_ok()).count(), 1);
}

static LINE: LazyLimiter = limiter!(max = 1, window = "1h", store = "queued", name = "queued.limit");

#[rate_limit(limiter = LINE, wait = "2h")]
async fn queued() -> Answer {
    Ok(())
}

#[rate_limit(limiter = LINE)]
async fn passing() -> Answer {
    Ok(())
}

#[tokio::test]
async fn a_failure_is_no_denial_though_somebody_waits_and_those_go_by_the_policy_too() {
    let store = install("queued");
    let limit = handle("queued.limit");
    for (policy, expected) in [(OnFailure::Open, None), (OnFailure::Closed, Some(Reason::StoreUnavailable))] {
        store.work();
        limit.reset();
        queued().await.unwrap();
        let before = limit.stats();
        let waiters = [tokio::spawn(queued()), tokio::spawn(queued())];
        while limit.stats().waited < before.waited + 2 {
            tokio::task::yield_now().await;
        }
        assert_eq!(passing().await.unwrap_err().reason(), Reason::Exceeded);
        store.fail(policy, 1.0);
        let reason = |answer: Answer| answer.err().map(|limited| limited.reason());
        assert_eq!(reason(passing().await), expected);
        for waiter in waiters {
            assert_eq!(reason(waiter.await.unwrap()), expected);
        }
        let stats = limit.stats();
        assert_eq!((stats.denied - before.denied, stats.store_failures - before.store_failures), (1, 3));
    }
}

#[rate_limit(max = 5, window = "1h", store = "doubtful", name = "doubtful.limit")]
#[rate_limit(max = 5, window = "1h", store = "certain", name = "certain.limit")]
async fn doubtful() -> Answer {
    Ok(())
}

#[tokio::test]
async fn what_a_store_may_have_charged_stands_only_if_the_call_is_admitted_in_the_end() {
    let (first, second) = (install("doubtful"), install("certain"));
    first.fail(OnFailure::Open, 1.0);
    doubtful().await.unwrap();
    assert_eq!(first.doubts(), ["stands"]);

    // Denied by another limit, or dropped while that is asked.
    second.set_used(5);
    assert_eq!(doubtful().await.unwrap_err().name(), "certain.limit");
    assert_eq!(first.doubts(), ["is given back"]);
    second.set_used(0);
    second.hang();
    {
        let mut context = Context::from_waker(Waker::noop());
        assert!(pin!(doubtful()).poll(&mut context).is_pending());
    }
    assert_eq!(first.doubts(), ["is given back"]);
    second.work();

    // Denied by the policy, or charged to this process's share instead.
    for policy in [OnFailure::Closed, OnFailure::Local] {
        first.fail(policy, 1.0);
        assert_eq!(doubtful().await.is_ok(), policy == OnFailure::Local);
        assert_eq!(first.doubts(), ["is given back"]);
    }
}

#[rate_limit(max = 10, window = "1h", cost = cost, store = "shared", name = "shared.limit")]
fn costly(cost: u32) -> Answer {
    Ok(())
}

#[test]
fn what_is_too_much_for_a_share_only_is_no_denial_for_good() {
    let store = install("shared");
    store.fail(OnFailure::Local, 0.3);
    costly(3).unwrap();
    let limited = costly(4).unwrap_err();
    assert_eq!((limited.reason(), limited.retry_after()), (Reason::StoreUnavailable, None));
    assert_eq!(limited.limit().max(), 10);
    assert_eq!(costly(11).unwrap_err().reason(), Reason::CostExceedsCapacity);
    assert_eq!(costly(1).unwrap_err().reason(), Reason::Exceeded);
    let stats = handle("shared.limit").stats();
    assert_eq!((stats.allowed, stats.denied, stats.store_failures), (1, 2, 3));
    store.work();
    costly(4).unwrap();
}

#[rate_limit(max = 2, window = "1h", store = "forgotten", name = "forgotten.limit")]
async fn forgotten() -> Answer {
    Ok(())
}

#[tokio::test]
async fn a_store_that_is_not_installed_is_reported_and_this_process_decides_until_it_is() {
    let error = verify().unwrap_err().to_string();
    let used_by = "no store is installed as `forgotten`, which is used by `forgotten.limit` at ";
    assert!(error.contains(used_by), "{error}");
    assert!(error.ends_with("; call `install_store` at start-up"), "{error}");
    forgotten().await.unwrap();
    forgotten().await.unwrap();
    forgotten().await.unwrap_err();
    assert_eq!(handle("forgotten.limit").stats().store_failures, 3);
    let store = install("forgotten");
    forgotten().await.unwrap();
    assert_eq!(store.used(), 1);
    assert!(!verify().is_err_and(|error| error.to_string().contains("`forgotten`")));
}

#[test]
fn a_store_is_installed_once_and_not_as_local() {
    let install = |name| install_store(name, Unused).map_err(|error| error.to_string());
    install("once").unwrap();
    assert_eq!(
        install("once").unwrap_err(),
        "a store is installed as `once` already, and stays; give this one another name"
    );
    let reserved = "no store can be called `local`; give it a name of its own, such as `redis`";
    assert_eq!(install("local").unwrap_err(), reserved);
}

struct Unused;

impl ratelimit_runtime::Store for Unused {
    fn charge(
        &self,
        _: &ratelimit_runtime::StoreCall<'_>,
    ) -> ratelimit_runtime::StoreAnswer<ratelimit_runtime::StoreVerdict> {
        unreachable!()
    }

    fn look(
        &self,
        _: &ratelimit_runtime::StoreCall<'_>,
    ) -> ratelimit_runtime::StoreAnswer<ratelimit_runtime::StoreOutlook> {
        unreachable!()
    }

    fn refund(&self, _: &ratelimit_runtime::StoreCall<'_>, _: ratelimit_runtime::StoreReceipt) {}

    fn undo(&self, _: &ratelimit_runtime::StoreCall<'_>, _: ratelimit_runtime::StoreReceipt) {}

    fn reset(&self, _: &ratelimit_runtime::StoreCall<'_>) -> ratelimit_runtime::StoreAnswer<()> {
        unreachable!()
    }

    fn reset_all(&self, _: &str) -> ratelimit_runtime::StoreAnswer<()> {
        unreachable!()
    }
}
