//! What a handle does to a limit in a store.

use super::*;

#[rate_limit(max = 3, window = "1h", key = "key", store = "handles", name = "handles.limit")]
fn limited(key: u32) -> Answer {
    Ok(())
}

static ONLY: LazyLimiter = limiter!(max = 3, window = "1h", store = "handles", name = "handles.only");

#[test]
fn one_customer_is_unlocked_or_all_are() {
    let store = install("handles");
    let limit = handle("handles.limit");
    for key in [1, 1, 2, 2] {
        limited(key).unwrap();
    }
    assert_eq!((limit.used(&1), limit.used(&2), limit.used(&3)), (2, 2, 0));
    limit.reset_key(&1);
    assert_eq!((limit.used(&1), limit.used(&2)), (0, 2));
    limit.reset();
    assert_eq!(limit.used(&2), 0);

    ONLY.try_acquire_n(2).unwrap().refund();
    ONLY.try_acquire().unwrap();
    assert_eq!((ONLY.used(), ONLY.remaining()), (1, 2));
    // Out of reach, what this process knows is shown.
    store.fail(OnFailure::Local, 1.0);
    assert_eq!(ONLY.used(), 0);
    ONLY.try_acquire_n(3).unwrap();
    assert_eq!(ONLY.used(), 3);
    ONLY.reset();
    store.work();
    assert_eq!(ONLY.used(), 0);
}

static ASKED: LazyLimiter = limiter!(max = 1, window = "1h", store = "asked", name = "handles.asked");

#[tokio::test]
async fn inside_a_runtime_a_handle_blocks_and_an_acquire_that_must_not_wait_does_not() {
    let store = install("asked");
    ASKED.try_acquire().unwrap();
    assert_eq!((ASKED.used(), handle("handles.asked").used("")), (1, 1));
    ASKED.reset();
    ASKED.acquire_n(1, Some(Duration::ZERO)).await.unwrap();
    let denial = ASKED.acquire_n(1, Some(Duration::ZERO)).await.unwrap_err();
    assert_eq!((denial.reason(), denial.retry_after()), (Reason::WaitTooLong, Some(Duration::from_secs(60))));
    store.hang();
    let asks = ASKED.acquire_n(1, Some(Duration::ZERO));
    assert!(tokio::time::timeout(Duration::from_millis(20), asks).await.is_err());
}
