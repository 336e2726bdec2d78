//! Random histories: the store answers as this process would.

use std::{cell::Cell, time::Duration};

use proptest::{prelude::*, test_runner::TestRunner};
use ratelimit_runtime::{Algorithm, KeyedLimiter, LimitSpec, ManualClock, StoreVerdict};

use super::{Budget, on_every_server};

#[derive(Clone, Debug)]
enum Step {
    Pass(u64),
    Charge(u32),
    /// The permit of the charge so many admissions ago.
    Refund(usize),
    Look,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => (0..40_u64).prop_map(Step::Pass),
        2 => (0..150_000_u64).prop_map(Step::Pass),
        8 => (0..5_u32).prop_map(Step::Charge),
        1 => (0..3_usize).prop_map(Step::Refund),
        1 => Just(Step::Look),
    ];
    prop::collection::vec(step, 1..60)
}

fn specs() -> impl Strategy<Value = LimitSpec> {
    let algorithm = prop::sample::select(&Algorithm::ALL[..]);
    // Windows that the buckets divide into whole microseconds, so that both count in the same ones.
    let window = prop::sample::select(&[100_000_u64, 120_000, 1_200_000][..]);
    (algorithm, window, 1..12_u32, 1..12_u32, prop::sample::select(&[1_u32, 4, 10][..])).prop_map(
        |(algorithm, window, max, burst, buckets)| {
            let spec = LimitSpec::new(max, Duration::from_micros(window)).with_algorithm(algorithm);
            match algorithm {
                Algorithm::SlidingWindow => spec.with_buckets(buckets),
                Algorithm::FixedWindow | Algorithm::SlidingLog => spec,
                Algorithm::TokenBucket | Algorithm::LeakyBucket | Algorithm::Gcra => spec.with_burst(burst),
            }
        },
    )
}

#[test]
fn every_history_is_answered_as_in_process() {
    on_every_server(|connection| {
        let number = Cell::new(0);
        let connection = std::cell::RefCell::new(connection);
        let mut runner = TestRunner::new(ProptestConfig { cases: 150, ..ProptestConfig::default() });
        runner
            .run(&(specs(), steps()), |(spec, steps)| {
                number.set(number.get() + 1);
                let mut connection = connection.borrow_mut();
                let mut budget = Budget::new(&mut connection, &format!("history {}", number.get()));
                agrees(&mut budget, spec, &steps);
                Ok(())
            })
            .unwrap();
    });
}

/// So that charges have to make room for one another, in their slots.
#[test]
fn a_long_history_is_answered_as_in_process() {
    let step = prop_oneof![
        12 => (0..900_u64).prop_map(Step::Pass),
        20 => (1..4_u32).prop_map(Step::Charge),
        1 => (30..90_u32).prop_map(Step::Charge),
        4 => (0..40_usize).prop_map(Step::Refund),
        // Now and then most of them age at once.
        1 => prop::sample::select(&[30_000, 90_000][..]).prop_map(Step::Pass),
    ];
    let max = prop::sample::select(&[20_u32, 300][..]);
    let charges = prop::sample::select(&[Algorithm::SlidingWindow, Algorithm::SlidingLog][..]);
    on_every_server(|connection| {
        let number = Cell::new(0);
        let connection = std::cell::RefCell::new(connection);
        let mut runner = TestRunner::new(ProptestConfig { cases: 12, ..ProptestConfig::default() });
        let histories = (charges.clone(), max.clone(), prop::collection::vec(step.clone(), 500..800));
        runner
            .run(&histories, |(algorithm, max, steps)| {
                number.set(number.get() + 1);
                let window = Duration::from_millis(100);
                let spec = LimitSpec::new(max, window).with_algorithm(algorithm);
                let spec = if algorithm == Algorithm::SlidingWindow { spec.with_buckets(50) } else { spec };
                let mut connection = connection.borrow_mut();
                let mut budget = Budget::new(&mut connection, &format!("long {}", number.get()));
                agrees(&mut budget, spec, &steps);
                // A head, and no more slots than a few times what can count.
                let slots = if algorithm == Algorithm::SlidingWindow { 50 } else { max as usize };
                let length: usize = redis::cmd("STRLEN").arg(&budget.key).query(budget.connection).unwrap();
                assert!(length <= 97 + 16 * (slots + slots / 2 + 10), "{spec}: {length}");
                Ok(())
            })
            .unwrap();
    });
}

fn agrees(budget: &mut Budget<'_>, spec: LimitSpec, steps: &[Step]) {
    let clock = ManualClock::new();
    let limiter = KeyedLimiter::with_clock(spec, clock.clone()).unwrap();
    let mut permits = Vec::new();
    for step in steps {
        match *step {
            Step::Pass(micros) => {
                clock.advance(Duration::from_micros(micros));
                budget.now += micros;
            }
            Step::Look => {
                assert_eq!(budget.look(spec).used, limiter.used(&()), "used of {spec} at {}", budget.now);
            }
            Step::Charge(cost) if cost > spec.burst() => {}
            Step::Charge(cost) => match (limiter.try_acquire_n(&(), cost), budget.charge(spec, cost)) {
                (Ok(permit), StoreVerdict::Admitted { remaining, receipt }) => {
                    assert_eq!(permit.remaining(), remaining, "left of {spec} at {}", budget.now);
                    permits.push((permit, cost, receipt));
                }
                (Err(denial), StoreVerdict::Denied { remaining, retry_after }) => {
                    assert_eq!(denial.remaining(), remaining, "left of {spec} at {}", budget.now);
                    // This process counts nanoseconds, the store whole microseconds.
                    let exact = denial.retry_after().unwrap().as_nanos().div_ceil(1000);
                    assert_eq!(retry_after.as_micros(), exact, "retry of {spec} at {}", budget.now);
                }
                (here, there) => panic!("{spec} at {}: {here:?} here, {there:?} there", budget.now),
            },
            Step::Refund(back) => {
                let Some(number) = permits.len().checked_sub(back + 1) else { continue };
                let (permit, cost, receipt) = permits.remove(number);
                permit.refund();
                if cost > 0 {
                    budget.refund(spec, cost, receipt);
                }
            }
        }
    }
}
