//! Dropping a call that waits, at any point.

use crate::support::{LONG, Task, limiter, next_in, used_up};

#[test]
fn a_future_that_was_never_polled_took_nothing() {
    let (limiter, _) = limiter(1);
    drop(Task::new(limiter.acquire()));
    limiter.try_acquire().unwrap();
}

#[test]
fn who_leaves_the_line_lets_the_next_one_come_sooner() {
    let (limiter, clock) = used_up(1);
    let first = Task::waiting(limiter.acquire());
    let wait = limiter.spec().window() + limiter.spec().window() / 20;
    let mut second = Task::waiting(limiter.acquire());
    drop(first);
    clock.advance(wait);
    second.admitted();
}

#[test]
fn a_large_cost_that_leaves_lets_the_small_one_in_at_once() {
    let (limiter, _) = limiter(10);
    limiter.try_acquire_n(5).unwrap();
    let large = Task::waiting(limiter.acquire_n(10, None));
    let mut small = Task::waiting(limiter.acquire_n(1, None));
    drop(large);
    small.admitted();
    limiter.try_acquire_n(4).unwrap();
}

#[test]
fn the_last_to_leave_opens_the_budget_to_all() {
    let (limiter, _) = limiter(10);
    limiter.try_acquire_n(5).unwrap();
    let large = Task::waiting(limiter.acquire_n(10, None));
    assert!(limiter.try_acquire().is_err());
    drop(large);
    limiter.try_acquire().unwrap();
}

#[test]
fn a_permit_that_was_granted_and_not_taken_goes_to_the_next() {
    let (limiter, clock) = used_up(1);
    let first = Task::waiting(limiter.acquire());
    let mut second = Task::waiting(limiter.acquire());
    clock.advance(LONG);
    assert_eq!((first.wakes(), limiter.used()), (1, 1));
    drop(first);
    second.admitted();
    assert_eq!(limiter.used(), 1);
}

#[test]
fn a_permit_that_was_granted_and_not_taken_goes_back() {
    let (limiter, clock) = used_up(1);
    let call = Task::waiting(limiter.acquire());
    clock.advance(LONG);
    assert_eq!(limiter.used(), 1);
    drop(call);
    assert_eq!(limiter.used(), 0);
    limiter.try_acquire().unwrap();
}

#[test]
fn one_granted_long_ago_gives_nothing_back() {
    let (limiter, clock) = used_up(1);
    let call = Task::waiting(limiter.acquire());
    clock.advance(LONG);
    clock.advance(LONG);
    limiter.try_acquire().unwrap();
    drop(call);
    assert_eq!(limiter.used(), 1);
}

#[test]
fn leaving_from_the_middle_keeps_the_order_of_the_others() {
    let (limiter, clock) = used_up(1);
    let mut calls: Vec<_> = (0..5).map(|_| Task::waiting(limiter.acquire())).collect();
    drop(calls.remove(2));
    drop(calls.remove(0));
    for served in 0..calls.len() {
        clock.advance(LONG);
        calls[served].admitted();
        assert!(calls[served + 1..].iter_mut().all(Task::is_pending));
    }
}

#[test]
fn who_leaves_makes_room_for_a_bounded_wait() {
    let (limiter, _) = used_up(1);
    let bound = next_in(&limiter);
    let first = Task::waiting(limiter.acquire_n(1, Some(bound)));
    Task::new(limiter.acquire_n(1, Some(bound))).denied();
    drop(first);
    Task::waiting(limiter.acquire_n(1, Some(bound)));
}
