//! A token bucket that does not begin full.

use ratelimit_runtime::{KeyedLimiter, Limiter, ManualClock};

use crate::support::{SECOND, just_before, limiter, ms};

fn cold(initial: u32, clock: &ManualClock) -> KeyedLimiter {
    let spec = format!("10/1s algorithm=token_bucket initial={initial}").parse().unwrap();
    KeyedLimiter::with_clock(spec, clock.clone()).unwrap()
}

#[test]
fn every_key_seen_or_not_refills_from_when_the_limiter_is_made() {
    let clock = ManualClock::new();
    clock.set(100 * SECOND);
    let limiter = cold(2, &clock);
    assert_eq!((limiter.remaining("seen"), limiter.used("seen")), (2, 8));
    limiter.try_acquire_n("seen", 2).unwrap();
    assert!(limiter.try_acquire("seen").is_err());
    clock.advance(ms(300));
    assert_eq!((limiter.remaining("seen"), limiter.remaining("new")), (3, 5));
    assert_eq!(limiter.try_acquire_n("new", 5).unwrap().remaining(), 0);
    clock.advance(SECOND);
    assert_eq!(
        (limiter.remaining("seen"), limiter.remaining("new"), limiter.remaining("other")),
        (10, 10, 10)
    );
}

#[test]
fn a_bucket_begins_to_refill_with_the_limiter_and_not_with_its_first_call() {
    let clock = ManualClock::new();
    clock.set(5 * SECOND);
    let spec = "10/1m algorithm=token_bucket initial=0".parse().unwrap();
    let limiter = Limiter::with_clock(spec, clock.clone()).unwrap();
    assert_eq!(limiter.try_acquire().unwrap_err().retry_after(), Some(6 * SECOND));
    clock.advance(60 * SECOND);
    assert_eq!(limiter.remaining(), 10);
}

#[test]
fn a_key_is_kept_until_it_is_as_if_it_were_new() {
    let clock = ManualClock::new();
    let limiter = cold(0, &clock);
    clock.set(ms(300));
    limiter.try_acquire("a").unwrap();
    assert_eq!(limiter.tracked_keys(), 1);
    clock.set(SECOND);
    assert_eq!((limiter.remaining("a"), limiter.remaining("new")), (9, 10));
    clock.set(just_before(ms(1100)));
    assert_eq!(limiter.tracked_keys(), 1);
    clock.set(ms(1100));
    assert_eq!(limiter.tracked_keys(), 0);
    assert_eq!(limiter.remaining("a"), 10);
}

#[test]
fn a_denied_key_takes_no_place() {
    let clock = ManualClock::new();
    let limiter = cold(0, &clock).with_max_keys(1);
    assert!(limiter.try_acquire("a").is_err());
    assert_eq!(limiter.tracked_keys(), 0);
    clock.set(ms(100));
    assert!(limiter.try_acquire("b").is_ok());
}

#[test]
fn keys_beyond_the_most_that_are_tracked_are_as_cold() {
    let clock = ManualClock::new();
    let limiter = cold(1, &clock).with_max_keys(1);
    limiter.try_acquire("a").unwrap();
    assert!(limiter.try_acquire_n("b", 2).is_err());
    assert_eq!(limiter.try_acquire("b").unwrap().remaining(), 0);
}

#[test]
fn a_reset_gives_what_a_key_would_have_that_was_never_used() {
    let clock = ManualClock::new();
    let limiter = cold(0, &clock);
    clock.set(ms(500));
    limiter.try_acquire_n("a", 5).unwrap();
    limiter.reset_key("a");
    assert_eq!(limiter.remaining("a"), 5);
    limiter.try_acquire_n("a", 5).unwrap();
    limiter.reset();
    assert_eq!(limiter.remaining("a"), 5);
}

#[test]
fn a_change_takes_nothing_from_a_key_that_was_never_used() {
    let clock = ManualClock::new();
    let limiter = cold(0, &clock);
    clock.set(ms(500));
    limiter.set_spec("20/1s algorithm=token_bucket initial=0".parse().unwrap()).unwrap();
    assert_eq!(limiter.try_acquire_n("new", 15).unwrap().remaining(), 0);
    limiter.set_spec("20/1s algorithm=gcra".parse().unwrap()).unwrap();
    assert_eq!((limiter.remaining("new"), limiter.remaining("other")), (0, 20));
    limiter.set_spec("20/1s algorithm=token_bucket initial=0".parse().unwrap()).unwrap();
    assert_eq!((limiter.remaining("new"), limiter.remaining("other")), (0, 20));
}

#[test]
fn who_waits_for_a_cold_bucket_is_let_in_by_its_refill() {
    let (limiter, clock) = limiter("10/1s algorithm=token_bucket initial=0");
    let mut first = crate::support::Call::waiting(limiter.acquire_n(2, None));
    let mut second = crate::support::Call::waiting(limiter.acquire());
    clock.set(just_before(ms(200)));
    assert!(!first.is_through());
    clock.set(ms(200));
    assert!(first.is_through());
    assert!(!second.is_through());
    clock.set(ms(300));
    assert!(second.is_through());
}
