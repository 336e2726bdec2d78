use std::time::Duration;

use ratelimit_spec::{Algorithm, LimitSpec};

use super::{Grain, Lag};
use crate::algorithm::{Denial, LONGEST_WINDOW, Plan, State};

const MS: u64 = 1_000_000;
const SECOND: u64 = 1000 * MS;
const LAG: u64 = 8_400_000;

fn lag_of(grain: Grain, window: u64, declared: u32) -> Lag {
    grain.with_lag(LAG).grid(window, declared).1
}

/// One that every decision may allow for.
const ALLOWED: Lag = Lag { by: LAG, doubtful: false };

/// One that a denial may not.
const DOUBTFUL: Lag = Lag { by: LAG, doubtful: true };

#[test]
fn windows_of_less_than_a_hundred_lags_have_no_use_for_a_coarse_clock() {
    for grain in [Grain::FINE, Grain::DECLARED] {
        for buckets in [1, 10, 20, 60] {
            assert_eq!(lag_of(grain, 20_371_000, buckets), Lag::NONE);
            assert_eq!(lag_of(grain, 100 * LAG - 1, buckets), Lag::NONE);
            assert_eq!(lag_of(grain, 60 * SECOND, buckets), ALLOWED);
        }
    }
    assert_eq!(lag_of(Grain::FINE, 100 * LAG, 10), ALLOWED);
    assert_eq!(lag_of(Grain::DECLARED, SECOND, 10), ALLOWED);
    assert_eq!(lag_of(Grain::DECLARED, SECOND, 20), ALLOWED);
}

#[test]
fn buckets_so_fine_that_a_release_would_be_seen_late_leave_denials_in_doubt() {
    for buckets in [100, 1000, 100_000] {
        assert_eq!(lag_of(Grain::DECLARED, SECOND, buckets), DOUBTFUL);
    }
    assert_eq!(lag_of(Grain::FINE, SECOND, 1000), DOUBTFUL);
    assert_eq!((ALLOWED.doubt(), ALLOWED.delay()), (0, LAG));
    assert_eq!((DOUBTFUL.doubt(), DOUBTFUL.delay()), (LAG, 0));
    for lag in [Lag::NONE, ALLOWED, DOUBTFUL] {
        assert_eq!(Lag::of_word(lag.to_word()), lag);
    }
}

#[test]
fn a_charge_counts_a_window_at_least_and_a_bucket_and_a_hundredth_more_at_most() {
    for window in [840, 1000, 1007, 1500, 2000, 10_000, 61_001].map(|ms| ms * MS + 1) {
        for declared in [1, 3, 7, 10, 20, 50, 60, 480, 1000] {
            for fineness in [1, 8] {
                let (grid, lag) = Grain { fineness, lag: LAG }.grid(window, declared);
                if lag == Lag::NONE {
                    continue;
                }
                assert!(grid.buckets() >= declared * fineness && grid.buckets() <= declared * fineness * 2);
                for charged in [0, 1, 17 * SECOND + 3] {
                    let bucket = grid.bucket_at(charged);
                    let released = grid.start(bucket + u64::from(grid.buckets()) + 1);
                    assert!(released > grid.last_of_bucket(charged) + window + LAG - 1);
                    let overtime = window / u64::from(declared) + window / 100;
                    let seen = released + lag.delay();
                    assert!(seen - grid.start(bucket) <= window + overtime, "{window} {declared}");
                }
            }
        }
    }
}

#[test]
fn the_buckets_of_a_coarse_clock_are_all_alike() {
    let (grid, _) = Grain::FINE.with_lag(LAG).grid(SECOND, 7);
    let width = grid.start(1);
    assert!((0..1000).all(|bucket| grid.start(bucket) == bucket * width));
}

#[test]
fn the_longest_window_stays_within_the_numbers() {
    let longest = LONGEST_WINDOW;
    assert_eq!(lag_of(Grain::FINE, longest, 1), ALLOWED);
    assert_eq!(lag_of(Grain::DECLARED, longest, u32::MAX), Lag::NONE);
}

// A limit that is changed.

/// Ten buckets of 100.84 ms, eleven while it is decided by the coarse clock.
fn coarse() -> Plan {
    Plan::new(&spec(), Grain::DECLARED.with_lag(LAG), 0)
}

/// Buckets of 1 ms.
fn precise() -> Plan {
    Plan::new(&spec().with_buckets(1000), Grain::DECLARED, 0)
}

fn spec() -> LimitSpec {
    LimitSpec::new(1, Duration::from_secs(1)).with_buckets(10)
}

fn used_up(plan: &Plan, at: u64) -> State {
    let mut state = plan.fresh();
    assert!(plan.charge(&mut state, at, 1, 1).is_ok());
    state
}

/// When the one charge is released.
fn released_at(plan: &Plan, state: &mut State, now: u64) -> u64 {
    match plan.charge(state, now, 1, 1) {
        Err(Denial::Exceeded { ready_at }) => ready_at,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_plans_are_what_the_tests_take_them_for() {
    assert_eq!((coarse().lag(), precise().lag()), (ALLOWED, Lag::NONE));
    let (grid, _) = Grain::DECLARED.with_lag(LAG).grid(SECOND, 10);
    assert_eq!(grid.buckets(), 11);
    for algorithm in Algorithm::ALL.into_iter().filter(|&other| other != Algorithm::SlidingWindow) {
        assert_eq!(
            Plan::new(&spec().with_algorithm(algorithm), Grain::FINE.with_lag(LAG), 0).lag(),
            Lag::NONE
        );
    }
}

#[test]
fn a_charge_dated_by_a_lagging_clock_counts_from_when_it_may_have_been_made() {
    let (old, new) = (coarse(), precise());
    let last_of_bucket = (SECOND + LAG).div_ceil(11) - 1;
    let mut state = new.convert(used_up(&old, 0), &old, 500 * MS);
    let released = released_at(&new, &mut state, 500 * MS);
    assert!(released > last_of_bucket + LAG + SECOND && released <= last_of_bucket + LAG + SECOND + MS);
}

#[test]
fn a_charge_of_just_now_counts_from_the_change() {
    let (old, new) = (coarse(), precise());
    let mut state = new.convert(used_up(&old, 0), &old, LAG / 2);
    assert_eq!(released_at(&new, &mut state, LAG / 2), SECOND + 5 * MS);
}

#[test]
fn a_log_takes_over_when_each_charge_may_have_been_made() {
    let old = coarse();
    let log = Plan::new(&spec().with_algorithm(Algorithm::SlidingLog), Grain::DECLARED, 0);
    let last_of_bucket = (SECOND + LAG).div_ceil(11) - 1;
    let mut state = log.convert(used_up(&old, 0), &old, 500 * MS);
    assert_eq!(released_at(&log, &mut state, 500 * MS), last_of_bucket + LAG + SECOND);
}

#[test]
fn between_plans_that_allow_for_the_lag_a_charge_is_not_moved_by_it() {
    let old = coarse();
    let other = spec().with_buckets(11);
    let new = Plan::new(&other, Grain::FINE.with_lag(LAG), 0);
    assert_eq!(new.lag(), ALLOWED);
    let state = used_up(&old, 0);
    let before = old.clear_at(&state, 500 * MS);
    let mut state = new.convert(state, &old, 500 * MS);
    let width = (SECOND + LAG).div_ceil(88);
    let released = released_at(&new, &mut state, 500 * MS);
    assert!(released.abs_diff(before) <= width, "{released} {before}");
}

#[test]
fn a_charge_dated_precisely_counts_for_a_window_and_the_lag_of_the_clock_that_is_read_now() {
    let (old, new) = (precise(), coarse());
    let mut state = new.convert(used_up(&old, 0), &old, 500 * MS);
    let width = (SECOND + LAG).div_ceil(11);
    assert_eq!(released_at(&new, &mut state, 500 * MS), 12 * width);
}

#[test]
fn a_refund_finds_its_charge_after_the_clock_has_changed() {
    let (old, new) = (coarse(), precise());
    let mut state = old.fresh();
    let charged = old.charge(&mut state, 150 * MS, 1, 1).unwrap();
    let mut state = new.convert(state, &old, 400 * MS);
    assert_eq!(new.refund(&mut state, 400 * MS, charged.at, 1), 1);
    assert_eq!(new.used(&state, 400 * MS), 0);
}

/// Without looking, they would be taken for one another.
#[test]
fn buckets_that_happen_to_be_alike_are_not_kept_if_only_one_allows_for_the_lag() {
    let old = coarse();
    let span = (SECOND + LAG).next_multiple_of(11);
    let alike = LimitSpec::new(1, Duration::from_nanos(span)).with_buckets(11);
    let new = Plan::new(&alike, Grain::DECLARED, 0);
    let mut state = new.convert(used_up(&old, 0), &old, 500 * MS);
    assert!(released_at(&new, &mut state, 500 * MS) > span + LAG);
}
