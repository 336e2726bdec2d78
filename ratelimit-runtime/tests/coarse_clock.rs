//! Limits on the system's clock, which on Linux is a coarse one where that is as good: in real time.
#![cfg(feature = "macros")]

use std::{
    sync::{Barrier, Mutex},
    thread,
    time::{Duration, Instant},
};

use ratelimit_runtime::{KeyedLimiter, LimitSpec, Limiter, RateLimited, rate_limit};

/// No multiple of a tick, nor are its buckets, and long enough for any tick of 4 ms or less.
const WINDOW: Duration = Duration::from_micros(850_371);
const MAX: u32 = 1000;

/// Such fine buckets that a denial needs the precise clock now and then.
#[rate_limit(max = const { MAX }, window = const { WINDOW }, buckets = 1000)]
fn fine() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(key = "key", max = const { MAX }, window = const { WINDOW }, buckets = 1000)]
fn fine_by_key(key: &str) -> Result<(), RateLimited> {
    Ok(())
}

/// When a call came and when it had been decided, by the precise clock.
type Call = (Instant, Instant);

/// The most calls that lie wholly within one window.
fn most_in_a_window(calls: &Mutex<Vec<Call>>) -> usize {
    let mut calls = calls.lock().unwrap().clone();
    calls.sort_unstable();
    let within = |(number, (start, _)): (usize, &Call)| {
        let end = *start + WINDOW;
        let came_in_time = calls[number..].iter().take_while(|(came, _)| *came < end);
        came_in_time.filter(|(_, decided)| *decided < end).count()
    };
    calls.iter().enumerate().map(within).max().unwrap()
}

#[test]
fn no_window_of_real_time_admits_more_though_the_clock_lags() {
    let spec = LimitSpec::new(MAX, WINDOW);
    let plain = Limiter::new(spec.with_buckets(7)).unwrap();
    let keyed = KeyedLimiter::new(spec.with_buckets(11)).unwrap();
    let changed = Limiter::new(spec).unwrap();
    let keyed_and_changed = KeyedLimiter::new(spec).unwrap();
    let takes: [&(dyn Fn() -> bool + Sync); 6] = [
        &|| fine().is_ok(),
        &|| fine_by_key("alice").is_ok(),
        &|| plain.try_acquire().is_ok(),
        &|| keyed.try_acquire("alice").is_ok(),
        &|| changed.try_acquire().is_ok(),
        &|| keyed_and_changed.try_acquire("alice").is_ok(),
    ];
    let logs = [const { Mutex::new(Vec::new()) }; 6];

    let end = Instant::now() + WINDOW * 9 / 4;
    // However busy the machine is, more than one window is seen.
    let goes_on = || Instant::now() < end || logs.iter().any(|log| log.lock().unwrap().len() <= MAX as usize);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                // Permits are used up in the course of a window, so that some fall on each edge of a bucket, and taken at
                // once when they come back.
                let mut turn = [1; 6];
                while goes_on() {
                    for (number, (take, log)) in takes.iter().zip(&logs).enumerate() {
                        let mut calls = Vec::new();
                        for _ in 0..turn[number] {
                            let came = Instant::now();
                            if !take() {
                                turn[number] = 100;
                                break;
                            }
                            calls.push((came, Instant::now()));
                        }
                        log.lock().unwrap().extend(calls);
                    }
                    thread::sleep(Duration::from_micros(if turn == [1; 6] { 1500 } else { 200 }));
                }
            });
        }
        scope.spawn(|| {
            for other in [spec.with_buckets(1000), spec].into_iter().cycle().take_while(|_| goes_on()) {
                thread::sleep(Duration::from_millis(217));
                changed.set_spec(other).unwrap();
                keyed_and_changed.set_spec(other).unwrap();
            }
        });
    });
    for (number, log) in logs.iter().enumerate() {
        let most = most_in_a_window(log);
        assert!(most <= MAX as usize, "limit {number} admitted {most} in a window");
    }
}

#[test]
fn who_comes_again_after_retry_after_is_admitted() {
    let spec = LimitSpec::new(1, WINDOW);
    let plain = Limiter::new(spec).unwrap();
    let keyed = KeyedLimiter::new(spec).unwrap();
    let precise = Limiter::new(LimitSpec::new(1, Duration::from_micros(20_371))).unwrap();
    let take = |number: usize| match number {
        0 => plain.try_acquire(),
        1 => keyed.try_acquire("alice"),
        _ => precise.try_acquire(),
    };
    let all_at_once = Barrier::new(3);
    thread::scope(|scope| {
        for number in 0..3 {
            let (take, all_at_once) = (&take, &all_at_once);
            scope.spawn(move || {
                all_at_once.wait();
                for _ in 0..2 {
                    assert!(take(number).is_ok(), "limit {number} admits the first and who has waited");
                    let asked = Instant::now();
                    let retry_after = take(number).unwrap_err().retry_after().unwrap();
                    assert!(retry_after <= WINDOW + WINDOW / 20 + WINDOW / 100, "{retry_after:?}");
                    thread::sleep(retry_after.saturating_sub(asked.elapsed()));
                }
            });
        }
    });
}

#[test]
fn who_waits_in_line_is_admitted_once_the_window_has_passed_and_not_before() {
    let limiter = Limiter::new(LimitSpec::new(1, WINDOW)).unwrap();
    let came = Instant::now();
    let _held = limiter.try_acquire().unwrap();
    let decided = Instant::now();
    let waited = limiter.acquire_blocking(1, Some(WINDOW * 2));
    assert!(waited.is_ok());
    assert!(came.elapsed() >= WINDOW, "admitted after {:?}", decided.elapsed());
}
