//! A service's own tests of its limits: `test_util::isolate`, and tokio's paused clock.

use std::{thread, time::Duration};

use ratelimit_runtime::{
    LazyLimiter, RateLimited, limit, limiter, rate_limit,
    test_util::{Isolation, isolate},
};

const MINUTE: Duration = Duration::from_secs(60);
const SECOND: Duration = Duration::from_secs(1);

#[rate_limit(max = 2, window = "1m", buckets = 60, name = "report")]
fn report() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(key = "user", max = 1, window = "1m", buckets = 60)]
fn profile(user: u32) -> Result<u32, RateLimited> {
    Ok(user)
}

#[rate_limit(max = 1, window = "1m", buckets = 60, wait)]
async fn send() {}

static SHARED: LazyLimiter = limiter!(max = 1, window = "1m", buckets = 60);

fn exhaust() -> Isolation {
    let time = isolate();
    report().unwrap();
    report().unwrap();
    report().unwrap_err();
    time
}

#[test]
fn a_limit_is_exhausted_and_recovers_without_sleeping() {
    let time = exhaust();
    time.advance(MINUTE + SECOND);
    report().unwrap();
}

#[test]
fn a_test_begins_with_fresh_budgets_whatever_others_have_used() {
    for _ in 0..3 {
        let time = exhaust();
        profile(1).unwrap();
        profile(1).unwrap_err();
        SHARED.try_acquire().unwrap();
        SHARED.try_acquire().unwrap_err();
        drop(time);
    }
}

#[test]
fn tests_beside_it_are_not_touched() {
    let _time = exhaust();
    thread::spawn(|| {
        let _time = exhaust();
    })
    .join()
    .unwrap();
    report().unwrap_err();
}

#[test]
fn a_handle_takes_the_isolation_along_to_another_thread() {
    let time = exhaust();
    let handle = time.handle();
    let elsewhere = thread::spawn(move || {
        let time = handle.enter();
        let denied = report().is_err();
        time.advance(MINUTE + SECOND);
        denied
    });
    assert!(elsewhere.join().unwrap());
    report().unwrap();
}

#[test]
fn a_runtime_of_many_threads_is_isolated_where_its_threads_begin() {
    let time = exhaust();
    let handle = time.handle();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .on_thread_start(move || std::mem::forget(handle.clone().enter()))
        .build()
        .unwrap();
    let denied = || runtime.block_on(async { tokio::spawn(async { report().is_err() }).await.unwrap() });
    assert!(denied());
    time.advance(MINUTE + SECOND);
    assert!(!denied());
}

#[test]
fn an_isolation_within_another_ends_with_its_own_value() {
    let _outer = exhaust();
    let inner = isolate();
    report().unwrap();
    drop(inner);
    report().unwrap_err();
}

#[test]
fn an_isolation_that_takes_the_place_of_another_goes_on_when_that_ends() {
    let mut time = exhaust();
    report().unwrap_err();
    time = {
        let next = isolate();
        drop(time);
        next
    };
    report().unwrap();
    report().unwrap();
    report().unwrap_err();
    time.advance(MINUTE + SECOND);
    report().unwrap();
}

#[test]
fn handles_show_the_isolated_limits() {
    let _time = exhaust();
    let stats = limit("report").unwrap().stats();
    assert_eq!((stats.allowed, stats.denied), (2, 1));
}

#[tokio::test]
async fn tasks_polled_on_the_thread_wait_by_the_isolated_clock() {
    let time = isolate();
    send().await;
    let second = tokio::spawn(send());
    tokio::task::yield_now().await;
    time.advance(MINUTE);
    tokio::task::yield_now().await;
    assert!(!second.is_finished(), "a charge counts for a window at least");
    time.advance(SECOND);
    second.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_isolated_wait_follows_the_paused_clock_of_tokio() {
    let _time = isolate();
    let start = tokio::time::Instant::now();
    for _ in 0..10 {
        send().await;
    }
    let took = start.elapsed();
    assert!(9 * MINUTE <= took && took <= 9 * (MINUTE + SECOND), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn a_wait_follows_the_paused_clock_of_tokio() {
    #[rate_limit(max = 1, window = "1h", wait)]
    async fn hourly() {}

    let start = tokio::time::Instant::now();
    hourly().await;
    hourly().await;
    assert!(start.elapsed() >= Duration::from_secs(3600));
}

#[tokio::test(start_paused = true)]
async fn a_limit_recovers_while_the_paused_clock_sleeps() {
    let _time = exhaust();
    tokio::time::sleep(MINUTE + SECOND).await;
    report().unwrap();
}
