//! A line for every key.

use ratelimit_runtime::{KeyedLimiter, ManualClock, Reason};

use crate::support::{LONG, Task, spec};

fn limiter(max: u32) -> (KeyedLimiter, ManualClock) {
    let clock = ManualClock::new();
    (KeyedLimiter::with_clock(spec(max), clock.clone()).unwrap(), clock)
}

#[test]
fn a_line_holds_up_its_own_key_only() {
    let (limiter, clock) = limiter(1);
    limiter.try_acquire("a").unwrap();
    let mut waits = Task::waiting(limiter.acquire("a"));
    limiter.try_acquire("b").unwrap();
    clock.advance(LONG);
    waits.admitted();
}

#[test]
fn the_call_decides_at_the_first_poll_and_not_before() {
    let (limiter, _) = limiter(1);
    let call = limiter.acquire("a");
    limiter.try_acquire("a").unwrap();
    assert!(Task::new(call).is_pending());
}

#[test]
fn the_longest_line_is_counted_for_each_key() {
    let (limiter, _) = limiter(1);
    let limiter = limiter.with_max_waiters(1);
    for key in 0..3 {
        limiter.try_acquire(&key).unwrap();
    }
    let _lines: Vec<_> = (0..3).map(|key| Task::waiting(limiter.acquire(&key))).collect();
    assert_eq!(Task::new(limiter.acquire(&0)).denied().reason(), Reason::QueueFull);
}

#[test]
fn a_reset_of_one_key_lets_in_who_waits_for_it() {
    let (limiter, _) = limiter(1);
    limiter.try_acquire("a").unwrap();
    limiter.try_acquire("b").unwrap();
    let mut a = Task::waiting(limiter.acquire("a"));
    let mut b = Task::waiting(limiter.acquire("b"));
    limiter.reset_key("a");
    a.admitted();
    assert!(b.is_pending());
    limiter.reset();
    b.admitted();
}

#[test]
fn a_key_that_somebody_waits_for_is_not_let_go_of() {
    let (limiter, clock) = limiter(2);
    let limiter = limiter.with_max_keys(1);
    limiter.try_acquire("a").unwrap();
    let mut waits = Task::waiting(limiter.acquire_n("a", 2, None));
    clock.advance(LONG);
    assert_eq!(limiter.tracked_keys(), 1);
    waits.admitted();
    clock.advance(LONG);
    assert_eq!(limiter.tracked_keys(), 0);
}

#[test]
fn a_refused_wait_leaves_no_key_behind() {
    let (limiter, _) = limiter(2);
    Task::new(limiter.acquire_n("a", 3, None)).denied();
    assert_eq!(limiter.tracked_keys(), 0);
}

#[test]
fn keys_that_share_a_budget_stand_in_one_line() {
    let (limiter, clock) = limiter(1);
    let limiter = limiter.with_max_keys(0);
    limiter.try_acquire("a").unwrap();
    let mut first = Task::waiting(limiter.acquire("a"));
    assert_eq!(limiter.try_acquire("a").unwrap_err().reason(), Reason::Exceeded);
    let mut second = Task::waiting(limiter.acquire("a"));
    clock.advance(LONG);
    first.admitted();
    assert!(second.is_pending());
    limiter.reset_key("a");
    second.admitted();
}

#[test]
fn a_future_borrows_no_key() {
    let (limiter, _) = limiter(1);
    let call = {
        let key = String::from("a");
        limiter.acquire(&key)
    };
    assert!(!Task::new(call).is_pending());
}
