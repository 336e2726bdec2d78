//! What a limiter with one budget decides.

use std::time::Duration;

use ratelimit_runtime::{Algorithm, Clock, LimitSpec, Limiter, ManualClock, RateLimited, Reason};

const NANOSECOND: Duration = Duration::from_nanos(1);
const SECOND: Duration = Duration::from_secs(1);
const YEAR: Duration = Duration::from_secs(31_557_600);
const CENTURY: Duration = Duration::from_secs(100 * 31_557_600);

fn limiter(spec: LimitSpec) -> (Limiter, ManualClock) {
    let clock = ManualClock::new();
    (Limiter::with_clock(spec, clock.clone()).unwrap(), clock)
}

/// `max` a second, in ten buckets.
fn per_second(max: u32) -> LimitSpec {
    LimitSpec::new(max, SECOND).with_buckets(10)
}

fn just_before(time: Duration) -> Duration {
    time.saturating_sub(NANOSECOND)
}

fn take(limiter: &Limiter, times: u32) {
    for time in 1..=times {
        assert!(limiter.try_acquire().is_ok(), "the {time}. of {times} is admitted");
    }
}

/// Moves the clock to the instant that the denial names, and sees that it is the first at which the call is admitted.
fn comes_back(limiter: &Limiter, clock: &ManualClock, denial: &RateLimited, cost: u32) {
    assert_eq!(denial.reason(), Reason::Exceeded);
    let retry_after = denial.retry_after().unwrap();
    clock.advance(just_before(retry_after));
    let early = limiter.try_acquire_n(cost).unwrap_err();
    assert_eq!(early.retry_after(), Some(NANOSECOND));
    clock.advance(NANOSECOND);
    limiter.try_acquire_n(cost).unwrap();
}

#[test]
fn admits_max_calls_and_denies_the_next() {
    let (limiter, _) = limiter(per_second(3));
    for left in [2, 1, 0] {
        assert_eq!(limiter.try_acquire().unwrap().remaining(), left);
        assert_eq!((limiter.remaining(), limiter.used()), (left, 3 - left));
    }
    let denial = limiter.try_acquire().unwrap_err();
    assert_eq!(denial.reason(), Reason::Exceeded);
    assert_eq!(denial.remaining(), 0);
    assert_eq!(*denial.limit(), per_second(3));
    assert_eq!(denial.name(), "limiter");
}

#[test]
fn a_denial_carries_the_name_that_was_given() {
    let limiter = Limiter::new(per_second(0)).unwrap().with_name("login");
    assert_eq!(limiter.try_acquire().unwrap_err().name(), "login");
}

#[test]
fn denies_until_exactly_the_promised_instant() {
    let (limiter, clock) = limiter(per_second(2));
    clock.set(Duration::from_nanos(123_456_789));
    take(&limiter, 1);
    clock.advance(Duration::from_millis(456));
    take(&limiter, 1);
    for _ in 0..20 {
        let denial = limiter.try_acquire().unwrap_err();
        comes_back(&limiter, &clock, &denial, 1);
        clock.advance(Duration::from_nanos(12_345_678));
    }
}

#[test]
fn a_charge_is_released_after_a_window_and_at_most_a_bucket() {
    let bucket = SECOND / 10;
    for start in [0, 1, 99_999_999, 100_000_000, 123_456_789, 999_999_999, u64::from(u32::MAX)] {
        let (limiter, clock) = limiter(per_second(1));
        clock.set(Duration::from_nanos(start));
        take(&limiter, 1);
        let retry_after = limiter.try_acquire().unwrap_err().retry_after().unwrap();
        assert!(SECOND <= retry_after && retry_after <= SECOND + bucket, "{retry_after:?} from {start}");
    }
}

#[test]
fn a_full_window_around_the_edge_of_another_is_not_admitted() {
    let (limiter, clock) = limiter(per_second(100));
    clock.set(Duration::from_millis(99));
    take(&limiter, 100);
    clock.set(SECOND);
    assert!(limiter.try_acquire().is_err());
}

#[test]
fn denied_calls_are_not_counted() {
    let (limiter, clock) = limiter(per_second(1));
    take(&limiter, 1);
    let denial = limiter.try_acquire().unwrap_err();
    for _ in 0..1_000 {
        clock.advance(Duration::from_micros(10));
        limiter.try_acquire().unwrap_err();
        limiter.try_acquire_n(2).unwrap_err();
    }
    assert_eq!(limiter.used(), 1);
    clock.set(denial.retry_after().unwrap());
    take(&limiter, 1);
}

#[test]
fn a_cost_is_charged_wholly_or_not_at_all() {
    let (limiter, clock) = limiter(per_second(10));
    assert_eq!(limiter.try_acquire_n(7).unwrap().remaining(), 3);
    let denial = limiter.try_acquire_n(4).unwrap_err();
    assert_eq!(denial.remaining(), 3);
    assert_eq!(limiter.used(), 7);
    assert_eq!(limiter.try_acquire_n(3).unwrap().remaining(), 0);
    comes_back(&limiter, &clock, &denial, 4);
}

#[test]
fn a_costly_call_waits_for_as_many_releases_as_it_needs() {
    let (limiter, clock) = limiter(per_second(3));
    for _ in 0..3 {
        take(&limiter, 1);
        clock.advance(SECOND / 10);
    }
    let [one, two, three] =
        [1, 2, 3].map(|cost| limiter.try_acquire_n(cost).unwrap_err().retry_after().unwrap());
    assert_eq!((two, three), (one + SECOND / 10, two + SECOND / 10));
    let denial = limiter.try_acquire_n(3).unwrap_err();
    comes_back(&limiter, &clock, &denial, 3);
}

#[test]
fn a_cost_of_zero_only_looks() {
    let (limiter, _) = limiter(per_second(1));
    assert_eq!(limiter.try_acquire_n(0).unwrap().remaining(), 1);
    take(&limiter, 1);
    let permit = limiter.try_acquire_n(0).unwrap();
    assert_eq!(permit.remaining(), 0);
    permit.refund();
    assert_eq!(limiter.used(), 1);
    limiter.set_spec(per_second(0)).unwrap();
    assert_eq!(limiter.try_acquire_n(0).unwrap().remaining(), 0);
}

#[test]
fn a_cost_over_capacity_is_told_so_at_once() {
    let (limiter, _) = limiter(per_second(3));
    take(&limiter, 3);
    for cost in [4, u32::MAX] {
        let denial = limiter.try_acquire_n(cost).unwrap_err();
        assert_eq!(denial.reason(), Reason::CostExceedsCapacity);
        assert_eq!(denial.retry_after(), None);
    }
}

#[test]
fn a_max_of_zero_denies_for_good() {
    let (limiter, clock) = limiter(per_second(0));
    for _ in 0..3 {
        let denial = limiter.try_acquire().unwrap_err();
        assert_eq!((denial.reason(), denial.retry_after()), (Reason::CostExceedsCapacity, None));
        clock.advance(YEAR);
    }
    assert_eq!((limiter.used(), limiter.remaining()), (0, 0));
}

#[test]
fn a_refund_gives_back_the_whole_charge() {
    let (limiter, _) = limiter(per_second(5));
    take(&limiter, 1);
    let permit = limiter.try_acquire_n(4).unwrap();
    assert!(limiter.try_acquire().is_err());
    permit.refund();
    assert_eq!((limiter.used(), limiter.remaining()), (1, 4));
    take(&limiter, 4);
    assert!(limiter.try_acquire().is_err());
}

#[test]
fn a_dropped_permit_keeps_its_charge() {
    let (limiter, _) = limiter(per_second(1));
    drop(limiter.try_acquire().unwrap());
    assert!(limiter.try_acquire().is_err());
}

#[test]
fn a_refund_of_an_aged_charge_gives_back_nothing() {
    let (limiter, clock) = limiter(per_second(2));
    let aged = limiter.try_acquire_n(2).unwrap();
    clock.advance(limiter.try_acquire().unwrap_err().retry_after().unwrap());
    take(&limiter, 2);
    aged.refund();
    assert_eq!(limiter.used(), 2);
    assert!(limiter.try_acquire().is_err());
}

#[test]
fn a_refund_frees_its_own_charge_and_no_other() {
    let (limiter, clock) = limiter(per_second(2));
    let first = limiter.try_acquire().unwrap();
    clock.advance(SECOND / 2);
    take(&limiter, 1);
    first.refund();
    take(&limiter, 1);
    // Nothing is released when the first would have been: only a window after the other two.
    let denial = limiter.try_acquire().unwrap_err();
    assert!(denial.retry_after().unwrap() >= SECOND);
    comes_back(&limiter, &clock, &denial, 2);
}

#[test]
fn a_refund_of_a_charge_made_before_a_reset_gives_back_nothing() {
    let (limiter, _) = limiter(per_second(2));
    let before = limiter.try_acquire_n(2).unwrap();
    limiter.reset();
    take(&limiter, 2);
    before.refund();
    assert_eq!(limiter.used(), 2);
    assert!(limiter.try_acquire().is_err());
}

#[test]
fn a_refund_finds_its_charge_after_a_change_of_the_limit() {
    for spec in [per_second(9), per_second(4).with_buckets(3), LimitSpec::new(4, 7 * SECOND)] {
        let (limiter, clock) = limiter(per_second(4));
        let permit = limiter.try_acquire_n(3).unwrap();
        clock.advance(SECOND / 3);
        take(&limiter, 1);
        limiter.set_spec(spec).unwrap();
        permit.refund();
        assert_eq!(limiter.used(), 1, "under {spec}");
    }
}

#[test]
fn reset_forgets_every_charge() {
    let (limiter, _) = limiter(per_second(3));
    take(&limiter, 3);
    limiter.reset();
    assert_eq!((limiter.used(), limiter.remaining()), (0, 3));
    take(&limiter, 3);
    assert!(limiter.try_acquire().is_err());
}

#[test]
fn raising_max_admits_at_once_and_keeps_what_was_used() {
    let (limiter, _) = limiter(per_second(2));
    take(&limiter, 2);
    limiter.set_spec(per_second(5)).unwrap();
    assert_eq!((limiter.used(), limiter.remaining()), (2, 3));
    take(&limiter, 3);
    let denial = limiter.try_acquire().unwrap_err();
    assert_eq!(*denial.limit(), per_second(5));
    assert_eq!(limiter.spec(), per_second(5));
}

#[test]
fn lowering_max_below_what_is_used_denies_until_that_has_aged() {
    let (limiter, clock) = limiter(per_second(3));
    for _ in 0..3 {
        take(&limiter, 1);
        clock.advance(SECOND / 10);
    }
    limiter.set_spec(per_second(1)).unwrap();
    assert_eq!((limiter.used(), limiter.remaining()), (3, 0));
    let denial = limiter.try_acquire().unwrap_err();
    assert_eq!(denial.remaining(), 0);
    comes_back(&limiter, &clock, &denial, 1);
}

#[test]
fn a_longer_window_holds_what_was_used_for_longer() {
    let (limiter, clock) = limiter(per_second(1));
    take(&limiter, 1);
    clock.advance(SECOND / 2);
    limiter.set_spec(LimitSpec::new(1, 60 * SECOND)).unwrap();
    let denial = limiter.try_acquire().unwrap_err();
    let since_the_charge = denial.retry_after().unwrap() + SECOND / 2;
    // A bucket of the old limit for where the charge was, and one of the new.
    assert!(60 * SECOND <= since_the_charge && since_the_charge <= 61 * SECOND + SECOND / 10);
    comes_back(&limiter, &clock, &denial, 1);
}

#[test]
fn a_shorter_window_releases_what_is_older_than_it() {
    let (limiter, clock) = limiter(LimitSpec::new(2, 60 * SECOND));
    take(&limiter, 1);
    clock.advance(30 * SECOND);
    take(&limiter, 1);
    limiter.set_spec(per_second(2)).unwrap();
    take(&limiter, 1);
    assert_eq!(limiter.used(), 2);
    let denial = limiter.try_acquire().unwrap_err();
    comes_back(&limiter, &clock, &denial, 2);
}

#[test]
fn no_change_of_buckets_forgets_a_charge() {
    let (limiter, clock) = limiter(per_second(1));
    take(&limiter, 1);
    for buckets in [1, 1000, 3, 7, 1000, 1, 10] {
        clock.advance(SECOND / 10);
        limiter.set_spec(per_second(1).with_buckets(buckets)).unwrap();
        assert_eq!(limiter.used(), 1, "with {buckets} buckets");
        assert!(limiter.try_acquire().is_err());
    }
}

#[test]
fn a_limit_that_breaks_a_rule_is_refused_and_changes_nothing() {
    let (limiter, _) = limiter(per_second(1));
    take(&limiter, 1);
    let broken = [
        LimitSpec::new(1, Duration::ZERO),
        LimitSpec::new(1, CENTURY + NANOSECOND),
        LimitSpec::new(1, Duration::MAX),
        LimitSpec::new(1, Duration::from_nanos(9)).with_buckets(10),
        per_second(1).with_buckets(0),
        per_second(1).with_buckets(1001),
        per_second(1).with_burst(1),
        per_second(1).with_initial(1),
    ];
    for spec in broken {
        limiter.set_spec(spec).unwrap_err();
        Limiter::new(spec).unwrap_err();
        assert_eq!((limiter.spec(), limiter.used()), (per_second(1), 1));
    }
}

#[test]
fn a_clock_that_steps_back_admits_no_more_than_max() {
    for back in [NANOSECOND, SECOND / 20, SECOND, 30 * SECOND, 100 * SECOND] {
        let (limiter, clock) = limiter(per_second(2));
        clock.set(100 * SECOND);
        take(&limiter, 1);
        clock.set((100 * SECOND).saturating_sub(back));
        take(&limiter, 1);
        assert!(limiter.try_acquire().is_err());
        assert_eq!((limiter.used(), limiter.remaining()), (2, 0));
    }
}

#[test]
fn a_clock_that_has_caught_up_admits_as_if_it_had_never_stepped() {
    let (limiter, clock) = limiter(per_second(1));
    clock.set(100 * SECOND);
    take(&limiter, 1);
    let promised = 100 * SECOND + limiter.try_acquire().unwrap_err().retry_after().unwrap();
    for back in 0..100 {
        clock.set(back * SECOND);
        let denial = limiter.try_acquire().unwrap_err();
        assert_eq!(clock.now() + denial.retry_after().unwrap(), promised);
    }
    let denial = limiter.try_acquire().unwrap_err();
    comes_back(&limiter, &clock, &denial, 1);
}

#[test]
fn a_refund_works_while_the_clock_is_behind() {
    let (limiter, clock) = limiter(per_second(1));
    clock.set(100 * SECOND);
    let permit = limiter.try_acquire().unwrap();
    clock.set(SECOND);
    permit.refund();
    let permit = limiter.try_acquire().unwrap();
    clock.set(Duration::ZERO);
    permit.refund();
    assert_eq!(limiter.used(), 0);
}

#[test]
fn a_clock_that_counts_from_long_ago_is_as_good_as_any() {
    let edge = Duration::from_nanos(u64::MAX);
    for start in [
        YEAR * 100,
        YEAR * 400,
        YEAR * 2026,
        edge.saturating_sub(SECOND),
        edge,
        edge + SECOND,
        Duration::MAX.saturating_sub(10 * SECOND),
    ] {
        let clock = ManualClock::new();
        let early = Limiter::with_clock(LimitSpec::new(3, SECOND), clock.clone()).unwrap();
        early.try_acquire().unwrap();
        clock.set(start);
        let late = Limiter::with_clock(LimitSpec::new(3, SECOND), clock.clone()).unwrap();
        for limiter in [&early, &late] {
            limiter.try_acquire_n(3).unwrap();
            limiter.try_acquire().unwrap_err();
        }
        let wait = late.try_acquire().unwrap_err().retry_after().unwrap();
        clock.set((start + wait).saturating_sub(Duration::from_nanos(1)));
        late.try_acquire().unwrap_err();
        clock.set(start + wait);
        late.try_acquire().unwrap();
        clock.set(start + 2 * SECOND);
        early.try_acquire_n(3).unwrap();
    }
}

#[test]
fn a_limiter_idle_for_years_is_right_at_the_first_call() {
    for idle in [YEAR, 10 * YEAR, 150 * YEAR, 300 * YEAR] {
        for spec in [per_second(2), LimitSpec::new(2, Duration::from_micros(1)).with_buckets(1000)] {
            let (limiter, clock) = limiter(spec);
            take(&limiter, 2);
            clock.advance(idle);
            assert_eq!(limiter.used(), 0);
            take(&limiter, 2);
            let denial = limiter.try_acquire().unwrap_err();
            comes_back(&limiter, &clock, &denial, 2);
        }
    }
}

#[test]
fn the_longest_and_the_shortest_window_are_exact() {
    let shortest = Duration::from_micros(1);
    for (window, buckets) in [(CENTURY, 1), (CENTURY, 1000), (shortest, 1000), (NANOSECOND, 1)] {
        let (limiter, clock) = limiter(LimitSpec::new(3, window).with_buckets(buckets));
        clock.set(YEAR + 7 * NANOSECOND);
        take(&limiter, 3);
        let denial = limiter.try_acquire().unwrap_err();
        let retry_after = denial.retry_after().unwrap();
        assert!(window <= retry_after && retry_after <= window + window / buckets + NANOSECOND);
        comes_back(&limiter, &clock, &denial, 3);
    }
}

#[test]
fn the_most_permits_that_there_can_be_do_not_wrap() {
    let (limiter, clock) = limiter(per_second(u32::MAX));
    assert_eq!(limiter.try_acquire_n(u32::MAX - 1).unwrap().remaining(), 1);
    let denial = limiter.try_acquire_n(u32::MAX).unwrap_err();
    assert_eq!(denial.reason(), Reason::Exceeded);
    take(&limiter, 1);
    assert_eq!((limiter.used(), limiter.remaining()), (u32::MAX, 0));
    let full = limiter.try_acquire().unwrap_err();
    comes_back(&limiter, &clock, &full, u32::MAX);
    assert_eq!(limiter.used(), u32::MAX);
}

#[test]
fn every_time_that_a_clock_can_tell_is_survived() {
    let ends = [
        Duration::from_nanos(u64::MAX),
        Duration::from_nanos(u64::MAX) + NANOSECOND,
        Duration::from_nanos(u64::MAX - 1),
        Duration::from_secs(u64::MAX),
        Duration::MAX,
        just_before(Duration::MAX),
    ];
    for spec in [per_second(2), LimitSpec::new(2, CENTURY), LimitSpec::new(2, NANOSECOND).with_buckets(1)] {
        for end in ends {
            let (limiter, clock) = limiter(spec);
            take(&limiter, 1);
            clock.set(end);
            take(&limiter, 2);
            assert!(limiter.try_acquire().is_err());
            clock.set(Duration::ZERO);
            let denial = limiter.try_acquire().unwrap_err();
            assert!(denial.retry_after().is_some());
            assert_eq!(limiter.used(), 2);
            limiter.set_spec(LimitSpec::new(2, SECOND)).unwrap();
            assert_eq!(limiter.used(), 2);
            limiter.reset();
            take(&limiter, 2);
        }
    }
}

#[test]
fn every_algorithm_admits_max_at_once_and_no_more() {
    for algorithm in Algorithm::ALL {
        let spec = LimitSpec::new(2, SECOND).with_algorithm(algorithm);
        let limiter = Limiter::with_clock(spec, ManualClock::new()).unwrap();
        take(&limiter, 2);
        assert!(limiter.try_acquire().is_err(), "{algorithm} admits two at once, and no more");
    }
}

#[test]
fn a_limiter_without_a_clock_of_its_own_goes_by_real_time() {
    let limiter = Limiter::new(LimitSpec::new(1, CENTURY)).unwrap();
    take(&limiter, 1);
    let retry_after = limiter.try_acquire().unwrap_err().retry_after().unwrap();
    assert!(CENTURY <= retry_after + SECOND, "{retry_after:?}");
}
