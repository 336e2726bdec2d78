//! A refund, a reset, another limit: the line is decided anew at once.

use std::time::Duration;

use ratelimit_runtime::{LimitSpec, Reason};

use crate::support::{LONG, SECOND, Task, limiter, next_in, spec, used_up};

#[test]
fn a_refund_lets_the_first_in_line_in_at_once() {
    let (limiter, _) = limiter(1);
    let permit = limiter.try_acquire().unwrap();
    let mut first = Task::waiting(limiter.acquire());
    let mut second = Task::waiting(limiter.acquire());
    permit.refund();
    let permit = first.admitted();
    assert!(second.is_pending());
    permit.refund();
    second.admitted();
}

#[test]
fn a_refund_that_is_not_enough_brings_the_turn_nearer() {
    let (limiter, clock) = limiter(2);
    limiter.try_acquire().unwrap();
    clock.advance(SECOND / 2);
    let later = limiter.try_acquire().unwrap();
    let mut both = Task::waiting(limiter.acquire_n(2, None));
    later.refund();
    clock.advance(SECOND / 2 + SECOND / 20);
    both.admitted();
}

#[test]
fn a_reset_lets_in_as_many_as_there_is_room_for() {
    let (limiter, _) = used_up(2);
    let mut calls: Vec<_> = (0..3).map(|_| Task::waiting(limiter.acquire())).collect();
    limiter.reset();
    calls[0].admitted();
    calls[1].admitted();
    assert!(calls[2].is_pending());
}

#[test]
fn a_higher_max_lets_in_as_many_as_there_is_room_for() {
    let (limiter, _) = used_up(1);
    let mut calls: Vec<_> = (0..3).map(|_| Task::waiting(limiter.acquire())).collect();
    limiter.set_spec(spec(3)).unwrap();
    calls[0].admitted();
    calls[1].admitted();
    assert!(calls[2].is_pending());
}

#[test]
fn a_lower_max_refuses_at_once_what_it_can_never_hold() {
    let (limiter, clock) = used_up(5);
    let mut small = Task::waiting(limiter.acquire_n(1, None));
    let mut large = Task::waiting(limiter.acquire_n(4, None));
    let mut last = Task::waiting(limiter.acquire_n(2, None));
    limiter.set_spec(spec(3)).unwrap();
    assert_eq!(large.wakes(), 1);
    assert_eq!(large.denied().reason(), Reason::CostExceedsCapacity);
    clock.advance(LONG);
    small.admitted();
    last.admitted();
}

#[test]
fn a_lower_max_refuses_at_once_who_would_wait_too_long_then() {
    let (limiter, _) = used_up(3);
    let bound = Some(next_in(&limiter));
    let mut first = Task::waiting(limiter.acquire_n(1, bound));
    let mut second = Task::waiting(limiter.acquire_n(1, bound));
    limiter.set_spec(spec(1)).unwrap();
    assert!(first.is_pending());
    assert_eq!(second.wakes(), 1);
    let denial = second.denied();
    assert_eq!(denial.reason(), Reason::WaitTooLong);
    assert_eq!(denial.limit().max(), 1);
    assert_eq!(denial.retry_after(), Some(next_in(&limiter)));
}

#[test]
fn a_limit_of_nothing_turns_everybody_away() {
    let (limiter, _) = used_up(1);
    let mut calls: Vec<_> = (0..3).map(|_| Task::waiting(limiter.acquire())).collect();
    limiter.set_spec(spec(0)).unwrap();
    for call in &mut calls {
        assert_eq!(call.denied().reason(), Reason::CostExceedsCapacity);
    }
}

#[test]
fn a_shorter_window_brings_the_turn_nearer() {
    let (limiter, clock) = used_up(1);
    let mut call = Task::waiting(limiter.acquire());
    limiter.set_spec(LimitSpec::new(1, Duration::from_millis(10))).unwrap();
    clock.advance(Duration::from_millis(100));
    call.admitted();
}

#[test]
fn a_longer_window_puts_the_turn_off() {
    let (limiter, clock) = used_up(1);
    let mut call = Task::waiting(limiter.acquire());
    limiter.set_spec(LimitSpec::new(1, 10 * SECOND)).unwrap();
    clock.advance(LONG);
    assert!(call.is_pending());
    clock.advance(10 * SECOND);
    call.admitted();
}
