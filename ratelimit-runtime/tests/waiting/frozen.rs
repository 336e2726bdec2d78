//! A call in line whose task is not polled: `join!`, `select!`, a task that does something else. It holds up nobody.

use std::{pin::pin, task::Poll};

use crate::support::{IN_USE, LONG, NANOSECOND, SECOND, Task, just_before, limiter, next_in, used_up};

#[test]
fn the_next_is_served_as_early_as_if_the_first_were_polled() {
    let (limiter, clock) = used_up(1);
    assert_eq!(next_in(&limiter), IN_USE);
    let frozen = Task::waiting(limiter.acquire());
    let mut next = Task::waiting(limiter.acquire_n(1, Some(2 * IN_USE)));
    clock.advance(IN_USE);
    assert_eq!((frozen.wakes(), limiter.used()), (1, 1), "it has been served");
    clock.advance(IN_USE);
    next.admitted();
}

#[test]
fn any_number_of_them_hold_up_nobody() {
    let (limiter, clock) = used_up(1);
    let _frozen: Vec<_> = (0..9).map(|_| Task::waiting(limiter.acquire())).collect();
    let mut last = Task::waiting(limiter.acquire_n(1, Some(10 * IN_USE)));
    for _ in 0..10 {
        assert!(last.is_pending());
        clock.advance(IN_USE);
    }
    last.admitted();
}

#[test]
fn one_whose_turn_comes_nearer_is_served_in_time_all_the_same() {
    let (limiter, clock) = limiter(2);
    limiter.try_acquire().unwrap();
    clock.advance(SECOND / 2);
    let later = limiter.try_acquire().unwrap();
    let _frozen = Task::waiting(limiter.acquire_n(2, None));
    let mut next = Task::waiting(limiter.acquire());
    later.refund();
    clock.advance(SECOND / 2 + SECOND / 20);
    assert_eq!(limiter.used(), 2);
    clock.advance(SECOND + SECOND / 20);
    next.admitted();
}

#[test]
fn one_that_waited_too_long_is_given_nothing() {
    let (limiter, clock) = used_up(1);
    let bound = next_in(&limiter);
    let mut first = Task::waiting(limiter.acquire());
    let mut frozen = Task::waiting(limiter.acquire_n(1, Some(2 * bound)));
    clock.advance(just_before(2 * bound));
    first.admitted();
    clock.advance(NANOSECOND);
    clock.advance(LONG);
    frozen.denied();
    assert_eq!(limiter.used(), 0);
}

#[test]
fn those_who_do_not_wait_are_not_held_up_either() {
    let (limiter, clock) = used_up(1);
    let _frozen = Task::waiting(limiter.acquire());
    clock.advance(IN_USE);
    clock.advance(IN_USE);
    limiter.try_acquire().unwrap();
}

#[test]
fn one_task_can_wait_behind_itself() {
    let (limiter, clock) = used_up(1);
    let mut task = Task::new(async {
        let mut first = pin!(limiter.acquire());
        std::future::poll_fn(|context| {
            assert!(first.as_mut().poll(context).is_pending());
            Poll::Ready(())
        })
        .await;
        // The first one is alive, and not polled while this one waits behind it.
        limiter.acquire().await.is_ok()
    });
    assert!(task.is_pending());
    clock.advance(IN_USE);
    assert!(task.is_pending());
    clock.advance(IN_USE);
    assert_eq!(task.poll(), Poll::Ready(true));
}

#[test]
fn one_that_is_forgotten_holds_up_nobody() {
    let (limiter, clock) = used_up(1);
    std::mem::forget(Task::waiting(limiter.acquire()));
    let mut next = Task::waiting(limiter.acquire());
    clock.advance(IN_USE);
    clock.advance(IN_USE);
    next.admitted();
}
