//! What a wait may take: its time, and the length of the line.

use std::time::Duration;

use ratelimit_runtime::{LimitSpec, Limiter, ManualClock, Reason};

use crate::support::{LONG, NANOSECOND, SECOND, Task, just_before, limiter, next_in, used_up};

#[test]
fn a_wait_that_is_just_long_enough_is_granted_and_one_a_nanosecond_shorter_refused_at_once() {
    let (limiter, clock) = used_up(1);
    let wait = next_in(&limiter);
    let denial = Task::new(limiter.acquire_n(1, Some(just_before(wait)))).denied();
    assert_eq!((denial.reason(), denial.retry_after()), (Reason::WaitTooLong, Some(wait)));

    let mut call = Task::waiting(limiter.acquire_n(1, Some(wait)));
    clock.advance(wait);
    call.admitted();
}

#[test]
fn those_in_line_count_against_the_bound() {
    let (limiter, _) = used_up(1);
    let bound = 2 * next_in(&limiter);
    let _first = Task::waiting(limiter.acquire());
    let _second = Task::waiting(limiter.acquire_n(1, Some(bound)));
    let denial = Task::new(limiter.acquire_n(1, Some(bound))).denied();
    assert_eq!(denial.reason(), Reason::WaitTooLong);
    assert!(denial.retry_after().unwrap() > bound);
}

#[test]
fn who_comes_again_after_the_time_that_a_refusal_gave_is_admitted() {
    let (limiter, clock) = used_up(1);
    let mut first = Task::waiting(limiter.acquire());
    let refused = Task::new(limiter.acquire_n(1, Some(NANOSECOND))).denied().retry_after().unwrap();
    let step = next_in(&limiter) / 2;
    clock.advance(step);
    first.admitted();
    clock.advance(refused.saturating_sub(step));
    assert!(!Task::new(limiter.acquire_n(1, Some(Duration::ZERO))).is_pending());
}

#[test]
fn a_bound_of_nothing_is_a_try() {
    let (limiter, _) = limiter(1);
    assert!(!Task::new(limiter.acquire_n(1, Some(Duration::ZERO))).is_pending());
    let denial = Task::new(limiter.acquire_n(1, Some(Duration::ZERO))).denied();
    assert_eq!(denial.reason(), Reason::WaitTooLong);
    assert_eq!(denial.retry_after(), limiter.try_acquire().unwrap_err().retry_after());
}

#[test]
fn a_bound_without_end_is_none() {
    let (limiter, clock) = used_up(1);
    let mut call = Task::waiting(limiter.acquire_n(1, Some(Duration::MAX)));
    clock.advance(LONG);
    call.admitted();
}

#[test]
fn a_refused_wait_leaves_no_trace() {
    let (limiter, _) = limiter(10);
    limiter.try_acquire_n(5).unwrap();
    Task::new(limiter.acquire_n(6, Some(Duration::ZERO))).denied();
    assert_eq!(limiter.used(), 5);
    limiter.try_acquire_n(5).unwrap();
}

#[test]
fn a_cost_that_can_never_be_admitted_is_refused_at_once() {
    let (limiter, _) = limiter(3);
    let _first = Task::new(limiter.acquire_n(3, None)).poll();
    let _in_line = Task::waiting(limiter.acquire());
    for bound in [None, Some(LONG)] {
        let denial = Task::new(limiter.acquire_n(4, bound)).denied();
        assert_eq!((denial.reason(), denial.retry_after()), (Reason::CostExceedsCapacity, None));
    }
}

#[test]
fn a_limit_of_nothing_refuses_at_once() {
    let limiter = Limiter::with_clock(LimitSpec::new(0, SECOND), ManualClock::new()).unwrap();
    assert_eq!(Task::new(limiter.acquire()).denied().reason(), Reason::CostExceedsCapacity);
}

#[test]
fn a_full_line_takes_no_more_and_says_when_there_will_be_room() {
    let (limiter, clock) = used_up(1);
    let limiter = limiter.with_max_waiters(2);
    let mut first = Task::waiting(limiter.acquire());
    let second = Task::waiting(limiter.acquire());
    let denial = Task::new(limiter.acquire()).denied();
    assert_eq!(denial.reason(), Reason::QueueFull);
    assert_eq!(denial.retry_after(), Some(next_in(&limiter)));

    drop(second);
    let mut third = Task::waiting(limiter.acquire());
    clock.advance(LONG);
    first.admitted();
    clock.advance(LONG);
    third.admitted();
}

#[test]
fn a_line_takes_1024_unless_said_otherwise() {
    let (limiter, _) = used_up(1);
    let _line: Vec<_> = (0..1024).map(|_| Task::waiting(limiter.acquire())).collect();
    assert_eq!(Task::new(limiter.acquire()).denied().reason(), Reason::QueueFull);
}

#[test]
fn a_line_of_no_length_refuses_who_would_have_to_wait() {
    let (limiter, _) = limiter(1);
    let limiter = limiter.with_max_waiters(0);
    assert!(!Task::new(limiter.acquire()).is_pending());
    assert_eq!(Task::new(limiter.acquire()).denied().reason(), Reason::QueueFull);
}

#[test]
fn a_promise_that_a_late_clock_breaks_ends_with_a_denial_and_not_with_a_longer_wait() {
    let (limiter, clock) = used_up(1);
    let mut first = Task::waiting(limiter.acquire());
    let bound = next_in(&limiter);
    let mut second = Task::waiting(limiter.acquire_n(1, Some(bound)));
    // Nothing ran until shortly before the second one's turn, so the first one's charge is that late.
    clock.advance(just_before(bound));
    first.admitted();
    assert!(second.is_pending());
    clock.advance(NANOSECOND);
    let denial = second.denied();
    assert_eq!(denial.reason(), Reason::WaitTooLong);
    clock.advance(denial.retry_after().unwrap());
    limiter.try_acquire().unwrap();
}
