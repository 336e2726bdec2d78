//! Memory follows the keys in use, and is bounded.

use std::time::Duration;

use allocation_counter::measure;
use ratelimit_runtime::{KeyedLimiter, LimitSpec, ManualClock};

const SECOND: Duration = Duration::from_secs(1);
const MEGABYTE: u64 = 1_000_000;

fn limiter(spec: LimitSpec) -> (KeyedLimiter, ManualClock) {
    let clock = ManualClock::new();
    (KeyedLimiter::with_clock(spec, clock.clone()).unwrap(), clock)
}

/// The bytes that are held after `act` and were not before.
fn kept(act: impl FnOnce()) -> i64 {
    measure(act).bytes_current
}

#[test]
fn a_thousand_keys_of_100_kb_take_far_less_than_8_mb() {
    // With the most buckets that there can be.
    let (limiter, _) = limiter(LimitSpec::new(5, 60 * SECOND).with_buckets(1000));
    let mut key = "k".repeat(100_000);
    let most = measure(|| {
        for number in 0..1000 {
            key.replace_range(50_000..50_004, &format!("{number:04}"));
            limiter.try_acquire(&key).unwrap();
        }
    });
    assert_eq!(limiter.tracked_keys(), 1000);
    assert!(most.bytes_max < 5 * MEGABYTE, "{} bytes", most.bytes_max);
}

#[test]
fn a_limiter_without_keys_takes_little_and_allocates_nothing_ahead() {
    let spec = LimitSpec::new(5, 60 * SECOND);
    let held = measure(|| {
        let (limiter, _) = limiter(spec);
        let limiter = limiter.with_max_keys(usize::MAX);
        assert_eq!(limiter.remaining("anybody"), 5);
    });
    assert!(held.bytes_max < 64_000, "{} bytes", held.bytes_max);
}

#[test]
fn a_flood_of_new_keys_takes_no_more_once_max_keys_are_in_use() {
    let (limiter, clock) = limiter(LimitSpec::new(2, SECOND));
    let limiter = limiter.with_max_keys(1000);
    let flood = |keys: std::ops::Range<u32>| {
        for key in keys {
            _ = limiter.try_acquire(&key);
            clock.advance(Duration::from_micros(1));
        }
    };
    flood(0..20_000);
    let grown = kept(|| flood(20_000..100_000));
    assert!(grown <= 0, "{grown} bytes more");
}

#[test]
fn keys_that_come_and_go_take_no_more_than_those_of_two_windows() {
    let (limiter, clock) = limiter(LimitSpec::new(2, SECOND));
    let a_window_of_keys = |from: u32| {
        for key in from..from + 10_000 {
            limiter.try_acquire(&key).unwrap();
            clock.advance(SECOND / 10_000);
        }
    };
    let first = kept(|| a_window_of_keys(0));
    let later = kept(|| (1..10).for_each(|window| a_window_of_keys(window * 10_000)));
    assert!(later <= first + first / 2, "{first} bytes, then {later} more");
    assert!(limiter.tracked_keys() <= 11_000);
}

#[test]
fn memory_is_given_back_when_keys_are_let_go_of() {
    let (limiter, clock) = limiter(LimitSpec::new(2, SECOND));
    let crowd = kept(|| (0..50_000).for_each(|key| drop(limiter.try_acquire(&key).unwrap())));
    clock.advance(2 * SECOND);
    let given_back = -kept(|| {
        // Nobody asks for it, and no thread runs: new keys let go of old ones.
        for key in 50_000..80_000 {
            limiter.try_acquire(&key).unwrap().refund();
        }
    });
    assert!(given_back > crowd * 9 / 10, "{given_back} of {crowd} bytes");
    assert_eq!(limiter.tracked_keys(), 0);
}

#[test]
fn a_reset_gives_memory_back() {
    let (limiter, _) = limiter(LimitSpec::new(2, SECOND));
    let crowd = kept(|| (0..50_000).for_each(|key| drop(limiter.try_acquire(&key).unwrap())));
    let given_back = -kept(|| limiter.reset());
    assert!(given_back > crowd * 9 / 10, "{given_back} of {crowd} bytes");
}

#[test]
fn charges_that_are_refunded_leave_nothing_behind() {
    let (limiter, _) = limiter(LimitSpec::new(2, 3600 * SECOND));
    let refunded = |keys: std::ops::Range<u32>| {
        for key in keys {
            limiter.try_acquire(&key).unwrap().refund();
        }
    };
    refunded(0..10_000);
    let grown = kept(|| refunded(10_000..100_000));
    assert!(grown <= 0, "{grown} bytes more");
}

#[test]
fn charging_and_refunding_known_keys_takes_no_more() {
    let (limiter, clock) = limiter(LimitSpec::new(10, SECOND).with_buckets(10));
    let rounds = |rounds: u32| {
        for round in 0..rounds {
            for key in 0..100 {
                let permit = limiter.try_acquire(&key);
                if let Ok(permit) = permit
                    && !(key + round).is_multiple_of(3)
                {
                    permit.refund();
                }
            }
            clock.advance(SECOND / 37);
        }
    };
    rounds(100);
    let grown = kept(|| rounds(1000));
    assert!(grown < 100_000, "{grown} bytes more");
}
