//! Several limits, here and in stores, are one decision.

use super::*;

use std::{
    pin::pin,
    task::{Context, Waker},
};

#[rate_limit(max = 3, window = "1h", name = "stacks.here")]
#[rate_limit(max = 9, window = "1h", store = "stacks", name = "stacks.first")]
#[rate_limit(max = 2, window = "1h", store = "stacks", name = "stacks.second")]
async fn stacked() -> Answer {
    Ok(())
}

fn used() -> [u32; 3] {
    ["stacks.here", "stacks.first", "stacks.second"].map(|name| handle(name).used(&()))
}

#[tokio::test]
async fn all_are_charged_or_none_and_a_denial_here_asks_nobody() {
    let store = install("stacks");
    stacked().await.unwrap();
    stacked().await.unwrap();
    assert_eq!(used(), [2, 2, 2]);
    let limited = stacked().await.unwrap_err();
    assert_eq!(limited.name(), "stacks.second");
    assert_eq!(used(), [2, 2, 2]);

    // A call that is dropped while the store is asked has taken nothing.
    store.hang();
    {
        let mut call = pin!(stacked());
        let mut context = Context::from_waker(Waker::noop());
        assert!(call.as_mut().poll(&mut context).is_pending());
    }
    store.work();
    assert_eq!(used(), [2, 2, 2]);

    handle("stacks.second").set_spec("3/1h".parse().unwrap()).unwrap();
    stacked().await.unwrap();
    store.asked();
    let limited = stacked().await.unwrap_err();
    // Both are used up, and the one here frees last.
    assert_eq!(limited.name(), "stacks.here");
    assert!(store.asked().is_empty());

    let [here, first, second] =
        ["stacks.here", "stacks.first", "stacks.second"].map(|name| handle(name).stats());
    assert_eq!([here.allowed, first.allowed, second.allowed], [3, 3, 3]);
    assert_eq!([here.denied, first.denied, second.denied], [1, 0, 1]);
}

#[rate_limit(max = 2, window = "1h", store = "late", name = "late.first")]
#[rate_limit(max = 1, window = "1h", store = "late", name = "late.second")]
fn denied_twice() -> Answer {
    Ok(())
}

#[test]
fn the_error_names_the_limit_that_frees_last_wherever_that_is() {
    let store = install("late");
    denied_twice().unwrap();
    store.set_used(2);
    let limited = denied_twice().unwrap_err();
    assert_eq!((limited.name(), limited.retry_after()), ("late.first", Some(Duration::from_secs(60))));
    let denied = ["late.first", "late.second"].map(|name| handle(name).stats().denied);
    assert_eq!(denied, [1, 1]);
}
