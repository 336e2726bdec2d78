//! Waiting for a budget in a store: first come, first served within the process.

use super::*;

use std::{
    sync::{Arc, Mutex},
    time::Instant,
};

#[rate_limit(max = 1, window = "100ms", store = "lines", name = "lines.limit", wait = "10s", max_waiters = 3)]
async fn waits() -> Answer {
    Ok(())
}

#[rate_limit(max = 1, window = "1h", store = "lines", name = "lines.sync", wait)]
fn blocks() -> Answer {
    Ok(())
}

#[rate_limit(max = 2, window = "10s", store = "rounds", name = "rounds.limit", wait = "15s")]
async fn waits_for_rounds() -> Answer {
    Ok(())
}

#[rate_limit(
    max = 2,
    window = "10s",
    store = "rounds",
    name = "rounds.flow",
    wait = "15s",
    algorithm = "gcra"
)]
async fn waits_for_a_flow() -> Answer {
    Ok(())
}

async fn until(holds: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(5);
    while !holds() {
        assert!(Instant::now() < end, "it does not come to that");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test]
async fn those_in_line_are_served_in_the_order_they_came_and_the_first_asks_again_when_told() {
    let store = install("lines");
    let limit = handle("lines.limit");
    store.set_wait(Duration::from_millis(20));
    waits().await.unwrap();
    let order = Arc::new(Mutex::new(Vec::new()));
    let mut calls = Vec::new();
    for number in 0..3 {
        let order = Arc::clone(&order);
        calls.push(tokio::spawn(async move {
            let answer = waits().await;
            order.lock().unwrap().push(number);
            answer
        }));
        until(|| limit.stats().waited == number + 1).await;
    }
    // The line is full, and nobody passes it.
    assert_eq!(waits().await.unwrap_err().reason(), Reason::QueueFull);
    for served in 1..=3 {
        store.set_used(0);
        until(|| order.lock().unwrap().len() == served).await;
    }
    assert_eq!(*order.lock().unwrap(), [0, 1, 2]);
    for call in calls {
        call.await.unwrap().unwrap();
    }
    let stats = limit.stats();
    assert_eq!((stats.allowed, stats.denied, stats.waited), (4, 1, 3));

    // Too late is refused at once.
    store.set_wait(Duration::from_secs(11));
    let began = Instant::now();
    let limited = waits().await.unwrap_err();
    assert_eq!(
        (limited.reason(), limited.retry_after()),
        (Reason::WaitTooLong, Some(Duration::from_secs(11)))
    );
    assert!(began.elapsed() < Duration::from_secs(5));

    // A refund, and a change, ask again at once; who leaves loses nothing.
    store.set_wait(Duration::from_secs(9));
    let first = tokio::spawn(waits());
    until(|| limit.stats().waited == 4).await;
    let second = tokio::spawn(waits());
    until(|| limit.stats().waited == 5).await;
    first.abort();
    limit.reset();
    second.await.unwrap().unwrap();
    assert_eq!(store.used(), 1);
    let waiter = tokio::spawn(waits());
    until(|| limit.stats().waited == 6).await;
    limit.set_spec("2/1h".parse().unwrap()).unwrap();
    waiter.await.unwrap().unwrap();
    let waiter = tokio::spawn(waits());
    until(|| limit.stats().waited == 7).await;
    limit.set_mode(Mode::Off);
    waiter.await.unwrap().unwrap();

    // A sync function blocks its thread, and a failure goes by its policy.
    store.set_wait(Duration::from_millis(20));
    blocks().unwrap();
    let blocked = std::thread::spawn(blocks);
    until(|| handle("lines.sync").stats().waited == 1).await;
    store.set_used(0);
    blocked.join().unwrap().unwrap();
    store.fail(OnFailure::Closed, 1.0);
    assert_eq!(blocks().unwrap_err().reason(), Reason::StoreUnavailable);
}

#[tokio::test]
async fn who_stands_behind_more_than_a_budget_is_refused_at_once_if_that_takes_too_long() {
    install("rounds").set_wait(Duration::from_secs(1));
    // Two are admitted a second from now, and two a window after those.
    the_fifth_in_line_is_refused("rounds.limit", waits_for_rounds, Duration::from_secs(21)).await;
    // What flows comes one by one.
    the_fifth_in_line_is_refused("rounds.flow", waits_for_a_flow, Duration::from_secs(16)).await;
}

async fn the_fifth_in_line_is_refused<F>(limit: &str, call: fn() -> F, retry_after: Duration)
where
    F: Future<Output = Answer> + Send + 'static,
{
    let limit = handle(limit);
    for _ in 0..2 {
        call().await.unwrap();
    }
    let in_line: Vec<_> = (0..4).map(|_| tokio::spawn(call())).collect();
    until(|| limit.stats().waited == 4).await;
    let limited = call().await.unwrap_err();
    assert_eq!((limited.reason(), limited.retry_after()), (Reason::WaitTooLong, Some(retry_after)));
    assert_eq!(limit.stats().denied, 1);
    in_line.iter().for_each(tokio::task::JoinHandle::abort);
}
