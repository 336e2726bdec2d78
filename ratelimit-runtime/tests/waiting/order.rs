//! First come, first served.

use std::{
    future::Future,
    sync::Arc,
    task::{Context, Waker},
    time::Duration,
};

use ratelimit_runtime::{Clock, Limiter, ManualClock};

use crate::support::{Count, IN_USE, LONG, NANOSECOND, Task, just_before, limiter, next_in, spec, used_up};

#[test]
fn a_call_with_room_does_not_wait() {
    let (limiter, _) = limiter(1);
    let mut call = Task::new(limiter.acquire());
    assert!(!call.is_pending());
    assert_eq!(call.wakes(), 0);
}

#[test]
fn nothing_happens_before_the_first_poll() {
    let (limiter, _) = limiter(1);
    let call = limiter.acquire();
    assert_eq!(limiter.used(), 0);
    limiter.try_acquire().unwrap();
    drop(call);
}

#[test]
fn waits_until_exactly_the_instant_that_a_denial_promises() {
    let (limiter, clock) = used_up(1);
    let wait = next_in(&limiter);
    let mut call = Task::waiting(limiter.acquire());
    clock.advance(just_before(wait));
    assert_eq!(call.wakes(), 0);
    assert!(call.is_pending());
    clock.advance(NANOSECOND);
    call.admitted();
}

#[test]
fn who_came_first_is_served_first() {
    let (limiter, clock) = used_up(1);
    let mut first = Task::waiting(limiter.acquire());
    let mut second = Task::waiting(limiter.acquire());
    clock.advance(LONG);
    assert!(second.is_pending());
    first.admitted();
    clock.advance(LONG);
    second.admitted();
}

#[test]
fn as_many_are_served_at_once_as_there_is_room_for() {
    let (limiter, clock) = used_up(3);
    let mut calls: Vec<_> = (0..5).map(|_| Task::waiting(limiter.acquire())).collect();
    clock.advance(LONG);
    for call in &mut calls[..3] {
        call.admitted();
    }
    assert!(calls[3..].iter_mut().all(Task::is_pending));
    clock.advance(LONG);
    for call in &mut calls[3..] {
        call.admitted();
    }
}

#[test]
fn a_small_cost_does_not_overtake_a_large_one() {
    let (limiter, clock) = limiter(10);
    limiter.try_acquire_n(5).unwrap();
    let mut large = Task::waiting(limiter.acquire_n(10, None));
    let mut small = Task::waiting(limiter.acquire_n(1, None));
    assert_eq!(limiter.remaining(), 5);
    clock.advance(LONG);
    large.admitted();
    assert!(small.is_pending());
    clock.advance(LONG);
    small.admitted();
}

#[test]
fn who_does_not_wait_does_not_overtake_those_who_do() {
    let (limiter, clock) = limiter(10);
    limiter.try_acquire_n(5).unwrap();
    let mut large = Task::waiting(limiter.acquire_n(10, None));
    let denial = limiter.try_acquire().unwrap_err();
    assert_eq!(denial.remaining(), 5);

    let behind = denial.retry_after().unwrap();
    let first = limiter.try_acquire_n(10).unwrap_err().retry_after().unwrap();
    assert_eq!(behind, first, "behind the large one");
    assert!(large.is_pending());
    clock.advance(LONG);
    large.admitted();
}

#[test]
fn a_retry_after_behind_the_line_holds() {
    let (limiter, clock) = used_up(1);
    let mut calls: Vec<_> = (0..3).map(|_| Task::waiting(limiter.acquire())).collect();
    let mut left = next_in(&limiter);
    for call in &mut calls {
        clock.advance(IN_USE);
        left -= IN_USE;
        call.admitted();
    }
    assert_eq!(next_in(&limiter), left);
    clock.advance(just_before(left));
    assert!(limiter.try_acquire().is_err());
    clock.advance(NANOSECOND);
    limiter.try_acquire().unwrap();
}

#[test]
fn a_cost_of_0_passes_the_line() {
    let (limiter, _) = used_up(1);
    let mut call = Task::waiting(limiter.acquire());
    assert_eq!(limiter.try_acquire_n(0).unwrap().remaining(), 0);
    assert!(!Task::new(limiter.acquire_n(0, None)).is_pending());
    assert!(call.is_pending());
}

#[test]
fn a_poll_too_early_changes_nothing() {
    let (limiter, clock) = used_up(1);
    let mut first = Task::waiting(limiter.acquire());
    let mut second = Task::waiting(limiter.acquire());
    for _ in 0..100 {
        assert!(second.is_pending() && first.is_pending());
    }
    assert_eq!(first.wakes() + second.wakes(), 0, "nobody is woken for nothing");
    clock.advance(LONG);
    assert!(second.is_pending());
    first.admitted();
}

#[test]
fn a_permit_granted_late_counts_from_then() {
    let (limiter, clock) = used_up(1);
    let mut call = Task::waiting(limiter.acquire());
    clock.advance(LONG);
    call.admitted();
    clock.advance(just_before(limiter.spec().window()));
    assert!(limiter.try_acquire().is_err());
}

#[test]
fn a_clock_that_steps_back_delays_and_no_more() {
    let (limiter, clock) = limiter(1);
    clock.set(LONG);
    limiter.try_acquire().unwrap();
    let mut call = Task::waiting(limiter.acquire());
    clock.set(NANOSECOND);
    assert!(call.is_pending());
    clock.set(LONG);
    assert!(call.is_pending());
    clock.set(LONG + LONG);
    call.admitted();
}

#[test]
fn the_waker_of_the_last_poll_is_the_one_that_is_called() {
    let (limiter, clock) = used_up(1);
    let mut call = Box::pin(limiter.acquire());
    let before = Arc::new(Count::default());
    assert!(call.as_mut().poll(&mut Context::from_waker(&before.clone().into())).is_pending());
    let last = Arc::new(Count::default());
    assert!(call.as_mut().poll(&mut Context::from_waker(&last.clone().into())).is_pending());
    clock.advance(LONG);
    assert_eq!((before.get(), last.get()), (0, 1));
}

/// A clock that says it wakes, and does not.
struct Silent(ManualClock);

impl Clock for Silent {
    fn now(&self) -> Duration {
        self.0.now()
    }

    fn wake_at(&self, _: Duration, _: &Waker) -> bool {
        true
    }
}

#[test]
fn who_stands_behind_one_that_it_lets_in_is_not_overtaken() {
    let clock = ManualClock::new();
    let limiter = Limiter::with_clock(spec(1), Silent(clock.clone())).unwrap();
    limiter.try_acquire().unwrap();
    let mut first = Task::waiting(limiter.acquire());
    clock.advance(LONG);
    // It finds the first one ready, and so ends the line in which it was going to stand.
    let mut second = Task::waiting(limiter.acquire());
    first.admitted();
    clock.advance(LONG);
    assert!(limiter.try_acquire().is_err());
    second.admitted();
}
