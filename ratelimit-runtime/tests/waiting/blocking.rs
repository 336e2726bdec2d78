//! Waiting in sync code: in real time, and by no other thread.

use std::{
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use ratelimit_runtime::{KeyedLimiter, LimitSpec, Limiter, Reason};

use crate::support::{LONG, Task, used_up};

const WINDOW: Duration = Duration::from_millis(50);

fn real() -> Limiter {
    Limiter::new(LimitSpec::new(1, WINDOW)).unwrap()
}

#[test]
fn blocks_until_its_turn_in_real_time() {
    let limiter = real();
    let started = Instant::now();
    for _ in 0..3 {
        limiter.acquire_blocking(1, None).unwrap();
    }
    assert!(started.elapsed() >= 2 * WINDOW);
}

#[test]
fn refuses_at_once_what_would_take_too_long() {
    let limiter = Limiter::new(LimitSpec::new(1, Duration::from_secs(3600))).unwrap();
    limiter.try_acquire().unwrap();
    let started = Instant::now();
    let denial = limiter.acquire_blocking(1, Some(Duration::from_secs(3000))).unwrap_err();
    assert_eq!(denial.reason(), Reason::WaitTooLong);
    assert!(started.elapsed() < Duration::from_secs(60));
}

#[test]
fn a_key_blocks_for_itself() {
    let limiter = KeyedLimiter::new(LimitSpec::new(1, WINDOW)).unwrap();
    let started = Instant::now();
    limiter.acquire_blocking("a", 1, None).unwrap();
    limiter.acquire_blocking("b", 1, None).unwrap();
    limiter.acquire_blocking("a", 1, Some(2 * WINDOW)).unwrap();
    assert!(started.elapsed() >= WINDOW);
}

#[test]
fn sync_and_async_callers_stand_in_one_line() {
    let (limiter, clock) = used_up(1);
    let limiter = Arc::new(limiter);
    let mut before = Task::waiting(limiter.acquire());
    let behind = limiter.try_acquire().unwrap_err().retry_after();
    let blocked = thread::spawn({
        let limiter = limiter.clone();
        move || limiter.acquire_blocking(1, None).map(drop)
    });
    while limiter.try_acquire().unwrap_err().retry_after() == behind {
        thread::yield_now();
    }
    let mut after = Task::waiting(limiter.acquire());
    clock.advance(LONG);
    before.admitted();
    assert!(after.is_pending());
    clock.advance(LONG);
    blocked.join().unwrap().unwrap();
    clock.advance(LONG);
    after.admitted();
}

#[test]
fn a_reset_lets_a_blocked_thread_in() {
    let limiter = Arc::new(Limiter::new(LimitSpec::new(1, Duration::from_secs(3600))).unwrap());
    limiter.try_acquire().unwrap();
    let blocked = thread::spawn({
        let limiter = limiter.clone();
        move || limiter.acquire_blocking(1, None).map(drop)
    });
    while !blocked.is_finished() {
        limiter.reset();
        thread::yield_now();
    }
    blocked.join().unwrap().unwrap();
}

#[test]
fn unparking_a_blocked_thread_for_another_reason_lets_nobody_in() {
    let (limiter, clock) = used_up(1);
    let limiter = Arc::new(limiter);
    let blocked = thread::spawn({
        let limiter = limiter.clone();
        move || limiter.acquire_blocking(1, None).map(drop)
    });
    for _ in 0..1000 {
        blocked.thread().unpark();
        assert!(!blocked.is_finished());
    }
    while !blocked.is_finished() {
        clock.advance(LONG);
        thread::yield_now();
    }
    blocked.join().unwrap().unwrap();
}
