//! A part of the keys, under one lock.

use std::sync::Arc;

use hashbrown::HashTable;

use super::{
    due::{Due, NEVER},
    overflow::{OVERFLOW_PER_SHARD, Overflow},
    room::{Reservation, Room},
};
use crate::{algorithm::State, budget::Budget, clock::nanos, key::Key, rules::Rules};

/// The fewest places that are worth giving back to the allocator.
const WORTH_SHRINKING: usize = 64;

pub(super) struct Shard {
    number: usize,
    rules: Arc<Rules>,
    /// The latest time seen here. A key that was let go of then is not charged again before it.
    latest: u64,
    /// Where a key is in `entries`, by its hash.
    index: HashTable<Slot>,
    entries: Vec<Entry>,
    vacant: Vec<Slot>,
    /// When to look whether an entry's budget is full again: never later than that is so. What differs from the entry's
    /// own `check_at` is out of date.
    due: Due,
    overflow: Overflow,
    /// Never written to while fresh: what a key that is not tracked has used.
    untouched: State,
    /// No two budgets here ever have the same life.
    next_life: u64,
}

/// The number of an entry.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Slot(u32);

struct Entry {
    key: Key,
    hash: u64,
    /// `None`: vacant.
    budget: Option<Budget>,
    /// When `due` will bring this entry up; [`NEVER`] while it does not hold it.
    check_at: u64,
}

impl Shard {
    pub(super) fn new(number: usize, rules: Arc<Rules>, due: Due) -> Self {
        Self {
            number,
            untouched: rules.plan.fresh(),
            rules,
            latest: 0,
            index: HashTable::new(),
            entries: Vec::new(),
            vacant: Vec::new(),
            due,
            overflow: Overflow::default(),
            next_life: 0,
        }
    }

    /// Takes note of the time, and gives it as it counts here: never earlier than before.
    pub(super) fn tick(&mut self, now: u64) -> u64 {
        self.latest = self.clamp(now);
        self.latest
    }

    pub(super) fn clamp(&self, now: u64) -> u64 {
        now.max(self.latest)
    }

    pub(super) fn find(&self, hash: u64, key: &Key) -> Option<Slot> {
        self.index.find(hash, |slot| self.entries[slot.index()].key == *key).copied()
    }

    /// Acts on the budget of a slot that was found under this lock.
    pub(super) fn act<R>(&mut self, slot: Slot, act: impl FnOnce(&Rules, &mut Budget) -> R) -> R {
        let Self { rules, entries, next_life, .. } = self;
        let budget = entries[slot.index()].budget.get_or_insert_with(|| fresh(rules, next_life));
        act(rules, budget)
    }

    /// A budget for a new key: it has used what its overflow budget has.
    pub(super) fn new_budget(&mut self, hash: u64) -> Budget {
        let life = draw(&mut self.next_life);
        match self.overflow.get(Overflow::place_of(hash)) {
            Some(shared) => shared.copy(life),
            None => Budget::new(self.untouched.clone(), life),
        }
    }

    /// A budget that nobody has used.
    pub(super) fn empty_budget(&mut self) -> Budget {
        fresh(&self.rules, &mut self.next_life)
    }

    /// Tracks a key that is not tracked yet.
    pub(super) fn insert(&mut self, room: Reservation<'_>, hash: u64, key: Key, budget: Budget, now: u64) {
        let slot = self.vacant.pop().unwrap_or_else(|| {
            self.entries.push(Entry { key, hash, budget: None, check_at: NEVER });
            Slot::of(self.entries.len() - 1)
        });
        let entry = &mut self.entries[slot.index()];
        (entry.key, entry.hash, entry.budget) = (key, hash, Some(budget));
        self.index.insert_unique(hash, slot, |slot| self.entries[slot.index()].hash);
        self.check_when_clear(slot, now);
        room.used();
    }

    /// Lets go of up to `limit` keys whose budgets are full again.
    pub(super) fn reclaim(&mut self, now: u64, limit: usize, room: &Room) {
        let mut reclaimed = 0;
        while reclaimed < limit {
            let Some((at, slot)) = self.due.pop(now) else { break };
            let entry = &mut self.entries[slot.index()];
            if entry.check_at != at {
                continue;
            }
            entry.check_at = NEVER;
            let Some(budget) = &entry.budget else { continue };
            if budget.is_idle(&self.rules, now) {
                self.release(slot, room);
                reclaimed += 1;
            } else {
                self.check_when_clear(slot, now);
            }
        }
        self.shrink(now);
    }

    /// To call when a budget may have become emptier: lets go of it if it is as good as new. It stays if its key would
    /// then fall back to what others have used.
    pub(super) fn emptied(&mut self, slot: Slot, now: u64, room: &Room) {
        let entry = &self.entries[slot.index()];
        let Some(budget) = &entry.budget else { return };
        if self.overflow_is_idle(entry.hash, now) && budget.is_idle(&self.rules, now) {
            self.release(slot, room);
        } else {
            self.check_when_clear(slot, now);
        }
    }

    fn release(&mut self, slot: Slot, room: &Room) {
        let entry = &mut self.entries[slot.index()];
        entry.budget = None;
        if let Ok(indexed) = self.index.find_entry(entry.hash, |indexed| *indexed == slot) {
            indexed.remove();
            room.release();
        }
        self.vacant.push(slot);
    }

    /// Has the entry looked at once its budget is full again; in a window, if it is and has to stay: for its line, or
    /// so that its key does not fall back to what others have used.
    fn check_when_clear(&mut self, slot: Slot, now: u64) {
        let entry = &mut self.entries[slot.index()];
        let Some(budget) = &entry.budget else { return };
        let overflow = Overflow::place_of(entry.hash);
        let check_at = match budget.clear_at(&self.rules, now) {
            clear_at if clear_at > now => clear_at,
            _ if budget.is_queued() || !self.overflow.is_idle(overflow, &self.rules, now) => {
                now.saturating_add(window(&self.rules))
            }
            _ => now,
        };
        // An earlier look is early enough: it finds out that there is more to wait for.
        if check_at < entry.check_at {
            entry.check_at = check_at;
            self.due.push(check_at, slot);
        }
    }

    /// Gives memory back once three quarters of the entries are vacant.
    fn shrink(&mut self, now: u64) {
        let tracked = self.entries.len() - self.vacant.len();
        if self.entries.len() < WORTH_SHRINKING || tracked > self.entries.len() / 4 {
            return;
        }
        self.vacant = Vec::new();
        self.entries.retain(|entry| entry.budget.is_some());
        self.entries.shrink_to_fit();
        self.index.clear();
        self.index.shrink_to_fit(|_| 0);
        for (number, entry) in self.entries.iter().enumerate() {
            self.index.insert_unique(entry.hash, Slot::of(number), |slot| self.entries[slot.index()].hash);
        }
        self.schedule_all(now);
    }

    fn schedule_all(&mut self, now: u64) {
        self.due.clear();
        for number in 0..self.entries.len() {
            self.entries[number].check_at = NEVER;
            self.check_when_clear(Slot::of(number), now);
        }
    }

    /// What has been used by a key, tracked or not.
    pub(super) fn look(&self, hash: u64, key: &Key) -> &State {
        let shared = || self.overflow.state(Overflow::place_of(hash));
        self.own(hash, key).map(Budget::state).or_else(shared).unwrap_or(&self.untouched)
    }

    pub(super) fn own(&self, hash: u64, key: &Key) -> Option<&Budget> {
        self.find(hash, key).and_then(|slot| self.entries[slot.index()].budget.as_ref())
    }

    pub(super) fn rules(&self) -> &Arc<Rules> {
        &self.rules
    }

    pub(super) fn overflow_is_queued(&self, hash: u64) -> bool {
        self.overflow.is_queued(Overflow::place_of(hash))
    }

    pub(super) fn overflow_is_idle(&self, hash: u64, now: u64) -> bool {
        self.overflow.is_idle(Overflow::place_of(hash), &self.rules, now)
    }

    pub(super) fn overflow_number(&self, hash: u64) -> u16 {
        let number = self.number * OVERFLOW_PER_SHARD + Overflow::place_of(hash);
        u16::try_from(number).unwrap_or(u16::MAX)
    }

    /// Acts on an overflow budget, by its number among all shards.
    pub(super) fn act_on_overflow<R>(
        &mut self,
        number: u16,
        act: impl FnOnce(&Rules, &mut Budget) -> R,
    ) -> R {
        let place = usize::from(number) % OVERFLOW_PER_SHARD;
        let Self { rules, overflow, next_life, .. } = self;
        act(rules, overflow.get_or_make(place, || fresh(rules, next_life)))
    }

    /// Empties an overflow budget.
    pub(super) fn renew_overflow(&mut self, number: u16) {
        let life = draw(&mut self.next_life);
        self.act_on_overflow(number, |rules, budget| budget.reset(rules, life));
    }

    /// Empties the budget of one key.
    pub(super) fn renew(&mut self, slot: Slot) {
        let life = draw(&mut self.next_life);
        self.act(slot, |rules, budget| budget.reset(rules, life));
    }

    /// Empties every budget.
    pub(super) fn reset(&mut self, now: u64, room: &Room) {
        for budget in self.overflow.iter_mut() {
            budget.reset(&self.rules, draw(&mut self.next_life));
        }
        for number in 0..self.entries.len() {
            let slot = Slot::of(number);
            if self.entries[number].budget.is_some() {
                self.renew(slot);
                self.emptied(slot, now, room);
            }
        }
        self.shrink(now);
    }

    pub(super) fn set_rules(&mut self, rules: Arc<Rules>, now: u64) {
        let own = self.entries.iter_mut().filter_map(|entry| entry.budget.as_mut());
        for budget in own.chain(self.overflow.iter_mut()) {
            budget.convert(&rules, &self.rules, now);
        }
        self.untouched = rules.plan.fresh();
        self.rules = rules;
        self.schedule_all(now);
    }
}

impl Slot {
    fn of(number: usize) -> Self {
        // A shard of 2^32 entries would take more memory than there is.
        Slot(u32::try_from(number).unwrap_or(u32::MAX))
    }

    fn index(self) -> usize {
        self.0 as usize
    }
}

fn draw(next_life: &mut u64) -> u64 {
    *next_life += 1;
    *next_life
}

fn fresh(rules: &Rules, next_life: &mut u64) -> Budget {
    Budget::new(rules.plan.fresh(), draw(next_life))
}

fn window(rules: &Rules) -> u64 {
    nanos(rules.spec.window())
}
