//! What a table decides about a key, packed or not, is what a budget by itself would.

use proptest::prelude::*;

use super::*;
use crate::{LimitSpec, algorithm::Grain, budget::Cause, clock::nanos};
use std::time::Duration;

const MILLISECOND: u64 = 1_000_000;

/// One thing that happens.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// A call of a cost, as a share of what there is.
    Call(u8, bool),
    /// The given one of the calls that were admitted is given back.
    Refund(u8),
    /// Time goes on, by parts of a bucket, or of a window.
    Bucket(u8),
    Window(u8),
    /// The clock steps back.
    Back(u8),
    /// Another limit.
    Change(u8),
    /// A line is opened and closed.
    Line,
    Reset,
    /// Others come and go.
    Others(u8),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => (1..4_u8, any::<bool>()).prop_map(|(cost, share)| Step::Call(cost, share)),
        2 => any::<u8>().prop_map(Step::Refund),
        6 => any::<u8>().prop_map(Step::Bucket),
        2 => any::<u8>().prop_map(Step::Window),
        1 => any::<u8>().prop_map(Step::Back),
        1 => any::<u8>().prop_map(Step::Change),
        1 => Just(Step::Line),
        1 => Just(Step::Reset),
        1 => any::<u8>().prop_map(Step::Others),
    ]
}

struct World {
    table: Table,
    rules: Arc<Rules>,
    budget: Budget,
    now: u64,
    latest: u64,
    /// With how often the limit had been changed before.
    charges: Vec<(Charge, Charge, u32)>,
    changes: u32,
    key: Key,
    others: u32,
    calls: u32,
}

impl World {
    fn new(spec: LimitSpec, key: Key, start: u64) -> Self {
        let rules = |now| Rules::new(spec, Grain::DECLARED, now);
        Self {
            table: Table::new(rules(start), 1000),
            budget: Budget::new(rules(start).plan.fresh(), 1),
            rules: Arc::new(rules(start)),
            now: start,
            latest: 0,
            charges: Vec::new(),
            changes: 0,
            key,
            others: 0,
            calls: 0,
        }
    }

    fn bucket(&self) -> u64 {
        nanos(self.rules.spec.window()) / u64::from(self.rules.spec.buckets())
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Call(cost, share) => {
                self.latest = self.latest.max(self.now);
                let share = if share { 0.7 } else { 1.0 };
                self.call(&Demand { share, ..Demand::new(u32::from(cost)) });
            }
            Step::Refund(which) if !self.charges.is_empty() => {
                self.latest = self.latest.max(self.now);
                let which = usize::from(which) % self.charges.len();
                let (packed, alone, _) = self.charges.swap_remove(which);
                let at = |rules: &Rules, now, budget: &mut Budget| budget.refund(rules, now, &packed).permits;
                let refunded = self.table.at(packed.place, self.now, at).unwrap_or(0);
                let expected = self.budget.refund(&self.rules, self.latest, &alone).permits;
                assert_eq!(refunded, expected);
            }
            Step::Refund(_) => {}
            Step::Bucket(parts) => self.now += self.bucket() * u64::from(parts) / 100,
            Step::Window(parts) => self.now += nanos(self.rules.spec.window()) * u64::from(parts) / 100,
            Step::Back(parts) => self.now = self.now.saturating_sub(self.bucket() * u64::from(parts) / 10),
            Step::Change(by) => {
                self.latest = self.latest.max(self.now);
                let (max, buckets) = (self.rules.spec.max(), self.rules.spec.buckets());
                let spec = match by % 4 {
                    0 => self.rules.spec.with_max(max.saturating_mul(300)),
                    1 => self.rules.spec.with_max(max / 2 + 1),
                    2 => LimitSpec::new(max, self.rules.spec.window()).with_buckets(buckets + 1),
                    _ => LimitSpec::new(max, self.rules.spec.window() * 2).with_buckets(buckets),
                };
                // Taking without the lock, it may not have told anybody the latest time.
                self.table.tracked_keys(self.latest);
                self.table.hold(true);
                let changed = Arc::new(self.rules.changed(spec, Grain::DECLARED, self.now));
                self.table.set_rules(&changed, self.now);
                self.budget.convert(&changed, &self.rules, self.latest);
                self.rules = changed;
                self.table.hold(false);
                // Where a charge is after two changes of its buckets depends on when in its bucket it was made, and a table
                // that counts without the lock does not know that: one of the two may find nothing to give back.
                self.changes += 1;
                self.charges.retain(|(_, _, made)| made + 1 >= self.changes);
            }
            Step::Line => {
                self.latest = self.latest.max(self.now);
                let place = self.table.open_line(&self.key, self.now);
                let refused = self.table.charge(&self.key, self.now, &Demand::new(1));
                assert!(refused.is_err());
                self.table.at(place, self.now, |_, _, budget| budget.set_queued(false));
            }
            Step::Reset => {
                self.latest = self.latest.max(self.now);
                self.table.reset_key(&self.key, self.now);
                self.budget.renew(&self.rules);
            }
            Step::Others(count) => {
                for _ in 0..count {
                    self.others += 1;
                    let other = Key::of(&("other", self.others));
                    _ = self.table.charge(&other, self.now, &Demand::new(1));
                }
                // Lets go of keys, and so tells all shards the time.
                self.table.tracked_keys(self.now);
                self.latest = self.latest.max(self.now);
            }
        }
        let used = self.table.look(&self.key, self.now, |rules, state, now| rules.plan.used(state, now));
        assert_eq!(used, self.rules.plan.used(self.budget.state(), self.latest.max(self.now)));
    }

    fn take_one(&mut self) -> Take<()> {
        let counters = Counters::default();
        self.calls += 1;
        match self.table.take_if_plain(&self.key, self.now) {
            Take::Ask if self.calls.is_multiple_of(2) => {
                self.table.take_under_lock(self.table.hash(&self.key), &self.key, self.now, &counters)
            }
            taken => taken,
        }
    }

    fn call(&mut self, demand: &Demand) {
        // As `take` does it, every other time with its second half, then as `charge` does.
        let taken = demand.is_for_one_permit().then(|| self.take_one());
        let alone = self.budget.charge(&self.rules, self.latest, Place::Own(self.key), demand);
        match (taken, alone) {
            (Some(Take::Taken(())), alone) => assert!(alone.is_ok(), "taken without the lock"),
            (Some(Take::Denied { ready_at }), alone) => {
                assert_eq!(alone.unwrap_err().cause, Cause::Exceeded { ready_at });
            }
            (_, alone) => match (self.table.charge(&self.key, self.now, demand), alone) {
                (Ok(charge), Ok(alone)) => {
                    assert_eq!(charge.remaining, alone.remaining);
                    self.charges.push((charge, alone, self.changes));
                }
                (Err(refusal), Err(alone)) => assert_eq!(refusal.cause, alone.cause),
                (decided, alone) => panic!("{decided:?} is not {alone:?}"),
            },
        }
    }
}

fn key() -> impl Strategy<Value = Key> {
    prop_oneof![Just(Key::of(&7)), Just(Key::of("a key of more than fifteen"))]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 4 } else { 512 }, ..ProptestConfig::default() })]

    #[test]
    fn every_history_of_a_key_is_that_of_a_budget_by_itself(
        max in prop_oneof![1..10_u32, 250..260_u32, 65_530..65_540_u32],
        buckets in prop_oneof![8 => 1..70_u32, 1 => Just(1000_u32)],
        key in key(),
        start in prop_oneof![Just(0), 0..u64::MAX / 4],
        steps in prop::collection::vec(step(), 1..60),
    ) {
        let window = Duration::from_nanos(1000 * MILLISECOND + u64::from(max % 3));
        let mut world = World::new(LimitSpec::new(max, window).with_buckets(buckets), key, start);
        for step in steps {
            world.take(step);
        }
    }
}

#[test]
fn a_key_that_was_let_go_of_is_charged_no_bucket_early() {
    let rules = |now| Rules::new("1/1s buckets=10".parse().unwrap(), Grain::DECLARED, now);
    let (table, key, second) = (Table::new(rules(0), 1), Key::of(&1), 1000 * MILLISECOND);
    let charge = |key: &Key, now| table.charge(key, now, &Demand::new(1));
    charge(&key, 0).unwrap();
    assert_eq!(table.tracked_keys(5 * second), 0);
    // The clock of this call is behind what the shard has seen when it let go of the key.
    charge(&key, 2 * second).unwrap();
    let refused = charge(&key, 5 * second).unwrap_err();
    assert_eq!(refused.cause, Cause::Exceeded { ready_at: 6 * second + second / 10 });
    assert_eq!(table.tracked_keys(6 * second), 1);
}
