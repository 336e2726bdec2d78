//! The trial of the algorithms whose every answer is exact.

use proptest::prelude::*;
use ratelimit_spec::Algorithm;

use super::{
    Limit,
    bucket::Bucket,
    fixed_window::FixedWindow,
    limits,
    rule::{Charge, History, Model},
    sliding_log::SlidingLog,
};
use crate::algorithm::{Denial, END_OF_TIME, Grain, Plan, State};

fn model(limit: Limit, at: u64, history: History) -> Box<dyn Model> {
    match limit.algorithm {
        Algorithm::FixedWindow => Box::new(FixedWindow::new(limit.window, at, history)),
        Algorithm::SlidingLog => Box::new(SlidingLog::new(limit.window, at, history)),
        _ => Box::new(Bucket::new(limit.max, limit.window, at, history)),
    }
}

fn new_model(limit: Limit, at: u64) -> Box<dyn Model> {
    let mut model = model(limit, 0, History::Charges { list: Vec::new(), began: None });
    if limit.algorithm == Algorithm::TokenBucket {
        model.charge(at, limit.burst - limit.initial);
    }
    model
}

#[derive(Clone, Debug)]
enum Step {
    Ahead(u64),
    /// By sixteenths of the window, and a few nanoseconds.
    Sixteenths(u8, i8),
    /// To when so many permits have room, and a few nanoseconds.
    ToRelease(u32, i8),
    Set(u64),
    Back(u64),
    /// A cost, made to fit eighths of what the limit has.
    Charge(u32, u8),
    /// Of the charge made so many charges ago, or as if it had not been made.
    Refund(u8, bool),
    Change(Limit),
}

struct Trial {
    limit: Limit,
    plan: Plan,
    state: State,
    model: Box<dyn Model>,
    /// The model of a budget that nobody uses.
    untouched: Box<dyn Model>,
    untouched_since: u64,
    now: u64,
    latest: u64,
    charges: Vec<Charge>,
    changed_at: Option<u64>,
    /// When a change last ended a window. Charges up to then are lost to refunds.
    ended_at: Option<u64>,
}

impl Trial {
    fn new(limit: Limit, now: u64) -> Self {
        let plan = limit.plan(now);
        // Only a bucket that began to refill then knows when that was.
        let latest = if limit.algorithm == Algorithm::TokenBucket { now } else { 0 };
        Self {
            limit,
            state: plan.fresh(),
            plan,
            model: new_model(limit, now),
            untouched: new_model(limit, now),
            untouched_since: latest,
            now,
            latest,
            charges: Vec::new(),
            changed_at: None,
            ended_at: None,
        }
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Ahead(by) => self.now = self.now.saturating_add(by).min(END_OF_TIME),
            Step::Sixteenths(parts, offset) => {
                let by = self.limit.window / 16 * u64::from(parts);
                self.now = self.now.saturating_add(by).saturating_add_signed(offset.into()).min(END_OF_TIME);
            }
            Step::ToRelease(permits, offset) => {
                let capacity = self.limit.capacity();
                let ready = self.plan.ready_at(&self.state, self.now, permits.min(capacity), capacity);
                if let Some(ready) = ready {
                    self.now = ready.saturating_add_signed(offset.into()).min(END_OF_TIME);
                }
            }
            Step::Set(now) => self.now = now.min(END_OF_TIME),
            Step::Back(by) => self.now = self.now.saturating_sub(by),
            Step::Charge(cost, eighths) => {
                let capacity = u64::from(self.limit.capacity()) * u64::from(eighths) / 8;
                let capacity = u32::try_from(capacity).unwrap();
                self.charge(cost % capacity.saturating_add(2), capacity);
            }
            Step::Refund(ago, undone) => self.refund(usize::from(ago), undone),
            Step::Change(limit) => self.change(limit),
        }
        self.compare();
    }

    /// The time as it counts for what is seen only now.
    fn at(&self) -> u64 {
        self.latest.max(self.now)
    }

    fn charge(&mut self, cost: u32, capacity: u32) {
        let promised = self.plan.ready_at(&self.state, self.now, cost, capacity);
        let at = self.at();
        let expected = match cost {
            0 => Some(at),
            _ if cost > capacity => None,
            _ => self.model.ready_at(at, cost, capacity),
        };
        let as_expected =
            if expected == Some(at) { promised == Some(self.now) } else { promised == expected };
        assert!(as_expected, "{cost} of {capacity} promised for {promised:?}, not {expected:?}");
        let answer = self.plan.charge(&mut self.state, self.now, cost, capacity);
        self.latest = at;
        match answer {
            Ok(charged) => {
                assert_eq!(expected, Some(at), "admitted {cost} of {capacity}");
                let clear_at = self.clear_without(at);
                self.model.charge(at, cost);
                assert_eq!(charged.at, at);
                assert_eq!(charged.remaining, capacity.saturating_sub(self.model.used(at)));
                if cost > 0 {
                    assert_eq!(charged.trace.clear_at, clear_at);
                    let (number, given_back) = self.model.count();
                    self.charges.push(Charge {
                        at,
                        cost,
                        clear_at,
                        number,
                        given_back,
                        trace: charged.trace,
                    });
                }
            }
            Err(Denial::CostExceedsCapacity) => assert_eq!(expected, None),
            Err(Denial::Exceeded { ready_at }) => {
                assert_eq!(expected, Some(ready_at));
                self.check_promise(ready_at, cost, capacity);
            }
        }
    }

    /// Rounded down, where what is in use flows off; the instant of the charge, where it does not.
    fn clear_without(&self, at: u64) -> u64 {
        match self.model.history(at) {
            History::Charges { .. } => at,
            History::Amount(drops, _) => {
                let time = drops.checked_div(self.limit.max.into()).unwrap_or(u128::MAX);
                u64::try_from(u128::from(at).saturating_add(time)).unwrap_or(u64::MAX)
            }
        }
    }

    /// Denied 1 ns before the promised instant, admitted at it.
    fn check_promise(&self, ready_at: u64, cost: u32, capacity: u32) {
        assert!(ready_at > self.at());
        if ready_at > END_OF_TIME {
            return;
        }
        let mut state = self.state.clone();
        let early = self.plan.charge(&mut state, ready_at - 1, cost, capacity);
        assert_eq!(early, Err(Denial::Exceeded { ready_at }));
        assert!(self.plan.charge(&mut state, ready_at, cost, capacity).is_ok());
    }

    fn refund(&mut self, ago: usize, undone: bool) {
        let Some(index) = self.charges.len().checked_sub(ago + 1) else { return };
        let charge = self.charges.remove(index);
        let Charge { at, cost, trace, .. } = charge;
        // Beyond a change, an undo is a refund.
        let exactly = undone && self.changed_at.is_none_or(|changed_at| at > changed_at);
        let given_back = if undone {
            self.plan.undo(&mut self.state, self.now, at, &trace, cost)
        } else {
            self.plan.refund(&mut self.state, self.now, at, cost)
        };
        self.latest = self.at();
        let expected = match self.ended_at {
            Some(ended_at) if at <= ended_at => 0,
            _ => self.model.refund(self.latest, &charge, exactly),
        };
        assert_eq!(given_back, expected, "refund of {charge:?}");
    }

    fn change(&mut self, limit: Limit) {
        let plan = self.plan.changed(&limit.spec(), Grain::DECLARED, self.now);
        self.state = plan.convert(self.state.clone(), &self.plan, self.now);
        let at = self.at();
        let was_used = self.model.used(at) > 0;
        self.model = model(limit, at, self.model.history(at));
        let fixed = [self.limit, limit].iter().all(|limit| limit.algorithm == Algorithm::FixedWindow);
        if fixed && was_used && self.model.used(at) == 0 {
            self.ended_at = Some(at);
        }
        if limit.algorithm == Algorithm::TokenBucket {
            self.untouched_since = self.untouched_since.max(self.now);
            let history = self.untouched.history(self.untouched_since);
            self.untouched = model(limit, self.untouched_since, history);
        } else {
            (self.untouched, self.untouched_since) = (new_model(limit, at), 0);
        }
        (self.plan, self.limit, self.latest, self.changed_at) = (plan, limit, at, Some(at));
    }

    fn compare(&self) {
        let at = self.at();
        assert_eq!(self.plan.used(&self.state, self.now), self.model.used(at));
        let capacity = self.limit.capacity();
        let now = if self.model.clear_at(at) == at || self.is_as_untouched(at) {
            self.now
        } else {
            self.model.clear_at(at)
        };
        assert_eq!(self.plan.clear_at(&self.state, self.now), now);
        assert_eq!(self.plan.ready_at(&self.state, self.now, 0, capacity), Some(self.now));
    }

    fn is_as_untouched(&self, at: u64) -> bool {
        match (self.model.history(at), self.untouched.history(at)) {
            (History::Amount(drops, _), History::Amount(untouched, _)) => drops <= untouched,
            _ => false,
        }
    }
}

const EXACT: &[Algorithm] = &[
    Algorithm::FixedWindow,
    Algorithm::SlidingLog,
    Algorithm::TokenBucket,
    Algorithm::LeakyBucket,
    Algorithm::Gcra,
];

fn steps() -> impl Strategy<Value = Step> {
    let cost = || prop_oneof![6 => Just(1_u32), 3 => 0..=4_u32, 2 => any::<u32>()];
    let eighths = prop_oneof![5 => Just(8_u8), 1 => 0..=8_u8];
    prop_oneof![
        12 => (cost(), eighths).prop_map(|(cost, eighths)| Step::Charge(cost, eighths)),
        2 => prop_oneof![0..=3_u64, 0..=1_000_000_000_u64].prop_map(Step::Ahead),
        4 => (0..=40_u8, -2..=2_i8).prop_map(|(parts, offset)| Step::Sixteenths(parts, offset)),
        3 => (1..=3_u32, -2..=2_i8).prop_map(|(permits, offset)| Step::ToRelease(permits, offset)),
        1 => prop_oneof![any::<u64>(), END_OF_TIME - 100..=u64::MAX].prop_map(Step::Set),
        1 => prop_oneof![0..=50_u64, any::<u64>()].prop_map(Step::Back),
        3 => (0..=6_u8, any::<bool>()).prop_map(|(ago, undone)| Step::Refund(ago, undone)),
        1 => limits(EXACT).prop_map(Step::Change),
    ]
}

fn births() -> impl Strategy<Value = u64> {
    prop_oneof![4 => Just(0), 1 => 0..=1_000_000_u64, 1 => 0..=END_OF_TIME]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]

    #[test]
    fn every_history_is_answered_as_the_rule_reads(
        limit in limits(EXACT),
        born_at in births(),
        steps in prop::collection::vec(steps(), 1..60),
    ) {
        let mut trial = Trial::new(limit, born_at);
        for step in &steps {
            trial.step(step);
        }
    }
}
