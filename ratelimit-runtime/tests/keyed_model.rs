//! `KeyedLimiter` against a plain model: for every key, the log of what it was admitted.
//!
//! A charge counts for a window at least, and for a window and a bucket at most. So whatever is admitted must fit with
//! the charges that certainly count, and whatever is denied must not fit with those that possibly do. The second holds
//! only while no key had to share a budget.

use std::{collections::BTreeSet, time::Duration};

use proptest::prelude::*;
use ratelimit_runtime::{Clock, KeyedLimiter, LimitSpec, ManualClock, Permit, Reason};

const KEYS: usize = 6;

#[derive(Clone, Debug)]
enum Step {
    Charge {
        key: usize,
        cost: u32,
    },
    /// Charges, and if that is denied, sees that the promised instant is exact.
    Insist {
        key: usize,
        cost: u32,
    },
    /// Refunds the permit that was got so many permits ago.
    Refund(usize),
    Look(usize),
    CountKeys,
    ResetKey(usize),
    Reset,
    /// Sixteenths of a window, and a few nanoseconds.
    Ahead(u32, u32),
    /// As ahead.
    Back(u32, u32),
    Change(LimitSpec),
}

#[derive(Clone, Copy, Debug)]
struct Charge {
    number: usize,
    permits: u32,
    /// It counts from an instant between these two.
    earliest: u128,
    latest: u128,
    /// It must be counted while it is in the window.
    certain: bool,
    /// Changes of the limit that it has seen.
    changes: u32,
}

struct Model {
    spec: LimitSpec,
    max_keys: usize,
    logs: [Vec<Charge>; KEYS],
    /// The latest that the clock has been.
    latest: u128,
    /// A key may have had to share a budget.
    overflowed: bool,
}

/// When something happens: between what the clock says and the latest that it has said.
#[derive(Clone, Copy)]
struct Moment {
    earliest: u128,
    latest: u128,
}

impl Model {
    fn window(&self) -> u128 {
        self.spec.window().as_nanos()
    }

    fn bucket(&self) -> u128 {
        self.window().div_ceil(self.spec.buckets().into())
    }

    fn moment(&mut self, now: Duration) -> Moment {
        self.latest = self.latest.max(now.as_nanos());
        Moment { earliest: now.as_nanos(), latest: self.latest }
    }

    /// Permits of a key that certainly count.
    fn certain(&self, key: usize, at: Moment) -> u32 {
        let counts = |charge: &&Charge| charge.certain && charge.earliest + self.window() > at.latest;
        self.logs[key].iter().filter(counts).map(|charge| charge.permits).sum()
    }

    /// Permits of a key that possibly count.
    fn possible(&self, key: usize, at: Moment) -> u32 {
        let longest = self.window() + self.bucket();
        let counts = |charge: &&Charge| charge.latest + longest > at.earliest;
        self.logs[key].iter().filter(counts).map(|charge| charge.permits).sum()
    }

    /// A call comes that needs a budget.
    fn comes(&mut self, key: usize, at: Moment) {
        let mut keys = keys_in_use(|key| self.possible(key, at));
        keys.insert(key);
        self.overflowed |= keys.len() > self.max_keys;
    }

    fn admitted(&mut self, key: usize, cost: u32, number: usize, at: Moment) {
        if cost > 0 {
            let Moment { earliest, latest } = at;
            let charge = Charge { number, permits: cost, earliest, latest, certain: true, changes: 0 };
            self.logs[key].push(charge);
            let used = self.certain(key, at);
            assert!(used <= self.spec.max(), "{used} admitted to key {key} of {}", self.spec);
        }
    }

    fn denied(&self, key: usize, cost: u32, at: Moment) {
        let used = self.possible(key, at);
        assert!(
            self.overflowed || used + cost > self.spec.max(),
            "key {key} has used {used} of {}, and was denied {cost}",
            self.spec
        );
    }

    fn refunded(&mut self, number: usize) {
        for log in &mut self.logs {
            // After a second change, a refund may find less than the charge, and never more.
            log.retain(|charge| charge.number != number || charge.changes > 1);
            log.iter_mut().filter(|charge| charge.number == number).for_each(|charge| charge.certain = false);
        }
    }

    fn reset_key(&mut self, key: usize, is_crowded: bool) {
        self.logs[key].clear();
        if is_crowded {
            // It may be a shared budget that was emptied, and others may have been charged there.
            self.logs.iter_mut().flatten().for_each(|charge| charge.certain = false);
        }
    }

    fn reset(&mut self) {
        self.logs.iter_mut().for_each(Vec::clear);
        self.overflowed = false;
    }

    /// What has aged out by the limit before stays so; of the rest, only the bucket is known.
    fn change(&mut self, spec: LimitSpec, at: Moment) {
        let (window, bucket) = (self.window(), self.bucket());
        let is_regridded = (spec.window(), spec.buckets()) != (self.spec.window(), self.spec.buckets());
        self.spec = spec;
        if !is_regridded {
            return;
        }
        for log in &mut self.logs {
            log.retain(|charge| charge.latest + window + bucket > at.earliest);
            for charge in log {
                charge.certain &= charge.earliest + window > at.latest;
                // A clock that has stepped back dates the change, and no charge is dated after that.
                charge.earliest = charge.earliest.min(at.earliest);
                charge.latest = charge.latest.max(at.latest.min(charge.latest + bucket));
                charge.changes += 1;
            }
        }
    }
}

fn keys_in_use(used: impl Fn(usize) -> u32) -> BTreeSet<usize> {
    (0..KEYS).filter(|key| used(*key) > 0).collect()
}

struct Trial<'a> {
    limiter: &'a KeyedLimiter,
    clock: &'a ManualClock,
    keys: [u32; KEYS],
    model: Model,
    permits: Vec<(usize, Permit<'a>)>,
    next_number: usize,
}

impl Trial<'_> {
    fn step(&mut self, step: &Step) {
        let at = self.model.moment(self.clock.now());
        match *step {
            Step::Charge { key, cost } => _ = self.charge(key, cost),
            Step::Insist { key, cost } => self.insist(key, cost),
            Step::Refund(ago) => {
                if let Some(index) = self.permits.len().checked_sub(ago + 1) {
                    let (number, permit) = self.permits.remove(index);
                    permit.refund();
                    self.model.refunded(number);
                }
            }
            Step::Look(key) => self.look(key, at),
            Step::CountKeys => self.count_keys(at),
            Step::ResetKey(key) => {
                let is_crowded = self.limiter.tracked_keys() >= self.model.max_keys;
                self.limiter.reset_key(&self.keys[key]);
                self.model.reset_key(key, is_crowded);
            }
            Step::Reset => {
                self.limiter.reset();
                self.model.reset();
            }
            Step::Ahead(sixteenths, more) => self.clock.advance(self.time(sixteenths, more)),
            Step::Back(sixteenths, more) => {
                self.clock.set(self.clock.now().saturating_sub(self.time(sixteenths, more)));
            }
            Step::Change(spec) => {
                self.limiter.set_spec(spec).unwrap();
                self.model.change(spec, at);
            }
        }
    }

    fn time(&self, sixteenths: u32, more: u32) -> Duration {
        self.model.spec.window() * sixteenths / 16 + Duration::from_nanos(more.into())
    }

    /// Gives the promised wait if the call is denied for now.
    fn charge(&mut self, key: usize, cost: u32) -> Option<Duration> {
        let at = self.model.moment(self.clock.now());
        if cost > 0 {
            self.model.comes(key, at);
        }
        match self.limiter.try_acquire_n(&self.keys[key], cost) {
            Ok(permit) => {
                self.model.admitted(key, cost, self.next_number, at);
                assert_eq!(permit.remaining(), self.limiter.remaining(&self.keys[key]));
                self.permits.push((self.next_number, permit));
                self.next_number += 1;
                None
            }
            Err(denial) if denial.reason() == Reason::CostExceedsCapacity => {
                assert!(cost > self.model.spec.max() && denial.retry_after().is_none());
                None
            }
            Err(denial) => {
                assert!(0 < cost && cost <= self.model.spec.max());
                self.model.denied(key, cost, at);
                denial.retry_after()
            }
        }
    }

    fn insist(&mut self, key: usize, cost: u32) {
        let Some(wait) = self.charge(key, cost) else { return };
        let nanosecond = Duration::from_nanos(1);
        self.clock.advance(wait.checked_sub(nanosecond).expect("a denial is never ready at once"));
        assert_eq!(self.charge(key, cost), Some(nanosecond));
        self.clock.advance(nanosecond);
        let permits = self.permits.len();
        assert_eq!(self.charge(key, cost), None);
        assert_eq!(self.permits.len(), permits + 1, "admitted at the promised instant");
    }

    fn look(&self, key: usize, at: Moment) {
        let used = self.limiter.used(&self.keys[key]);
        assert!(self.model.certain(key, at) <= used);
        assert!(self.model.overflowed || used <= self.model.possible(key, at));
        assert_eq!(self.limiter.remaining(&self.keys[key]), self.model.spec.max().saturating_sub(used));
    }

    fn count_keys(&self, at: Moment) {
        let tracked = self.limiter.tracked_keys();
        assert!(tracked <= self.model.max_keys);
        if !self.model.overflowed {
            let certain = keys_in_use(|key| self.model.certain(key, at));
            let possible = keys_in_use(|key| self.model.possible(key, at));
            assert!(certain.len() <= tracked && tracked <= possible.len(), "{tracked} keys are tracked");
        }
    }
}

/// Keys that share one overflow budget, and so one part of the table; or any.
fn keys(limiter: &KeyedLimiter, together: bool) -> [u32; KEYS] {
    let mut next = 0..;
    if together {
        limiter.try_acquire(&0).unwrap();
    }
    let keys = [(); KEYS].map(|()| next.find(|key| !together || limiter.used(key) > 0).unwrap());
    limiter.reset();
    keys
}

fn specs() -> impl Strategy<Value = LimitSpec> {
    let window = prop_oneof![Just(1_000_u64), Just(1_000_003), Just(1_000_000_000), 12..=100_u64];
    (1..=5_u32, window, 1..=12_u32).prop_map(|(max, window, buckets)| {
        LimitSpec::new(max, Duration::from_nanos(window)).with_buckets(buckets)
    })
}

fn steps() -> impl Strategy<Value = Step> {
    let key = || 0..KEYS;
    let cost = || prop_oneof![6 => Just(1_u32), 2 => 0..=3_u32, 1 => Just(6)];
    prop_oneof![
        20 => (key(), cost()).prop_map(|(key, cost)| Step::Charge { key, cost }),
        3 => (key(), cost()).prop_map(|(key, cost)| Step::Insist { key, cost }),
        4 => (0..8_usize).prop_map(Step::Refund),
        2 => key().prop_map(Step::Look),
        2 => Just(Step::CountKeys),
        2 => key().prop_map(Step::ResetKey),
        1 => Just(Step::Reset),
        8 => (0..=20_u32, 0..=2_u32).prop_map(|(sixteenths, more)| Step::Ahead(sixteenths, more)),
        1 => (16..=100_u32, 0..=2_u32).prop_map(|(sixteenths, more)| Step::Ahead(sixteenths, more)),
        1 => (0..=40_u32, 0..=2_u32).prop_map(|(sixteenths, more)| Step::Back(sixteenths, more)),
        1 => specs().prop_map(Step::Change),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn every_history_of_keys_agrees_with_their_logs(
        spec in specs(),
        max_keys in prop_oneof![0..=KEYS, Just(KEYS)],
        together in any::<bool>(),
        steps in prop::collection::vec(steps(), 1..150),
    ) {
        let clock = ManualClock::new();
        let limiter = KeyedLimiter::with_clock(spec, clock.clone()).unwrap().with_max_keys(0);
        let keys = keys(&limiter, together);
        let limiter = limiter.with_max_keys(max_keys);
        let logs = [const { Vec::new() }; KEYS];
        let model = Model { spec, max_keys, logs, latest: 0, overflowed: false };
        let (limiter, clock) = (&limiter, &clock);
        let mut trial = Trial { limiter, clock, keys, model, permits: Vec::new(), next_number: 0 };
        for step in &steps {
            trial.step(step);
        }
    }
}
