//! Keys whose limit changes while they have used much of it.

use std::{
    future::Future,
    pin::pin,
    task::{Context, Waker},
};

use ratelimit_runtime::{KeyedLimiter, LimitSpec, ManualClock};

fn limiter(spec: &str) -> (KeyedLimiter, ManualClock) {
    let clock = ManualClock::new();
    (KeyedLimiter::with_clock(limit(spec), clock.clone()).unwrap(), clock)
}

fn limit(spec: &str) -> LimitSpec {
    spec.parse().unwrap()
}

/// Whether a caller who tries once in each step is admitted within a window and a bucket.
fn is_free_again(limiter: &KeyedLimiter, clock: &ManualClock) -> bool {
    let spec = limiter.spec();
    let step = spec.window() / spec.buckets();
    (0..spec.buckets() + 2).any(|_| {
        clock.advance(step);
        limiter.try_acquire("key").is_ok()
    })
}

#[test]
fn a_key_whose_line_closes_under_a_lower_limit_is_free_again_in_time() {
    for lower in ["100/1s buckets=10", "255/1s buckets=10", "256/1s buckets=10"] {
        let (limiter, clock) = limiter("1000/1s buckets=10");
        limiter.try_acquire_n("key", 1000).unwrap();
        {
            let mut waits = pin!(limiter.acquire("key"));
            assert!(waits.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
            limiter.set_spec(limit(lower)).unwrap();
        }
        assert_eq!(limiter.used("key"), 1000, "{lower}");
        assert!(is_free_again(&limiter, &clock), "{lower}");
    }
}

#[test]
fn a_key_carried_through_another_algorithm_is_free_again_in_time() {
    let (limiter, clock) = limiter("1000/2s");
    limiter.try_acquire_n("key", 1000).unwrap();
    for spec in ["5/2s algorithm=sliding_log", "1000/1s buckets=20", "100/2s buckets=10"] {
        limiter.set_spec(limit(spec)).unwrap();
    }
    assert_eq!(limiter.used("key"), 1000);
    assert!(is_free_again(&limiter, &clock));
}
