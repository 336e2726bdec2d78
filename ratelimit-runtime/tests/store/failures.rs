//! What decides when the store does not.

use super::*;

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

#[rate_limit(max = 2, window = "1h", store = "forgotten", name = "forgotten.limit")]
async fn forgotten() -> Answer {
    Ok(())
}

#[tokio::test]
async fn a_store_that_is_not_installed_is_reported_and_this_process_decides_until_it_is() {
    let error = verify().unwrap_err().to_string();
    assert!(error.contains("no store is installed as `forgotten`, which is used at "), "{error}");
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
    assert_eq!(install("once").unwrap_err(), "a store is installed as `once` already");
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
