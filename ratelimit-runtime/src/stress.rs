//! Many threads at one limiter, with yields injected where it matters who comes first.
//!
//! Threads pour calls at a limiter whose clock stands still, in rounds; then the clock moves on, and the next round
//! begins. In every round they must be admitted exactly as often as one thread would be that asks as often.

use std::{
    cell::Cell,
    sync::{
        Barrier,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};

use crate::{Clock, KeyedLimiter, LimitSpec, Limiter, ManualClock};

const THREADS: usize = 8;
const ROUNDS: u32 = 200;

/// More calls than are ever admitted in a round.
const CALLS: u32 = 24;

/// One turn in four goes to another thread. See [`race_point`](crate::sync::race_point).
pub(crate) fn let_others_run() {
    thread_local! {
        static RANDOM: Cell<u32> = const { Cell::new(0) };
    }
    static SEED: AtomicU32 = AtomicU32::new(0x9E37_79B9);
    // Only the threads of these tests take part: others would only get slower.
    if thread::current().name() != Some(STRESSED) {
        return;
    }
    let mut random = RANDOM.get();
    if random == 0 {
        random = SEED.fetch_add(0x6D2B_79F5, Relaxed) | 1;
    }
    random ^= random << 13;
    random ^= random >> 17;
    random ^= random << 5;
    RANDOM.set(random);
    if random.is_multiple_of(4) {
        thread::yield_now();
    }
}

const STRESSED: &str = "stressed";

/// What threads and one alone are compared at.
trait Subject: Sync {
    fn on(spec: LimitSpec, clock: ManualClock) -> Self;
    /// Whether one call is admitted, and if so whether it is given back.
    fn call(&self, cost: u32, refund: bool) -> bool;
    fn used(&self) -> u32;
    fn set_spec(&self, spec: LimitSpec);
}

impl Subject for Limiter {
    fn on(spec: LimitSpec, clock: ManualClock) -> Self {
        Self::with_clock(spec, clock).unwrap()
    }

    fn call(&self, cost: u32, refund: bool) -> bool {
        let permit = self.try_acquire_n(cost);
        let admitted = permit.is_ok();
        if refund {
            _ = permit.map(crate::Permit::refund);
        }
        admitted
    }

    fn used(&self) -> u32 {
        self.used()
    }

    fn set_spec(&self, spec: LimitSpec) {
        self.set_spec(spec).unwrap();
    }
}

impl Subject for KeyedLimiter {
    fn on(spec: LimitSpec, clock: ManualClock) -> Self {
        Self::with_clock(spec, clock).unwrap()
    }

    fn call(&self, cost: u32, refund: bool) -> bool {
        let permit = self.try_acquire_n("key", cost);
        let admitted = permit.is_ok();
        if refund {
            _ = permit.map(crate::Permit::refund);
        }
        admitted
    }

    fn used(&self) -> u32 {
        self.used("key")
    }

    fn set_spec(&self, spec: LimitSpec) {
        self.set_spec(spec).unwrap();
    }
}

/// How far the clock moves before a round: by parts of the window, whole windows, and not at all.
fn step(round: u32) -> Duration {
    Duration::from_micros([0, 130, 1, 999, 500, 1_000, 37, 2_500][round as usize % 8])
}

/// Runs `act` in all threads at once, `ROUNDS` times; before each round, `between` runs alone.
fn in_rounds(act: impl Fn() + Sync, between: impl Fn(u32)) {
    for round in 0..ROUNDS {
        between(round);
        let start = Barrier::new(THREADS);
        thread::scope(|scope| {
            for _ in 0..THREADS {
                let stressed = || {
                    start.wait();
                    act();
                };
                thread::Builder::new().name(STRESSED.into()).spawn_scoped(scope, stressed).unwrap();
            }
        });
    }
}

/// Calls of cost 1 are admitted exactly as often as if one thread had made them all.
fn agrees_with_one_thread<S: Subject>(spec: &str) {
    let spec: LimitSpec = spec.parse().unwrap();
    let clock = ManualClock::new();
    let (together, alone) = (S::on(spec, clock.clone()), S::on(spec, clock.clone()));
    let admitted = AtomicU32::new(0);
    let compare = |round: u32| {
        let calls = CALLS * u32::try_from(THREADS).unwrap();
        let expected = (0..calls).filter(|_| round > 0 && alone.call(1, false)).count();
        let admitted = admitted.swap(0, Relaxed);
        assert_eq!(admitted as usize, expected, "{spec}, before round {round}, at {:?}", clock.now());
        assert_eq!(together.used(), alone.used(), "{spec}, before round {round}");
        clock.advance(step(round));
    };
    let pour = || {
        let mine = (0..CALLS).filter(|_| together.call(1, false)).count();
        admitted.fetch_add(u32::try_from(mine).unwrap(), Relaxed);
    };
    in_rounds(pour, compare);
}

/// With costs, refunds and changed limits mixed in, what is in use never exceeds the limit, and it is all free in the end.
fn keeps_the_bound_through_everything<S: Subject>(spec: &str) {
    let spec: LimitSpec = spec.parse().unwrap();
    let clock = ManualClock::new();
    let limiter = S::on(spec, clock.clone());
    let calls = AtomicU32::new(0);
    let anything = || {
        for _ in 0..CALLS {
            let call = calls.fetch_add(1, Relaxed);
            limiter.call(1 + call % 3, call.is_multiple_of(5));
            if call.is_multiple_of(997) {
                limiter.set_spec(spec);
            }
            let used = limiter.used();
            assert!(used <= spec.burst().max(spec.max()), "{spec}: {used} in use");
        }
    };
    in_rounds(anything, |round| clock.advance(step(round)));
    clock.advance(Duration::from_secs(60));
    assert_eq!(limiter.used(), 0, "{spec}");
}

macro_rules! stress {
    ($($algorithm:ident: $spec:literal),* $(,)?) => {
        $(
            mod $algorithm {
                use super::*;

                #[test]
                fn many_threads_are_admitted_as_often_as_one() {
                    agrees_with_one_thread::<Limiter>($spec);
                    agrees_with_one_thread::<KeyedLimiter>($spec);
                }

                #[test]
                fn the_bound_holds_through_costs_refunds_and_changes() {
                    keeps_the_bound_through_everything::<Limiter>($spec);
                    keeps_the_bound_through_everything::<KeyedLimiter>($spec);
                }
            }
        )*
    };
}

stress! {
    sliding_window: "50/1ms buckets=10",
    fixed_window: "50/1ms algorithm=fixed_window",
    sliding_log: "50/1ms algorithm=sliding_log",
    token_bucket: "50/1ms algorithm=token_bucket burst=40",
    leaky_bucket: "50/1ms algorithm=leaky_bucket burst=40",
    gcra: "50/1ms algorithm=gcra burst=40",
}
