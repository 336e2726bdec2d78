//! The cases by which the literature and other limiters tell a right limiter from a nearly right one.

use std::{sync::Barrier, thread, time::Duration};

use ratelimit_runtime::{Algorithm, Clock, KeyedLimiter, LimitSpec, Limiter, ManualClock};

const SECOND: Duration = Duration::from_secs(1);
const NANOSECOND: Duration = Duration::from_nanos(1);
const CENTURY: Duration = Duration::from_secs(36_525 * 24 * 60 * 60);

fn just_before(instant: Duration) -> Duration {
    instant.saturating_sub(NANOSECOND)
}

fn limiter(limit: &str) -> (Limiter, ManualClock) {
    on_its_clock(limit.parse().unwrap())
}

fn on_its_clock(limit: LimitSpec) -> (Limiter, ManualClock) {
    let clock = ManualClock::new();
    (Limiter::with_clock(limit, clock.clone()).unwrap(), clock)
}

/// How many of so many calls at one instant are admitted.
fn admitted(limiter: &Limiter, calls: u32) -> usize {
    (0..calls).filter(|_| limiter.try_acquire().is_ok()).count()
}

/// Calls from so many threads at once, and gives what all were admitted.
fn at_once(threads: u32, call: impl Fn(u32) -> usize + Sync) -> usize {
    let start = Barrier::new(threads as usize);
    thread::scope(|scope| {
        let run = |thread| {
            start.wait();
            call(thread)
        };
        let threads: Vec<_> = (0..threads).map(|thread| scope.spawn(move || run(thread))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    })
}

#[test]
fn of_200_threads_at_a_limit_of_100_every_algorithm_admits_100() {
    for algorithm in Algorithm::ALL {
        let (limiter, _) = on_its_clock(LimitSpec::new(100, SECOND).with_algorithm(algorithm));
        let admitted = at_once(200, |_| usize::from(limiter.try_acquire().is_ok()));
        assert_eq!((admitted, limiter.used()), (100, 100), "{algorithm}");
    }
}

#[test]
fn a_hundred_threads_make_100000_calls_on_50_keys_without_deadlock_or_one_over() {
    for algorithm in Algorithm::ALL {
        let limit = LimitSpec::new(100, SECOND).with_algorithm(algorithm);
        let limiter = KeyedLimiter::with_clock(limit, ManualClock::new()).unwrap();
        let admitted = at_once(100, |thread| {
            (0..1000).filter(|call| limiter.try_acquire(&((thread + call) % 50)).is_ok()).count()
        });
        assert_eq!(admitted, 50 * 100, "{algorithm}");
        assert!((0..50).all(|key: u32| limiter.used(&key) == 100), "{algorithm}");
    }
}

#[test]
fn ten_in_a_millisecond_holds_at_the_edges_of_the_millisecond() {
    let (limiter, clock) = limiter("10/1ms");
    for first in [Duration::from_micros(999), Duration::from_millis(10), Duration::from_nanos(20_000_001)] {
        clock.set(first);
        assert_eq!(admitted(&limiter, 20), 10);
        for micros in [1, 500, 998] {
            clock.set(first + Duration::from_micros(micros));
            assert_eq!(admitted(&limiter, 20), 0, "{micros} µs after the ten at {first:?}");
        }
        clock.set(just_before(first + Duration::from_millis(1)));
        assert_eq!(admitted(&limiter, 20), 0, "a nanosecond before the ten at {first:?} are a window old");
        clock.set(first + Duration::from_micros(1_050));
        assert_eq!(admitted(&limiter, 20), 10, "a window and a bucket after {first:?}");
    }
}

#[test]
fn what_filled_the_fourth_second_of_four_still_denies_half_a_second_into_the_next() {
    for keyed in [false, true] {
        let spec: LimitSpec = "20/4s buckets=4".parse().unwrap();
        let clock = ManualClock::new();
        let limiter = Limiter::with_clock(spec, clock.clone()).unwrap();
        let by_key = KeyedLimiter::with_clock(spec, clock.clone()).unwrap();
        let admitted = |calls: u32| {
            if keyed {
                (0..calls).filter(|_| by_key.try_acquire("key").is_ok()).count()
            } else {
                admitted(&limiter, calls)
            }
        };
        clock.set(Duration::from_millis(3_500));
        assert_eq!(admitted(25), 20);
        for millis in [4_000, 4_500, 7_499] {
            clock.set(Duration::from_millis(millis));
            assert_eq!(admitted(25), 0, "at {millis} ms");
        }
        clock.set(Duration::from_millis(8_500));
        assert_eq!(admitted(25), 20, "a window and a bucket later");
    }
}

#[test]
fn of_20_calls_at_once_a_burst_of_10_admits_10_and_then_one_each_200_ms() {
    for algorithm in ["token_bucket", "leaky_bucket", "gcra"] {
        let (limiter, clock) = limiter(&format!("5/1s algorithm={algorithm} burst=10"));
        assert_eq!(admitted(&limiter, 20), 10, "{algorithm}");
        clock.set(just_before(Duration::from_millis(200)));
        assert_eq!(admitted(&limiter, 20), 0, "{algorithm}");
        for turn in 1..=10 {
            clock.set(Duration::from_millis(200) * turn);
            assert_eq!(admitted(&limiter, 20), 1, "{algorithm}, {turn}");
        }
        clock.advance(CENTURY);
        assert_eq!(admitted(&limiter, 20), 10, "{algorithm}: idleness saves up no more than the burst");
    }
}

#[test]
fn what_remains_never_exceeds_the_capacity_and_never_wraps() {
    const MAX: u32 = 7;
    for algorithm in Algorithm::ALL {
        let (limiter, clock) =
            on_its_clock(LimitSpec::new(MAX, Duration::from_micros(100)).with_algorithm(algorithm));
        let mut permits = Vec::new();
        for turn in 0..5_000_u32 {
            let random = turn.wrapping_mul(2_654_435_761) >> 8;
            match random % 5 {
                0 => clock.advance(Duration::from_nanos(u64::from(random / 5 % 120_000))),
                1 => {
                    let back = Duration::from_nanos(u64::from(random / 5 % 5_000));
                    clock.set(clock.now().saturating_sub(back));
                }
                2 => permits.pop().into_iter().for_each(ratelimit_runtime::Permit::refund),
                _ => permits.extend(limiter.try_acquire_n(random / 5 % (MAX + 2))),
            }
            assert!(permits.last().is_none_or(|permit| permit.remaining() <= MAX), "{algorithm}, {turn}");
            let (remaining, used) = (limiter.remaining(), limiter.used());
            assert!(remaining <= MAX && used <= MAX, "{algorithm}, {turn}: {remaining} remain, {used} used");
            assert_eq!(remaining + used, MAX, "{algorithm}, {turn}");
        }
    }
}

/// The ends of what counters of nanoseconds, microseconds and milliseconds hold.
fn edges() -> impl Iterator<Item = Duration> {
    let nanos = [u64::from(u32::MAX), i64::MAX.unsigned_abs(), u64::MAX].map(Duration::from_nanos);
    let micros = [u64::from(u32::MAX)].map(Duration::from_micros);
    let millis = [u64::from(u32::MAX)].map(Duration::from_millis);
    let seconds = [u64::from(u32::MAX), u64::MAX / 2].map(Duration::from_secs);
    nanos.into_iter().chain(micros).chain(millis).chain(seconds)
}

/// Uses up all, is denied until exactly the promised instant, and has all again after a century.
fn counts_right(limit: LimitSpec, start: Duration) {
    let clock = ManualClock::new();
    clock.set(start);
    let limiter = Limiter::with_clock(limit, clock.clone()).unwrap();
    let max = limit.max();
    for turn in 0..2 {
        let at = format!("{limit} from {start:?}, century {turn}");
        assert_eq!(limiter.try_acquire_n(max - 1).unwrap().remaining(), 1, "{at}");
        assert_eq!(limiter.try_acquire().unwrap().remaining(), 0, "{at}");
        assert_eq!((limiter.used(), limiter.remaining()), (max, 0), "{at}");
        let again = limiter.try_acquire().unwrap_err().retry_after().unwrap();
        clock.advance(just_before(again));
        assert!(limiter.try_acquire().is_err(), "{at}: too early by a nanosecond");
        clock.advance(NANOSECOND);
        assert!(limiter.try_acquire().is_ok(), "{at}: after {again:?}");
        clock.advance(CENTURY + CENTURY / 50);
        assert_eq!((limiter.used(), limiter.remaining()), (0, max), "{at}: all is free again");
    }
}

#[test]
fn every_algorithm_counts_right_at_the_ends_of_the_integers_and_after_a_century() {
    for algorithm in Algorithm::ALL {
        for start in edges().flat_map(|edge| [just_before(edge), edge, edge + NANOSECOND]) {
            for max in [2, u32::MAX - 1, u32::MAX] {
                counts_right(LimitSpec::new(max, SECOND).with_algorithm(algorithm), start);
            }
        }
    }
}

#[test]
fn the_longest_window_holds_a_century_in_every_algorithm() {
    for algorithm in Algorithm::ALL {
        for max in [1, u32::MAX] {
            let (limiter, clock) = on_its_clock(LimitSpec::new(max, CENTURY).with_algorithm(algorithm));
            limiter.try_acquire_n(max).unwrap();
            let again = limiter.try_acquire_n(max).unwrap_err().retry_after().unwrap();
            assert!((CENTURY..=CENTURY + CENTURY / 60).contains(&again), "{algorithm}: {again:?}");
            clock.set(just_before(again));
            assert!(limiter.try_acquire_n(max).is_err(), "{algorithm}: too early by a nanosecond");
            clock.set(again);
            assert!(limiter.try_acquire_n(max).is_ok(), "{algorithm}");
        }
    }
}
