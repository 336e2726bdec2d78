//! Programs of joining, leaving, refunding and changing, in step with the model.

use std::{sync::Arc, task::Poll, time::Duration};

use proptest::prelude::*;
use ratelimit_spec::{Algorithm, LimitSpec, Mode};

use super::{
    model::{Charges, Model, Outlook},
    world::{Caller, Status, claims, limit, terms},
};
use crate::{ManualClock, Permit, RateLimited, denied::Reason, limit::Limit, store::decide};

const WINDOW: u64 = 1000;
const MAX_WAITERS: usize = 6;

#[derive(Clone, Debug)]
enum Step<const N: usize> {
    Wait {
        costs: [u32; N],
        at_most: Option<u64>,
        frozen: bool,
    },
    Try {
        costs: [u32; N],
    },
    Leave(usize),
    Poll(usize),
    Refund(usize),
    Reset(usize),
    SetSpec {
        limit: usize,
        spec: LimitSpec,
    },
    Switch {
        limit: usize,
        on: bool,
    },
    Advance(u64),
    /// To the instant, or 1 ns before it, at which a call of these costs would be admitted behind all others.
    AdvanceUntil {
        costs: [u32; N],
        before: u64,
    },
}

/// In a stack, when a queue's turns come depends on the lines beside it, and when a window begins on which limit is the
/// first to be given back.
fn algorithms(lines: usize) -> impl Strategy<Value = Algorithm> {
    let alone = [Algorithm::LeakyBucket, Algorithm::FixedWindow];
    let fits = |algorithm: &Algorithm| lines == 1 || !alone.contains(algorithm);
    prop::sample::select(Algorithm::ALL.into_iter().filter(fits).collect::<Vec<_>>())
}

fn spec(algorithm: Algorithm, max: u32, window: u64, buckets: u32) -> LimitSpec {
    let spec = LimitSpec::new(max, Duration::from_nanos(window)).with_algorithm(algorithm);
    if algorithm.takes_buckets() { spec.with_buckets(buckets) } else { spec }
}

fn step<const N: usize>() -> impl Strategy<Value = Step<N>> {
    let costs = || prop::array::uniform::<_, N>(prop_oneof![2 => 0..1_u32, 4 => 1..3_u32, 1 => 3..7_u32]);
    let bound = prop_oneof![2 => Just(None), 3 => (0..3 * WINDOW).prop_map(Some)];
    prop_oneof![
        10 => (costs(), bound, prop::bool::weighted(0.3))
            .prop_map(|(costs, at_most, frozen)| Step::Wait { costs, at_most, frozen }),
        4 => costs().prop_map(|costs| Step::Try { costs }),
        4 => (0..8_usize).prop_map(Step::Leave),
        2 => (0..8_usize).prop_map(Step::Poll),
        3 => (0..8_usize).prop_map(Step::Refund),
        1 => (0..N).prop_map(Step::Reset),
        2 => (0..N, algorithms(N), 0..7_u32, 40..2 * WINDOW, 1..5_u32).prop_map(
            |(limit, algorithm, max, window, buckets)| {
                Step::SetSpec { limit, spec: spec(algorithm, max, window, buckets) }
            }
        ),
        1 => (0..N, any::<bool>()).prop_map(|(limit, on)| Step::Switch { limit, on }),
        4 => (0..WINDOW / 2).prop_map(Step::Advance),
        1 => (0..5 * WINDOW).prop_map(Step::Advance),
        5 => (costs(), 0..2_u64).prop_map(|(costs, before)| Step::AdvanceUntil { costs, before }),
    ]
}

struct Run<'a, const N: usize> {
    limits: &'a [Arc<Limit>; N],
    clock: &'a ManualClock,
    now: u64,
    next_id: usize,
    callers: Vec<Caller<'a, N>>,
    /// What calls were granted that have not heard of it yet.
    granted: Vec<(usize, Charges<N>)>,
    permits: Vec<(Permit<'a>, Charges<N>)>,
    model: Model<N>,
}

impl<const N: usize> Run<'_, N> {
    fn step(&mut self, step: &Step<N>) {
        match *step {
            Step::Wait { costs, at_most, frozen } => self.wait(costs, at_most, frozen),
            Step::Try { costs } => self.try_once(costs),
            Step::Leave(number) => self.leave(number),
            Step::Poll(number) => {
                if let Some(index) = number.checked_rem(self.callers.len())
                    && !self.callers[index].frozen
                {
                    self.poll(index);
                }
            }
            Step::Refund(number) => {
                if let Some(index) = number.checked_rem(self.permits.len()) {
                    let (permit, charges) = self.permits.swap_remove(index);
                    permit.refund();
                    self.model.refund(&charges, self.now);
                }
            }
            Step::Reset(number) => {
                self.limits[number].reset();
                self.model.reset(number);
            }
            Step::SetSpec { limit: number, spec } => {
                self.model.set_spec(number, spec, &self.limits[number].budgets, self.now);
                self.limits[number].set_spec(spec).unwrap();
                self.nobody_waits_in_vain_for(number);
            }
            Step::Switch { limit: number, on } => {
                self.limits[number].set_mode(if on { Mode::Enforce } else { Mode::Off });
                self.model.enforce(number, on);
            }
            Step::Advance(by) => self.advance(by),
            Step::AdvanceUntil { costs, before } => {
                let comer = self.model.call(usize::MAX, costs, None, None);
                if let (_, Outlook::At(at)) = self.model.forecast(self.now, comer) {
                    self.advance((at - self.now).saturating_sub(before));
                }
            }
        }
        self.settle();
    }

    fn advance(&mut self, by: u64) {
        self.now += by;
        self.clock.advance(Duration::from_nanos(by));
    }

    fn wait(&mut self, costs: [u32; N], at_most: Option<u64>, frozen: bool) {
        let id = self.next_id;
        self.next_id += 1;
        let call = self.model.call(id, costs, Some(self.now), at_most.map(|at_most| self.now + at_most));
        let waits_at: Vec<usize> = (0..N).filter(|number| costs[*number] > 0).collect();
        let (_, outlook) = self.model.forecast(self.now, call.clone());

        let terms = terms(at_most.map(Duration::from_nanos), MAX_WAITERS);
        let mut caller = Caller::new(id, claims(self.limits, costs), terms, frozen);
        let polled = caller.poll();
        // Who comes moves on the others first.
        self.follow();
        match polled {
            Poll::Ready(Ok(permit)) => {
                assert_eq!(outlook, Outlook::At(self.now), "admitted at once");
                self.model.calls.push(call);
                let (admitted, charges) = self.model.move_on(self.now).pop().expect("admitted by the model");
                assert_eq!(admitted, id);
                self.permits.push((permit, charges));
            }
            Poll::Ready(Err(limited)) => match limited.reason() {
                Reason::CostExceedsCapacity => {
                    assert!(self.model.can_never_be_admitted(&call));
                    assert_eq!(limited.retry_after(), None);
                }
                Reason::WaitTooLong => {
                    self.expect_retry_after(&limited, &outlook);
                    let Outlook::At(at) = outlook else { panic!("a time can be given") };
                    assert!(call.deadline.is_some_and(|deadline| at > deadline), "it is right to refuse");
                }
                Reason::QueueFull => {
                    self.expect_retry_after(&limited, &outlook);
                    let full = |number: &usize| self.model.queue_at(*number) >= MAX_WAITERS;
                    assert!(waits_at.iter().any(full), "there is a line that is full");
                }
                Reason::Exceeded => {
                    let joins_at = self.model.joins_at(&call, self.now);
                    assert!(joins_at > self.now, "there is room in the queue");
                    self.expect_retry_after(&limited, &Outlook::At(joins_at));
                }
                other => panic!("{other:?}"),
            },
            Poll::Pending => {
                assert_eq!(self.model.joins_at(&call, self.now), self.now, "there is no room in the queue");
                let Outlook::At(at) = outlook else { panic!("waits, and can never be admitted") };
                // That nobody waits who could be admitted is compared when the world is settled.
                assert!(call.deadline.is_none_or(|deadline| at <= deadline), "waits in vain");
                assert!(waits_at.iter().all(|number| self.model.queue_at(*number) < MAX_WAITERS));
                self.model.calls.push(call);
                self.callers.push(caller);
            }
        }
    }

    fn try_once(&mut self, costs: [u32; N]) {
        let call = self.model.call(self.next_id, costs, None, None);
        self.next_id += 1;
        let (_, outlook) = self.model.forecast(self.now, call.clone());
        let mut claims = claims(self.limits, costs);
        let decision = decide(&mut claims);
        self.follow();
        match decision {
            Ok(()) => {
                assert_eq!(outlook, Outlook::At(self.now), "admitted, and nobody was passed");
                self.model.calls.push(call);
                let (_, charges) = self.model.move_on(self.now).pop().expect("admitted by the model");
                self.permits.push((Permit::of(&claims), charges));
            }
            Err(limited) if limited.reason() == Reason::CostExceedsCapacity => {
                assert!(self.model.can_never_be_admitted(&call));
                assert_eq!(limited.retry_after(), None);
            }
            Err(limited) => {
                assert_eq!(limited.reason(), Reason::Exceeded);
                self.expect_retry_after(&limited, &outlook);
            }
        }
    }

    fn expect_retry_after(&self, limited: &RateLimited, outlook: &Outlook) {
        let Outlook::At(at) = *outlook else { panic!("denied for a while, and can never be admitted") };
        assert!(at > self.now);
        assert_eq!(limited.retry_after(), Some(Duration::from_nanos(at - self.now)));
    }

    fn leave(&mut self, number: usize) {
        let Some(index) = number.checked_rem(self.callers.len()) else { return };
        let id = self.callers.swap_remove(index).id;
        self.model.leave(id);
        if let Some(index) = self.granted.iter().position(|(granted, _)| *granted == id) {
            let (_, charges) = self.granted.swap_remove(index);
            self.model.undo(&charges, self.now);
        }
    }

    /// Polls those who have been woken until nobody is, and compares.
    fn settle(&mut self) {
        self.follow();
        while let Some(index) = self.callers.iter().position(|caller| caller.is_woken() && !caller.frozen) {
            self.poll(index);
            self.follow();
        }
        for caller in &self.callers {
            assert!(caller.frozen || caller.status() == Status::Waits, "who is served is woken");
        }
        for (number, limit) in self.limits.iter().enumerate() {
            assert_eq!(limit.used(&crate::key::Key::NONE), self.model.used(number, self.now));
        }
        let timed_out = |deadline: Option<u64>| deadline.is_some_and(|deadline| deadline <= self.now);
        assert!(self.model.calls.iter().all(|call| !timed_out(call.deadline)), "nobody waits too long");
    }

    fn poll(&mut self, index: usize) {
        let polled = self.callers[index].poll();
        if let Poll::Ready(decided) = polled {
            let id = self.callers.swap_remove(index).id;
            self.model.leave(id);
            if let Some(granted) = self.granted.iter().position(|(granted, _)| *granted == id) {
                let (_, charges) = self.granted.swap_remove(granted);
                self.permits.push((decided.expect("it was granted"), charges));
            } else {
                let limited = decided.expect_err("it was not granted");
                assert_ne!(limited.reason(), Reason::Exceeded);
            }
        }
    }

    /// Has the model do what must have happened, and compares with what has.
    fn follow(&mut self) {
        let denied: Vec<usize> = self
            .callers
            .iter()
            .filter(|caller| matches!(caller.status(), Status::Denied(_)))
            .map(|caller| caller.id)
            .collect();
        let in_vain = self.in_vain();
        for id in denied {
            let open = self.model.calls.iter().any(|call| call.id == id);
            assert!(!open || in_vain.contains(&id), "denied, and could have been admitted in time");
            self.model.leave(id);
        }
        let granted = self.model.move_on(self.now);
        self.granted.extend(granted);
        for caller in &self.callers {
            let granted = self.granted.iter().any(|(id, _)| *id == caller.id);
            assert_eq!(caller.status() == Status::Granted, granted, "served in turn: {}", caller.id);
        }
    }

    fn in_vain(&self) -> Vec<usize> {
        let nobody = self.model.call(usize::MAX, [0; N], None, None);
        self.model.forecast(self.now, nobody).0
    }

    fn nobody_waits_in_vain_for(&self, number: usize) {
        let in_vain = self.in_vain();
        let waits_there = |id| self.model.calls.iter().any(|call| call.id == id && call.waits_at(number));
        for caller in self.callers.iter().filter(|caller| waits_there(caller.id)) {
            let waits = caller.status() == Status::Waits;
            assert!(!waits || !in_vain.contains(&caller.id), "refused as soon as it is known");
        }
    }
}

fn run<const N: usize>(keyed: [bool; N], specs: [LimitSpec; N], steps: &[Step<N>]) {
    let clock = ManualClock::new();
    let limits: [Arc<Limit>; N] = std::array::from_fn(|number| limit(specs[number], &clock, keyed[number]));
    let kinds = std::array::from_fn(|number| &limits[number].budgets);
    let mut run = Run {
        limits: &limits,
        clock: &clock,
        now: 0,
        next_id: 0,
        callers: Vec::new(),
        granted: Vec::new(),
        permits: Vec::new(),
        model: Model::new(specs, kinds),
    };
    for step in steps {
        run.step(step);
    }
    drop(run);
    for limit in &limits {
        assert_eq!(Arc::strong_count(limit), 1, "nothing of it is left in the room");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn one_line_is_served_as_the_model_says(
        keyed in any::<bool>(),
        (algorithm, max) in (algorithms(1), 1..6_u32),
        steps in prop::collection::vec(step::<1>(), 1..60),
    ) {
        run([keyed], [spec(algorithm, max, WINDOW, 3)], &steps);
    }

    #[test]
    fn the_lines_of_stacks_are_served_as_the_model_says(
        keyed in prop::array::uniform3(any::<bool>()),
        limits in prop::array::uniform3((algorithms(3), 1..6_u32)),
        steps in prop::collection::vec(step::<3>(), 1..60),
    ) {
        run(keyed, limits.map(|(algorithm, max)| spec(algorithm, max, WINDOW, 3)), &steps);
    }
}
