//! Waiting in line, in real time: windows are short, and nothing is asserted that a slow machine could upset.

use std::time::{Duration, Instant};

use futures::FutureExt as _;
use ratelimit_runtime::{RateLimited, Reason, rate_limit};

use crate::{handle, stats};

#[tokio::test]
async fn a_call_over_the_limit_waits_until_the_window_has_passed() {
    #[rate_limit(max = 1, window = "50ms", wait, name = "waiting.window")]
    async fn call() -> Instant {
        Instant::now()
    }

    let times = [call().await, call().await, call().await];
    // The body's own instant is a little later than the decision's: two windows have passed between first and last.
    assert!(times[2] - times[0] > Duration::from_millis(95), "{:?}", times[2] - times[0]);
    let stats = stats("waiting.window");
    assert_eq!((stats.allowed, stats.denied, stats.waited), (3, 0, 2));
}

#[test]
fn a_sync_call_waits_by_blocking_its_thread_outside_any_runtime() {
    #[rate_limit(max = 1, window = "50ms", wait)]
    fn call() -> Instant {
        Instant::now()
    }

    let first = call();
    assert!(call() - first > Duration::from_millis(45));
}

#[test]
fn an_async_call_waits_on_an_executor_that_is_not_tokio() {
    #[rate_limit(max = 1, window = "50ms", wait)]
    async fn call() -> Instant {
        Instant::now()
    }

    let first = futures::executor::block_on(call());
    assert!(futures::executor::block_on(call()) - first > Duration::from_millis(45));
}

#[test]
fn a_wait_that_cannot_succeed_in_time_is_refused_at_its_first_poll() {
    #[rate_limit(max = 1, window = "1h", wait = "10s", name = "waiting.hopeless")]
    async fn call() -> Result<(), RateLimited> {
        Ok(())
    }

    call().now_or_never().expect("there is room").unwrap();
    let limited = call().now_or_never().expect("denied without waiting").unwrap_err();
    assert_eq!(limited.reason(), Reason::WaitTooLong);
    assert!(limited.retry_after().unwrap() > Duration::from_secs(3000));
    assert_eq!(stats("waiting.hopeless").denied, 1);
}

#[tokio::test]
async fn a_full_line_denies_the_next_at_once() {
    #[rate_limit(max = 1, window = "1h", wait = "10h", max_waiters = 2, name = "waiting.full")]
    async fn call() -> Result<(), RateLimited> {
        Ok(())
    }

    call().await.unwrap();
    let waiting = [tokio::spawn(call()), tokio::spawn(call())];
    tokio::task::yield_now().await;
    assert_eq!(call().now_or_never().unwrap().unwrap_err().reason(), Reason::QueueFull);

    handle("waiting.full").set_mode(ratelimit_runtime::Mode::Off);
    for waiter in waiting {
        waiter.await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn a_dropped_waiter_loses_no_permit_and_a_raised_limit_wakes_the_line() {
    #[rate_limit(max = 1, window = "1h", wait, name = "waiting.dropped")]
    async fn call(number: u8) -> u8 {
        number
    }

    call(0).await;
    let mut given_up = Box::pin(call(1));
    assert!(given_up.as_mut().now_or_never().is_none());
    let next = tokio::spawn(call(2));
    tokio::task::yield_now().await;
    drop(given_up);

    let limit = handle("waiting.dropped");
    limit.set_spec("2/1h".parse().unwrap()).unwrap();
    assert_eq!(next.await.unwrap(), 2, "the one permit more went to who still waits");
}

#[tokio::test]
async fn those_in_line_are_served_in_the_order_they_came() {
    #[rate_limit(max = 1, window = "1h", wait, name = "waiting.order")]
    async fn call(number: u8, served: std::sync::mpsc::Sender<u8>) {
        served.send(number).unwrap();
    }

    let (sender, served) = std::sync::mpsc::channel();
    call(0, sender.clone()).await;
    let mut line = Vec::new();
    for number in 1..=5 {
        line.push(tokio::spawn(call(number, sender.clone())));
        tokio::task::yield_now().await;
    }
    let limit = handle("waiting.order");
    for max in 2..=6 {
        limit.set_spec(format!("{max}/1h").parse().unwrap()).unwrap();
        tokio::task::yield_now().await;
    }
    for waiter in line {
        waiter.await.unwrap();
    }
    assert_eq!(served.try_iter().collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
}

#[tokio::test]
async fn any_number_may_wait_in_one_task() {
    #[rate_limit(max = 2, window = "20ms", wait)]
    async fn call(number: u32) -> u32 {
        number
    }

    let all = futures::future::join_all((0..10).map(call)).await;
    assert_eq!(all, (0..10).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_waiting_stack_waits_for_all_its_limits() {
    #[rate_limit(max = 1, window = "60ms", name = "waiting.stack", wait)]
    #[rate_limit(max = 1, window = "20ms")]
    async fn call() -> Instant {
        Instant::now()
    }

    let first = call().await;
    assert!(call().await - first > Duration::from_millis(55));
    assert_eq!(stats("waiting.stack").waited, 1);
}
