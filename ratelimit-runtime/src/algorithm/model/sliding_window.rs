//! Random histories of one budget, checked against two models that are written to be obvious, not fast: the mirror,
//! which must agree in every answer, and the log, which knows nothing of buckets and holds the bounds that are promised.

mod log;
mod mirror;

use std::time::Duration;

use proptest::prelude::*;
use ratelimit_spec::LimitSpec;

use self::{log::Log, mirror::Mirror};
use crate::algorithm::{Denial, END_OF_TIME, Grain, LONGEST_WINDOW, Plan, State};

#[derive(Clone, Copy, Debug)]
struct Limit {
    max: u32,
    window: u64,
    buckets: u32,
    grain: Grain,
}

impl Limit {
    fn plan(self) -> Plan {
        let spec = LimitSpec::new(self.max, Duration::from_nanos(self.window)).with_buckets(self.buckets);
        Plan::new(&spec, self.grain, 0)
    }

    fn inner_buckets(self) -> u64 {
        if self.grain == Grain::FINE {
            (u64::from(self.buckets) * 8).min(self.window)
        } else {
            u64::from(self.buckets)
        }
    }
}

#[derive(Clone, Debug)]
enum Step {
    /// Move the clock by so many nanoseconds.
    Ahead(u64),
    /// Move the clock by sixteenths of the window, and a few nanoseconds.
    Sixteenths(u8, i8),
    /// Move the clock to when a permit becomes free, and a few nanoseconds.
    ToRelease(i8),
    /// Set the clock, perhaps back.
    Set(u64),
    Back(u64),
    /// Charge a cost, made to fit eighths of what the limit has.
    Charge(u32, u8),
    /// Give back the charge made so many charges ago.
    Refund(u8),
    Change(Limit),
}

/// The budget with its two models beside it.
struct Trial {
    limit: Limit,
    plan: Plan,
    state: State,
    now: u64,
    mirror: Mirror,
    log: Log,
    /// Instant and cost of each charge not refunded, and how often the grid had changed before it.
    charges: Vec<(u64, u32, usize)>,
    changes: usize,
    /// A refund reached back beyond one change: what is in use may be more than was charged and not refunded.
    rough: bool,
}

impl Trial {
    fn new(limit: Limit) -> Self {
        let plan = limit.plan();
        Self {
            limit,
            state: plan.fresh(),
            plan,
            now: 0,
            mirror: Mirror::new(limit.window, limit.inner_buckets()),
            log: Log::new(limit.window, limit.buckets),
            charges: Vec::new(),
            changes: 0,
            rough: false,
        }
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Ahead(by) => self.now = self.now.saturating_add(by).min(END_OF_TIME),
            Step::Sixteenths(parts, offset) => {
                let by = self.limit.window / 16 * u64::from(parts);
                self.now = self.now.saturating_add(by).saturating_add_signed(offset.into()).min(END_OF_TIME);
            }
            Step::ToRelease(offset) => {
                if let Some(ready) =
                    self.plan.ready_at(&self.state, self.now, 1.min(self.limit.max), self.limit.max)
                {
                    self.now = ready.saturating_add_signed(offset.into()).min(END_OF_TIME);
                }
            }
            Step::Set(now) => self.now = now.min(END_OF_TIME),
            Step::Back(by) => self.now = self.now.saturating_sub(by),
            Step::Charge(cost, eighths) => {
                let capacity = u64::from(self.limit.max) * u64::from(eighths) / 8;
                let capacity = u32::try_from(capacity).unwrap();
                self.charge(cost % capacity.saturating_add(2), capacity);
            }
            Step::Refund(ago) => self.refund(usize::from(ago)),
            Step::Change(limit) => self.change(limit),
        }
        self.compare();
    }

    fn charge(&mut self, cost: u32, capacity: u32) {
        let promised = self.plan.ready_at(&self.state, self.now, cost, capacity);
        assert_eq!(
            promised,
            self.mirror.ready_at(self.now, cost, capacity),
            "ready_at of {cost} of {capacity}"
        );
        let answer = self.plan.charge(&mut self.state, self.now, cost, capacity);
        let at = self.mirror.pass_to(self.now);
        match answer {
            Ok(charged) => {
                assert_eq!(promised, Some(self.now));
                assert!(self.mirror.admits(cost, capacity), "admitted {cost} of {capacity}");
                self.mirror.charge(cost);
                self.log.admitted(at, cost, capacity);
                assert_eq!(charged.at, at);
                assert_eq!(charged.remaining, capacity.saturating_sub(self.mirror.used(at)));
                if cost > 0 {
                    self.charges.push((charged.at, cost, self.changes));
                }
            }
            Err(Denial::CostExceedsCapacity) => {
                assert!(cost > capacity);
                assert_eq!(promised, None);
            }
            Err(Denial::Exceeded { ready_at }) => {
                assert_eq!(promised, Some(ready_at));
                if !self.rough {
                    self.log.denied(at, cost, capacity);
                }
                self.check_promise(ready_at, cost, capacity);
            }
        }
    }

    /// Denied 1 ns before the promised instant, admitted at it.
    fn check_promise(&self, ready_at: u64, cost: u32, capacity: u32) {
        assert!(ready_at > self.now);
        let mut state = self.state.clone();
        let early = self.plan.charge(&mut state, ready_at - 1, cost, capacity);
        assert_eq!(early, Err(Denial::Exceeded { ready_at }));
        if ready_at <= END_OF_TIME {
            assert!(self.plan.charge(&mut state, ready_at, cost, capacity).is_ok());
        }
    }

    fn refund(&mut self, ago: usize) {
        let Some(index) = self.charges.len().checked_sub(ago + 1) else { return };
        let (at, cost, changes) = self.charges.remove(index);
        let given_back = self.plan.refund(&mut self.state, self.now, at, cost);
        self.mirror.pass_to(self.now);
        assert_eq!(given_back, self.mirror.refund(at, cost), "refund of {cost} charged at {at}");
        self.log.refunded(at, cost, given_back);
        // Beyond one change of the grid, a refund may find less than the charge; never does it free too much.
        if self.changes > changes + 1 {
            self.rough = true;
        }
        assert!(self.rough || given_back == cost || given_back == 0);
    }

    fn change(&mut self, limit: Limit) {
        let plan = limit.plan();
        let regridded =
            (limit.window, limit.inner_buckets()) != (self.limit.window, self.limit.inner_buckets());
        self.state = plan.convert(self.state.clone(), &self.plan, self.now);
        if regridded {
            let at = self.mirror.pass_to(self.now);
            self.mirror.change(limit.window, limit.inner_buckets());
            self.log.change(at, self.limit.inner_buckets(), limit.window, limit.buckets);
            self.changes += 1;
        } else {
            self.log.set_buckets(limit.buckets);
        }
        self.plan = plan;
        self.limit = limit;
    }

    fn compare(&self) {
        assert_eq!(self.plan.used(&self.state, self.now), self.mirror.used(self.now));
        assert_eq!(self.plan.clear_at(&self.state, self.now), self.mirror.clear_at(self.now));
    }
}

fn limits() -> impl Strategy<Value = Limit> {
    let max = prop_oneof![6 => 1..=10_u32, 2 => Just(100), 1 => Just(0), 1 => u32::MAX - 1..=u32::MAX];
    let window = prop_oneof![1..=40_u64, Just(1_000_003), Just(1_000_000_000), Just(LONGEST_WINDOW)];
    let buckets = prop_oneof![8 => 1..=12_u32, 1 => Just(1000)];
    let grain = prop_oneof![Just(Grain::FINE), Just(Grain::DECLARED)];
    (max, window, buckets, grain).prop_map(|(max, window, buckets, grain)| {
        let buckets = buckets.min(u32::try_from(window).unwrap_or(u32::MAX));
        Limit { max, window, buckets, grain }
    })
}

fn steps() -> impl Strategy<Value = Step> {
    let cost = || prop_oneof![6 => Just(1_u32), 3 => 0..=4_u32, 2 => any::<u32>()];
    let eighths = prop_oneof![5 => Just(8_u8), 1 => 0..=8_u8];
    prop_oneof![
        12 => (cost(), eighths).prop_map(|(cost, eighths)| Step::Charge(cost, eighths)),
        2 => prop_oneof![0..=3_u64, 0..=1_000_000_000_u64].prop_map(Step::Ahead),
        4 => (0..=40_u8, -2..=2_i8).prop_map(|(parts, offset)| Step::Sixteenths(parts, offset)),
        3 => (-2..=2_i8).prop_map(Step::ToRelease),
        1 => prop_oneof![any::<u64>(), END_OF_TIME - 100..=u64::MAX].prop_map(Step::Set),
        1 => prop_oneof![0..=50_u64, any::<u64>()].prop_map(Step::Back),
        2 => (0..=6_u8).prop_map(Step::Refund),
        1 => limits().prop_map(Step::Change),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn every_history_agrees_with_the_mirror_and_stays_within_the_log(
        limit in limits(),
        steps in prop::collection::vec(steps(), 1..80),
    ) {
        let mut trial = Trial::new(limit);
        for step in &steps {
            trial.step(step);
        }
    }
}
