//! Random histories of one budget, checked against models that are written to be obvious, not fast.
//!
//! The sliding window has a trial of its own, for its promise is a bound. The others promise exact answers: their models
//! remember every charge and answer each question from the whole history, and the algorithm must agree in all.

mod bucket;
mod exact;
mod fixed_window;
mod queue;
mod rule;
mod sliding_log;
mod sliding_window;

use std::time::Duration;

use proptest::prelude::*;
use ratelimit_spec::{Algorithm, LimitSpec};

use super::{Grain, LONGEST_WINDOW, Plan};

#[derive(Clone, Copy, Debug)]
struct Limit {
    algorithm: Algorithm,
    max: u32,
    window: u64,
    burst: u32,
    initial: u32,
}

impl Limit {
    fn spec(self) -> LimitSpec {
        let spec = LimitSpec::new(self.max, Duration::from_nanos(self.window)).with_algorithm(self.algorithm);
        let spec = if self.algorithm.takes_burst() { spec.with_burst(self.burst) } else { spec };
        let spec = if self.algorithm.takes_initial() { spec.with_initial(self.initial) } else { spec };
        assert_eq!(spec.validate(), Ok(()));
        spec
    }

    fn plan(self, now: u64) -> Plan {
        Plan::new(&self.spec(), Grain::DECLARED, now)
    }

    fn capacity(self) -> u32 {
        if self.max == 0 { 0 } else { self.spec().burst() }
    }
}

fn limits(algorithms: &'static [Algorithm]) -> impl Strategy<Value = Limit> {
    let max = || prop_oneof![6 => 1..=10_u32, 2 => Just(100), 1 => u32::MAX - 1..=u32::MAX];
    let rate = prop_oneof![12 => max(), 1 => Just(0)];
    let window = prop_oneof![1..=40_u64, Just(1_000_003), Just(1_000_000_000), Just(LONGEST_WINDOW)];
    let algorithm = prop::sample::select(algorithms);
    (algorithm, rate, window, max(), 0..=8_u64).prop_map(|(algorithm, max, window, burst, eighths)| {
        let initial = u32::try_from(u64::from(burst) * eighths / 8).unwrap();
        Limit { algorithm, max, window, burst, initial }
    })
}
