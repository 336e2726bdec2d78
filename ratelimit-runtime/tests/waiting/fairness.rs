//! Many who wait.

use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use ratelimit_runtime::{KeyedLimiter, Limiter, ManualClock};

use crate::support::{LONG, SECOND, Task, spec, used_up};

/// Far more than these take, and far less than they would take if their cost grew by the square.
const QUICK: Duration = Duration::from_secs(20);

#[test]
fn a_hundred_are_served_in_order() {
    let (limiter, clock) = used_up(3);
    let mut line: Vec<_> = (0..100).map(|_| Task::waiting(limiter.acquire())).collect();
    let mut served = 0;
    while served < line.len() {
        clock.advance(SECOND / 10);
        while served < line.len() && line[served].wakes() > 0 {
            line[served].admitted();
            served += 1;
        }
        assert!(line[served..].iter().all(|call| call.wakes() == 0), "who is not next is not woken");
    }
}

#[test]
fn a_large_cost_is_served_among_many_small_ones() {
    let (limiter, clock) = used_up(10);
    let mut loopers: Vec<_> = (0..8).map(|_| Task::waiting(limiter.acquire())).collect();
    let mut large = Task::waiting(limiter.acquire_n(10, None));
    for round in 0.. {
        assert!(round < 100, "starved");
        clock.advance(SECOND / 20);
        for looper in &mut loopers {
            if !looper.is_pending() {
                *looper = Task::new(limiter.acquire());
                _ = looper.is_pending();
            }
        }
        if !large.is_pending() {
            break;
        }
    }
}

#[test]
fn tens_of_thousands_wait_for_as_many_keys() {
    let started = Instant::now();
    let clock = ManualClock::new();
    let limiter = KeyedLimiter::with_clock(spec(1), clock.clone()).unwrap();
    let keys = 0..30_000;
    keys.clone().for_each(|key| _ = limiter.try_acquire(&key).unwrap());
    let mut lines: Vec<_> = keys.map(|key| Task::waiting(limiter.acquire(&key))).collect();
    clock.advance(LONG);
    for call in &mut lines {
        call.admitted();
    }
    drop(lines);
    clock.advance(LONG);
    assert_eq!(limiter.tracked_keys(), 0);
    assert!(started.elapsed() < QUICK, "{:?}", started.elapsed());
}

fn long_line(limiter: &Limiter) -> Vec<Task<impl Future<Output = crate::support::Decision<'_>>>> {
    (0..10_000).map(|_| Task::waiting(limiter.acquire())).collect()
}

fn with_long_line() -> (Limiter, ManualClock) {
    let (limiter, clock) = used_up(1);
    (limiter.with_max_waiters(usize::MAX), clock)
}

#[test]
fn ten_thousand_leave_a_line_quickly_from_either_end() {
    let started = Instant::now();
    let (limiter, _) = with_long_line();
    drop(long_line(&limiter));
    let mut line = long_line(&limiter);
    while line.pop().is_some() {}
    assert!(started.elapsed() < QUICK, "{:?}", started.elapsed());
    limiter.reset();
    limiter.try_acquire().unwrap();
}

#[test]
fn many_come_and_go_quickly_in_a_line_of_ten_thousand() {
    let started = Instant::now();
    let (limiter, _) = with_long_line();
    for bound in [None, Some(Duration::from_secs(1_000_000))] {
        let join = || Task::waiting(limiter.acquire_n(1, bound));
        let mut line: Vec<_> = (0..10_000).map(|_| join()).collect();
        for number in 0..10_000 {
            drop(line.swap_remove(number * 7919 % line.len()));
            line.push(join());
        }
    }
    assert!(started.elapsed() < QUICK, "{:?}", started.elapsed());
}

#[test]
fn ten_thousand_are_served_at_once_quickly() {
    let started = Instant::now();
    let (limiter, _) = with_long_line();
    let mut line = long_line(&limiter);
    limiter.set_spec(spec(20_000)).unwrap();
    for call in &mut line {
        call.admitted();
    }
    assert!(started.elapsed() < QUICK, "{:?}", started.elapsed());
}

#[test]
fn threads_that_wait_are_served_in_the_order_of_their_coming() {
    let (limiter, clock) = used_up(1);
    let limiter = Arc::new(limiter);
    let order = Arc::new(Mutex::new(Vec::new()));
    let threads: Vec<_> = (0..8)
        .map(|number| {
            let (limiter, order) = (limiter.clone(), order.clone());
            let behind = limiter.try_acquire().unwrap_err().retry_after();
            let thread = {
                let limiter = limiter.clone();
                std::thread::spawn(move || {
                    limiter.acquire_blocking(1, None).unwrap();
                    order.lock().unwrap().push(number);
                })
            };
            // In line once the next would have to wait longer.
            while limiter.try_acquire().unwrap_err().retry_after() == behind {
                std::thread::yield_now();
            }
            thread
        })
        .collect();
    for served in 1..=threads.len() {
        clock.advance(LONG);
        while order.lock().unwrap().len() < served {
            std::thread::yield_now();
        }
    }
    for thread in threads {
        thread.join().unwrap();
    }
    assert!(order.lock().unwrap().is_sorted());
}
