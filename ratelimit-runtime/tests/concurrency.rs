//! Never one over, whatever threads do at once.

use std::{
    sync::{
        Barrier, Mutex,
        atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::SeqCst},
    },
    thread,
    time::{Duration, Instant},
};

use ratelimit_runtime::{Clock, KeyedLimiter, LimitSpec, Limiter, ManualClock, Permit, RateLimited};

const THREADS: u32 = 8;
const WINDOW: Duration = Duration::from_millis(10);

fn in_window(max: u32) -> LimitSpec {
    LimitSpec::new(max, WINDOW).with_buckets(10)
}

/// Numbers that look random, and are the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        u32::try_from((self.0 >> 33) % u64::from(bound)).unwrap()
    }
}

/// Runs `act` on many threads at once, and adds up what it gives.
fn at_once(threads: u32, act: impl Fn(u32) -> u32 + Sync) -> u32 {
    let start = Barrier::new(threads as usize);
    thread::scope(|scope| {
        let run = |thread| {
            start.wait();
            act(thread)
        };
        let threads: Vec<_> = (0..threads).map(|thread| scope.spawn(move || run(thread))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    })
}

#[test]
fn of_200_threads_at_a_limit_of_100_exactly_100_are_admitted() {
    for _ in 0..20 {
        let limiter = Limiter::new(LimitSpec::new(100, Duration::from_secs(3600))).unwrap();
        let admitted = at_once(200, |_| u32::from(limiter.try_acquire().is_ok()));
        assert_eq!((admitted, limiter.used()), (100, 100));
    }
}

#[test]
fn of_100_threads_on_50_keys_each_key_admits_its_max() {
    for max_keys in [50, 100] {
        let limiter = KeyedLimiter::new(LimitSpec::new(3, Duration::from_secs(3600))).unwrap();
        let limiter = limiter.with_max_keys(max_keys);
        let admitted = at_once(100, |thread| {
            let keys = (0..100).map(|turn| (thread + turn) % 50);
            keys.map(|key| u32::from(limiter.try_acquire(&key).is_ok())).sum()
        });
        assert_eq!((admitted, limiter.tracked_keys()), (150, 50));
        assert!((0..50).all(|key| limiter.used(&key) == 3));
    }
}

#[test]
fn threads_that_bring_new_keys_never_pass_max_keys() {
    let limiter = KeyedLimiter::new(in_window(1)).unwrap().with_max_keys(10);
    at_once(THREADS, |thread| {
        for turn in 0..20_000 {
            _ = limiter.try_acquire(&(turn * THREADS + thread));
            if turn % 16 == 0 {
                assert!(limiter.tracked_keys() <= 10);
            }
        }
        0
    });
}

/// The log is exact: the clock stands still while all threads hammer, and is moved, also back, between the rounds.
#[test]
fn no_window_admits_one_too_many_nor_one_too_few() {
    const MAX: u32 = 50;
    let clock = ManualClock::new();
    let limiter = Limiter::with_clock(in_window(MAX), clock.clone()).unwrap();
    let keyed = KeyedLimiter::with_clock(in_window(MAX), clock.clone()).unwrap();
    let mut random = Random(1);
    let mut latest = Duration::ZERO;
    let mut logs: [Vec<(Duration, u32)>; 2] = [Vec::new(), Vec::new()];
    for round in 0..500 {
        let asked = random.below(8);
        let takes: [&(dyn Fn() -> bool + Sync); 2] =
            [&|| limiter.try_acquire().is_ok(), &|| keyed.try_acquire("alice").is_ok()];
        for (log, take) in logs.iter_mut().zip(takes) {
            let admitted = at_once(THREADS, |_| (0..asked).map(|_| u32::from(take())).sum());
            let counted_for = |time: Duration| {
                let counts = |(at, _): &&(Duration, u32)| *at + time > latest;
                log.iter().filter(counts).map(|(_, permits)| permits).sum::<u32>()
            };
            let asked = asked * THREADS;
            assert!(admitted + counted_for(WINDOW) <= MAX, "one too many in round {round}");
            let at_least = asked.min(MAX.saturating_sub(counted_for(WINDOW + WINDOW / 10)));
            assert!(at_least <= admitted, "one too few in round {round}: {admitted} of {at_least}");
            log.push((latest, admitted));
        }
        let step = Duration::from_micros(random.below(3000).into());
        clock.set(if random.below(5) == 0 { latest.saturating_sub(step) } else { latest + step });
        latest = latest.max(clock.now());
    }
}

/// When a call came and when it had been decided. The instant that counts lies between the two.
type Call = (Duration, Duration);

/// Holds if no interval of one window has more calls wholly within it than `max`.
fn is_never_exceeded(mut calls: Vec<Call>, max: usize, window: Duration) {
    // However busy the machine is, the test has seen more than one window.
    assert!(calls.len() > 2 * max, "{} calls were admitted in all", calls.len());
    calls.sort_unstable();
    for (number, (start, _)) in calls.iter().enumerate() {
        let end = *start + window;
        let within = calls[number..].iter().take_while(|(came, _)| *came < end);
        let within = within.filter(|(_, decided)| *decided < end).count();
        assert!(within <= max, "{within} of {max} in the window from {start:?}");
    }
}

/// Hammers in real time for many windows, and logs every admitted call by the clock that the limiter reads.
fn hammer(windows: u32, clock: &(impl Clock + Clone), take: impl Fn(u32) -> bool + Sync) -> Vec<Call> {
    let log = Mutex::new(Vec::new());
    at_once(THREADS, |thread| {
        let mut calls = Vec::new();
        let end = clock.now() + WINDOW * windows;
        let mut came = clock.now();
        while came < end {
            if take(thread) {
                calls.push((came, clock.now()));
            }
            came = clock.now();
        }
        log.lock().unwrap().extend(calls);
        0
    });
    log.into_inner().unwrap()
}

#[derive(Clone)]
struct RealTime(Instant);

impl Clock for RealTime {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }
}

#[test]
fn no_window_of_real_time_is_exceeded() {
    for max in [1, 7, 1000] {
        let clock = RealTime(Instant::now());
        let limiter = Limiter::with_clock(in_window(max), clock.clone()).unwrap();
        let calls = hammer(40, &clock, |_| limiter.try_acquire().is_ok());
        is_never_exceeded(calls, max as usize, WINDOW);
    }
}

#[test]
fn no_window_of_any_key_is_exceeded() {
    // With room for all of the keys, for some, and for none.
    for max_keys in [4, 2, 0] {
        let clock = RealTime(Instant::now());
        let limiter = KeyedLimiter::with_clock(in_window(20), clock.clone()).unwrap();
        let limiter = limiter.with_max_keys(max_keys);
        let logs = [const { Mutex::new(Vec::new()) }; 4];
        let turn = AtomicU32::new(0);
        hammer(40, &clock, |_| {
            let key = turn.fetch_add(1, SeqCst) % 4;
            let came = clock.now();
            if limiter.try_acquire(&key).is_ok() {
                logs[key as usize].lock().unwrap().push((came, clock.now()));
            }
            false
        });
        for log in logs {
            is_never_exceeded(log.into_inner().unwrap(), 20, WINDOW);
        }
    }
}

/// A clock that goes on by a nanosecond whenever it is read: threads race for every instant of it.
#[derive(Clone)]
struct Ticks(&'static AtomicU64);

impl Clock for Ticks {
    fn now(&self) -> Duration {
        Duration::from_nanos(self.0.fetch_add(1, SeqCst))
    }
}

#[test]
fn no_window_of_a_clock_that_every_call_moves_is_exceeded() {
    let clock = Ticks(Box::leak(Box::new(AtomicU64::new(0))));
    let window = Duration::from_micros(1);
    let limiter = Limiter::with_clock(LimitSpec::new(100, window).with_buckets(10), clock.clone()).unwrap();
    let log = Mutex::new(Vec::new());
    at_once(THREADS, |_| {
        for _ in 0..20_000 {
            let came = clock.now();
            if limiter.try_acquire().is_ok() {
                log.lock().unwrap().push((came, clock.now()));
            }
        }
        0
    });
    is_never_exceeded(log.into_inner().unwrap(), 100, window);
}

/// Takes and refunds at random, and sees that no more are held at once than `max`. Gives what is still held.
fn take_and_refund<'a>(
    thread: u32,
    max: u32,
    held: &AtomicU32,
    take: impl Fn() -> Result<Permit<'a>, RateLimited>,
) -> u32 {
    let mut random = Random(u64::from(thread) + 1);
    let mut permits = Vec::new();
    for _ in 0..5_000 {
        if random.below(2) == 0 {
            if let Ok(permit) = take() {
                // Counted after it was taken, and discounted before it is given back: never more than are.
                let others = held.fetch_add(1, SeqCst);
                assert!(others < max, "one of {max} was given twice");
                permits.push(permit);
            }
        } else if let Some(permit) = permits.pop() {
            held.fetch_sub(1, SeqCst);
            permit.refund();
        }
    }
    u32::try_from(permits.len()).unwrap()
}

#[test]
fn refunds_at_once_with_calls_give_every_permit_to_one() {
    const MAX: u32 = 5;
    let limiter = Limiter::with_clock(in_window(MAX), ManualClock::new()).unwrap();
    let held = AtomicU32::new(0);
    let left = at_once(THREADS, |thread| take_and_refund(thread, MAX, &held, || limiter.try_acquire()));
    assert_eq!((limiter.used(), left), (left, held.into_inner()));

    // One that has room for the key, and one where it comes and goes with an overflow budget.
    for max_keys in [1, 0] {
        let keyed = KeyedLimiter::with_clock(in_window(MAX), ManualClock::new()).unwrap();
        let keyed = keyed.with_max_keys(max_keys);
        let held = AtomicU32::new(0);
        let left =
            at_once(THREADS, |thread| take_and_refund(thread, MAX, &held, || keyed.try_acquire("alice")));
        assert_eq!((keyed.used("alice"), left), (left, held.into_inner()));
    }
}

/// Changes a limit from another thread for as long as `act` runs.
fn while_changing<R>(change: impl Fn(u32) + Sync, act: impl FnOnce() -> R) -> R {
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            for turn in (0..).take_while(|_| !is_over.load(SeqCst)) {
                change(turn);
                thread::yield_now();
            }
        });
        let result = act();
        is_over.store(true, SeqCst);
        result
    })
}

#[test]
fn changes_of_the_limit_lose_no_charge_and_no_refund() {
    const MOST: u32 = 6;
    let specs = [in_window(MOST), in_window(2), in_window(4).with_buckets(7), LimitSpec::new(3, WINDOW * 9)];
    let spec = |turn: u32| specs[turn as usize % specs.len()];

    let limiter = Limiter::with_clock(spec(0), ManualClock::new()).unwrap();
    let keyed = KeyedLimiter::with_clock(spec(0), ManualClock::new()).unwrap();
    let change = |turn| {
        limiter.set_spec(spec(turn)).unwrap();
        keyed.set_spec(spec(turn)).unwrap();
    };
    let held = [const { AtomicU32::new(0) }; 2];
    let (plain, of_key) = while_changing(change, || {
        let plain =
            at_once(THREADS, |thread| take_and_refund(thread, MOST, &held[0], || limiter.try_acquire()));
        let of_key =
            at_once(THREADS, |thread| take_and_refund(thread, MOST, &held[1], || keyed.try_acquire("alice")));
        (plain, of_key)
    });
    assert_eq!((limiter.used(), keyed.used("alice")), (plain, of_key));
}

#[test]
fn every_reset_gives_one_more_budget_and_no_more() {
    const MAX: u32 = 5;
    let limiter = Limiter::with_clock(in_window(MAX), ManualClock::new()).unwrap();
    let keyed = KeyedLimiter::with_clock(in_window(MAX), ManualClock::new()).unwrap();
    let resets = AtomicU32::new(0);
    let change = |_| {
        // Counted before, so that it is never behind.
        resets.fetch_add(1, SeqCst);
        limiter.reset();
        keyed.reset_key("alice");
    };
    let kept = Mutex::new(Vec::new());
    while_changing(change, || {
        at_once(THREADS, |_| {
            for _ in 0..2_000 {
                let permits = [limiter.try_acquire().ok(), keyed.try_acquire("alice").ok()];
                let mut kept = kept.lock().unwrap();
                kept.extend(permits.into_iter().flatten());
                let budgets = 2 * (resets.load(SeqCst) + 1);
                assert!(kept.len() <= (MAX * budgets) as usize);
            }
            0
        })
    });
    // What was charged before a reset gives nothing back.
    limiter.reset();
    keyed.reset();
    limiter.try_acquire_n(MAX).unwrap();
    keyed.try_acquire_n("alice", MAX).unwrap();
    kept.into_inner().unwrap().into_iter().for_each(Permit::refund);
    assert_eq!((limiter.used(), keyed.used("alice")), (MAX, MAX));
}
