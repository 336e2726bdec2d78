//! What a limiter with a budget for every key decides, and which keys it remembers.

mod overflow;

use std::time::Duration;

use ratelimit_runtime::{KeyedLimiter, LimitSpec, ManualClock, Permit, RateLimited, Reason};

const NANOSECOND: Duration = Duration::from_nanos(1);
const SECOND: Duration = Duration::from_secs(1);
const BUCKET: Duration = Duration::from_millis(100);
const OVERFLOW_BUDGETS: u32 = 1024;

fn limiter(spec: LimitSpec) -> (KeyedLimiter, ManualClock) {
    let clock = ManualClock::new();
    (KeyedLimiter::with_clock(spec, clock.clone()).unwrap(), clock)
}

/// `max` a second, in ten buckets.
fn per_second(max: u32) -> LimitSpec {
    LimitSpec::new(max, SECOND).with_buckets(10)
}

fn just_before(time: Duration) -> Duration {
    time.saturating_sub(NANOSECOND)
}

fn take(limiter: &KeyedLimiter, key: u32, times: u32) {
    for time in 1..=times {
        assert!(limiter.try_acquire(&key).is_ok(), "the {time}. of {times} is admitted to {key}");
    }
}

fn is_denied(limiter: &KeyedLimiter, key: u32) -> bool {
    limiter.try_acquire(&key).is_err()
}

fn retry_after(denial: Result<Permit<'_>, RateLimited>) -> Duration {
    denial.unwrap_err().retry_after().unwrap()
}

/// A limiter with room for `max_keys`, and `N` keys that share one overflow budget of it.
///
/// Hashing is seeded, so they have to be found: by what one of them uses, all who share it have used.
fn with_sharing_keys<const N: usize>(
    spec: LimitSpec,
    max_keys: usize,
) -> (KeyedLimiter, ManualClock, [u32; N]) {
    let (limiter, clock) = limiter(spec);
    let limiter = limiter.with_max_keys(0);
    take(&limiter, 0, 1);
    let mut sharing = (0..).filter(|key| limiter.used(key) == 1);
    let keys = [(); N].map(|()| sharing.next().unwrap());
    limiter.reset();
    (limiter.with_max_keys(max_keys), clock, keys)
}

#[test]
fn every_key_has_a_budget_of_its_own() {
    let (limiter, _) = limiter(per_second(2));
    for key in 0..1000 {
        take(&limiter, key, 2);
        assert!(is_denied(&limiter, key));
    }
    for key in 0..1000 {
        assert_eq!((limiter.used(&key), limiter.remaining(&key)), (2, 0));
    }
    assert_eq!((limiter.used(&1000), limiter.remaining(&1000)), (0, 2));
}

#[test]
fn the_value_of_a_key_counts_and_not_its_type() {
    let (limiter, _) = limiter(per_second(1));
    limiter.try_acquire("alice").unwrap();
    assert!(limiter.try_acquire(&String::from("alice")).is_err());
    assert!(limiter.try_acquire(&("alice",)).is_ok());
    limiter.try_acquire(&7_u8).unwrap();
    assert!(limiter.try_acquire(&7_u64).is_err());
    assert!(limiter.try_acquire("7").is_ok());
}

#[test]
fn a_key_is_denied_until_exactly_the_promised_instant() {
    let (limiter, clock) = limiter(per_second(2));
    clock.set(Duration::from_nanos(123_456_789));
    take(&limiter, 1, 1);
    clock.advance(Duration::from_millis(234));
    take(&limiter, 1, 1);
    for _ in 0..20 {
        let wait = retry_after(limiter.try_acquire(&1));
        clock.advance(just_before(wait));
        assert_eq!(retry_after(limiter.try_acquire(&1)), NANOSECOND);
        clock.advance(NANOSECOND);
        take(&limiter, 1, 1);
        clock.advance(Duration::from_nanos(34_567_891));
    }
}

#[test]
fn costs_refunds_and_looks_are_those_of_one_key() {
    let (limiter, _) = limiter(per_second(5));
    let permit = limiter.try_acquire_n(&1, 4).unwrap();
    assert_eq!(permit.remaining(), 1);
    assert_eq!(limiter.try_acquire_n(&2, 0).unwrap().remaining(), 5);
    assert_eq!(limiter.try_acquire_n(&1, 0).unwrap().remaining(), 1);
    assert_eq!(limiter.try_acquire_n(&1, 2).unwrap_err().remaining(), 1);
    let never = limiter.try_acquire_n(&1, 6).unwrap_err();
    assert_eq!((never.reason(), never.retry_after()), (Reason::CostExceedsCapacity, None));
    take(&limiter, 2, 5);
    permit.refund();
    assert_eq!((limiter.used(&1), limiter.used(&2)), (0, 5));
}

#[test]
fn a_refund_of_an_earlier_life_of_a_key_gives_back_nothing() {
    let (limiter, clock) = limiter(per_second(2));
    let aged = limiter.try_acquire_n(&1, 2).unwrap();
    clock.advance(SECOND + BUCKET);
    take(&limiter, 1, 2);
    aged.refund();
    assert!(is_denied(&limiter, 1));

    let before_reset = limiter.try_acquire_n(&2, 2).unwrap();
    limiter.reset_key(&2);
    take(&limiter, 2, 2);
    before_reset.refund();
    assert!(is_denied(&limiter, 2));

    let before_reset = limiter.try_acquire_n(&3, 2).unwrap();
    limiter.reset();
    take(&limiter, 3, 2);
    before_reset.refund();
    assert!(is_denied(&limiter, 3));
}

#[test]
fn only_a_call_that_is_charged_makes_a_key_tracked() {
    let (limiter, _) = limiter(per_second(2));
    assert_eq!((limiter.used(&1), limiter.remaining(&1)), (0, 2));
    limiter.try_acquire_n(&1, 0).unwrap();
    limiter.try_acquire_n(&1, 3).unwrap_err();
    limiter.reset_key(&1);
    assert_eq!(limiter.tracked_keys(), 0);
    take(&limiter, 1, 1);
    assert_eq!(limiter.tracked_keys(), 1);
}

#[test]
fn a_key_is_let_go_of_exactly_when_its_budget_is_full_again() {
    for start in [0, 1, 123_456_789, 99_999_999] {
        let (limiter, clock) = limiter(per_second(1));
        clock.set(Duration::from_nanos(start));
        take(&limiter, 1, 1);
        let wait = retry_after(limiter.try_acquire(&1));
        clock.advance(just_before(wait));
        assert_eq!(limiter.tracked_keys(), 1);
        clock.advance(NANOSECOND);
        assert_eq!(limiter.tracked_keys(), 0);
    }
}

#[test]
fn a_key_that_is_charged_again_stays_until_the_last_charge_is_released() {
    let (limiter, clock) = limiter(per_second(10));
    for _ in 0..100 {
        take(&limiter, 1, 1);
        clock.advance(7 * BUCKET);
        assert_eq!(limiter.tracked_keys(), 1);
    }
    clock.advance(4 * BUCKET);
    assert_eq!(limiter.tracked_keys(), 0);
}

#[test]
fn a_refund_or_a_reset_that_fills_a_budget_lets_go_of_its_key() {
    let (limiter, _) = limiter(per_second(3));
    let [one, two] = [(), ()].map(|()| limiter.try_acquire(&1).unwrap());
    one.refund();
    assert_eq!(limiter.tracked_keys(), 1);
    two.refund();
    assert_eq!(limiter.tracked_keys(), 0);
    take(&limiter, 2, 3);
    take(&limiter, 3, 3);
    limiter.reset_key(&2);
    assert_eq!(limiter.tracked_keys(), 1);
    limiter.reset();
    assert_eq!(limiter.tracked_keys(), 0);
}

#[test]
fn no_key_with_a_charge_is_dropped_for_another() {
    let (limiter, clock) = limiter(per_second(1));
    let limiter = limiter.with_max_keys(10);
    for key in 0..10 {
        take(&limiter, key, 1);
        clock.advance(BUCKET / 2);
    }
    for key in 10..10_000 {
        _ = limiter.try_acquire(&key);
    }
    assert_eq!(limiter.tracked_keys(), 10);
    for key in 0..10 {
        assert!(is_denied(&limiter, key), "{key} has a charge in its window");
    }
}

#[test]
fn no_more_than_max_keys_are_tracked() {
    for max_keys in [0, 1, 2, 63, 64, 65, 1000] {
        let (limiter, clock) = limiter(per_second(1_000_000));
        let limiter = limiter.with_max_keys(max_keys);
        for key in 0..3_000 {
            take(&limiter, key, 1);
            clock.advance(SECOND / 1_500);
            assert!(limiter.tracked_keys() <= max_keys);
        }
        assert_eq!(limiter.tracked_keys(), max_keys);
    }
}

#[test]
fn a_key_whose_budget_is_full_again_makes_room_for_a_new_one() {
    let (limiter, clock) = limiter(per_second(1));
    let limiter = limiter.with_max_keys(5);
    for generation in 0..100 {
        for key in 0..5 {
            take(&limiter, generation * 5 + key, 1);
        }
        assert_eq!(limiter.tracked_keys(), 5);
        clock.advance(SECOND + BUCKET);
    }
}

#[test]
fn room_that_a_refund_brings_forward_is_used_at_once() {
    let (limiter, clock) = limiter(per_second(3));
    let limiter = limiter.with_max_keys(1);
    // After two charges the key is full again at 1.1 s, and after the third at 2 s; others look for room meanwhile.
    take(&limiter, 1, 1);
    clock.set(SECOND / 2);
    take(&limiter, 1, 1);
    clock.set(9 * BUCKET);
    let third = limiter.try_acquire(&1).unwrap();
    clock.set(11 * BUCKET);
    take(&limiter, 2, 1);
    third.refund();
    clock.set(16 * BUCKET);
    // But for those who share with the second key what that has used.
    for key in (3..100).filter(|key| limiter.used(key) == 0) {
        take(&limiter, key, 1);
        assert_eq!(limiter.tracked_keys(), 1);
        limiter.reset_key(&key);
        assert_eq!(limiter.tracked_keys(), 0, "{key} has got the room");
    }
}

#[test]
fn a_change_of_the_limit_keeps_what_every_key_has_used() {
    let (limiter, clock, [one, two, three]) = with_sharing_keys(per_second(3), 1);
    take(&limiter, one, 2);
    take(&limiter, two, 3);
    limiter.set_spec(per_second(4).with_buckets(7)).unwrap();
    assert_eq!([one, two, three].map(|key| limiter.remaining(&key)), [2, 1, 1]);
    limiter.set_spec(LimitSpec::new(2, 60 * SECOND)).unwrap();
    for key in [one, two, three] {
        assert!(is_denied(&limiter, key));
    }
    clock.advance(59 * SECOND);
    assert_eq!([one, two, three].map(|key| limiter.used(&key)), [2, 3, 3]);
    clock.advance(3 * SECOND);
    assert_eq!(limiter.tracked_keys(), 0);
    take(&limiter, one, 2);
    take(&limiter, two, 2);
}

#[test]
fn a_shorter_window_lets_go_of_keys_earlier() {
    let (limiter, clock) = limiter(LimitSpec::new(1, 3600 * SECOND));
    let limiter = limiter.with_max_keys(1);
    take(&limiter, 1, 1);
    assert_eq!(limiter.tracked_keys(), 1);
    take(&limiter, 2, 1);
    limiter.set_spec(per_second(1)).unwrap();
    clock.advance(SECOND + 61 * SECOND);
    take(&limiter, 3, 1);
    assert_eq!((limiter.tracked_keys(), limiter.used(&3)), (1, 1));
    limiter.reset_key(&3);
    assert_eq!(limiter.tracked_keys(), 0, "3 had the room");
}

#[test]
fn a_change_of_the_limit_holds_no_key_that_is_full_again() {
    let (limiter, clock) = limiter(per_second(2));
    let limiter = limiter.with_max_keys(100);
    for key in 0..100 {
        take(&limiter, key, 1);
    }
    clock.advance(2 * SECOND);
    limiter.set_spec(per_second(2).with_buckets(20)).unwrap();
    take(&limiter, 100, 1);
    assert_eq!(limiter.tracked_keys(), 1);
}

#[test]
fn a_table_that_shrinks_holds_no_key_that_is_full_again() {
    let (limiter, clock) = limiter(per_second(2));
    for key in 0..50_000 {
        take(&limiter, key, 1);
    }
    clock.advance(2 * SECOND);
    // Each lets go of two, so the table shrinks before the last of them has gone.
    for key in 50_000..72_000 {
        limiter.try_acquire(&key).unwrap().refund();
    }
    assert_eq!(limiter.tracked_keys(), 0);
}

#[test]
fn a_clock_that_steps_back_brings_no_key_back_to_what_it_had_left() {
    let (limiter, clock) = limiter(per_second(2));
    clock.set(100 * SECOND);
    take(&limiter, 1, 2);
    clock.set(102 * SECOND);
    assert_eq!(limiter.tracked_keys(), 0);
    clock.set(101 * SECOND);
    take(&limiter, 1, 2);
    assert!(is_denied(&limiter, 1));
    for behind in [102, 101, 50, 0] {
        clock.set(behind * SECOND);
        assert!(is_denied(&limiter, 1));
        assert_eq!(limiter.tracked_keys(), 1);
    }
    clock.set(just_before(103 * SECOND + BUCKET));
    assert!(is_denied(&limiter, 1));
    clock.advance(NANOSECOND);
    take(&limiter, 1, 2);
}

#[test]
fn a_clock_that_steps_back_drops_no_key_that_has_used_something_since() {
    for round in 0..64 {
        let (limiter, clock) = limiter(per_second(1));
        let limiter = limiter.with_max_keys(1);
        clock.set(100 * SECOND);
        limiter.reset_key(&round);
        // Where the keys of some shards were seen at a later time than this, others still count.
        clock.set(98 * SECOND + SECOND / 2);
        take(&limiter, 1_000, 1);
        _ = limiter.try_acquire(&round);
        assert!(is_denied(&limiter, 1_000));
    }
}

#[test]
fn every_time_that_a_clock_can_tell_is_survived() {
    for end in [Duration::from_nanos(u64::MAX), Duration::MAX] {
        for spec in [per_second(1), LimitSpec::new(1, Duration::from_secs(100 * 31_557_600))] {
            let (limiter, clock) = limiter(spec);
            let limiter = limiter.with_max_keys(2);
            take(&limiter, 1, 1);
            clock.set(end);
            for key in 1..=3 {
                take(&limiter, key, 1);
                assert!(is_denied(&limiter, key));
            }
            clock.set(Duration::ZERO);
            for key in 1..=3 {
                assert!(is_denied(&limiter, key));
            }
            limiter.set_spec(per_second(2)).unwrap();
            assert_eq!(limiter.tracked_keys(), 2);
            limiter.reset();
            assert_eq!(limiter.tracked_keys(), 0);
        }
    }
}

#[test]
fn the_most_permits_that_there_can_be_do_not_wrap() {
    let (limiter, _, [one, two]) = with_sharing_keys(per_second(u32::MAX), 0);
    limiter.try_acquire_n(&one, u32::MAX).unwrap();
    assert!(is_denied(&limiter, two));
    let limiter = limiter.with_max_keys(usize::MAX);
    assert_eq!(limiter.remaining(&two), 0);
    assert_eq!(limiter.try_acquire_n(&two, u32::MAX).unwrap_err().reason(), Reason::Exceeded);
}

#[test]
fn a_max_of_zero_denies_every_key_and_tracks_none() {
    let (limiter, _) = limiter(per_second(0));
    for key in 0..100 {
        let denial = limiter.try_acquire(&key).unwrap_err();
        assert_eq!((denial.reason(), denial.retry_after()), (Reason::CostExceedsCapacity, None));
    }
    assert_eq!(limiter.tracked_keys(), 0);
}
