//! A part of the keys, under one lock.

use std::sync::Arc;

use hashbrown::HashTable;

use super::{
    due::{Due, NEVER},
    overflow::{OVERFLOW_PER_SHARD, Overflow},
    plain::Plain,
    room::{Reservation, Room},
    slot::Slot,
};
use crate::{
    algorithm::{Ring, State},
    budget::Budget,
    clock::nanos,
    key::Key,
    rules::Rules,
};

/// The fewest places that are worth giving back to the allocator.
const WORTH_SHRINKING: usize = 64;

pub(super) struct Shard {
    number: usize,
    rules: Arc<Rules>,
    /// The latest time seen here. A key that was let go of then is not charged again before it.
    latest: u64,
    /// Budgets that are packed; all others are entries.
    plain: Plain,
    /// Where a key is in `entries`, by its hash.
    index: HashTable<Slot>,
    entries: Vec<Entry>,
    vacant: Vec<Slot>,
    /// When to look whether an entry's budget is full again: never later than that is so. What differs from the entry's
    /// own `check_at` is out of date.
    due: Due,
    overflow: Overflow,
    /// Never written to while fresh: what a key that is not tracked has used.
    untouched: Arc<State>,
    /// No two budgets here ever have the same life.
    next_life: u64,
}

struct Entry {
    key: Key,
    hash: u64,
    /// `None`: vacant.
    budget: Option<Budget>,
    /// When `due` will bring this entry up; [`NEVER`] while it does not hold it.
    check_at: u64,
}

impl Shard {
    pub(super) fn new(
        number: usize,
        rules: Arc<Rules>,
        untouched: Arc<State>,
        due: Due,
        plain: Plain,
    ) -> Self {
        Self {
            number,
            plain,
            untouched,
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
        self.plain.tick(self.latest);
        self.latest
    }

    /// Begins or ends a time in which nothing is charged without this lock.
    pub(super) fn hold(&mut self, begins: bool) {
        self.plain.hold(begins);
    }

    pub(super) fn clamp(&self, now: u64) -> u64 {
        now.max(self.latest)
    }

    pub(super) fn find(&self, hash: u64, key: &Key) -> Option<Slot> {
        self.index.find(hash, |slot| self.entries[slot.index()].key == *key).copied()
    }

    pub(super) fn find_plain(&self, hash: u64, key: &Key) -> Option<usize> {
        self.plain.find(hash, key)
    }

    /// Acts on the budget of a slot that was found under this lock.
    pub(super) fn act<R>(&mut self, slot: Slot, now: u64, act: impl FnOnce(&Rules, &mut Budget) -> R) -> R {
        let Self { rules, entries, next_life, .. } = self;
        let budget = entries[slot.index()].budget.get_or_insert_with(|| fresh(rules, next_life));
        let result = act(rules, budget);
        if !budget.is_empty() && self.plain.takes(budget) {
            self.pack(slot, now);
        }
        result
    }

    /// Acts on a plain budget that was found under this lock. It stays plain if it can, and is let go of if it is then as good as
    /// new.
    pub(super) fn act_on_plain<R>(
        &mut self,
        place: usize,
        (hash, key): (u64, &Key),
        now: u64,
        room: &Room,
        act: impl FnOnce(&Rules, &mut Budget) -> R,
    ) -> Option<R> {
        let Self { rules, plain, .. } = self;
        let open = plain.open(rules.plan.sliding_window()?, place, key)?;
        let result = act(rules, plain.budget());
        if !plain.budget().is_plain() {
            let budget = plain.budget().duplicate();
            plain.remove(hash, &open);
            self.insert_entry(hash, *key, budget, now);
        } else if self.plain.budget().is_empty() && self.overflow_is_idle(hash, now) {
            self.plain.remove(hash, &open);
            room.release();
        } else {
            self.plain.put_back(&open);
        }
        self.announce();
        Some(result)
    }

    /// Acts on a budget for a new key, which has used what its overflow budget has; and tracks it, if `keep` says so.
    pub(super) fn act_on_new<R>(
        &mut self,
        reservation: Reservation<'_>,
        (hash, key): (u64, &Key),
        now: u64,
        act: impl FnOnce(&Rules, &mut Budget) -> R,
        keep: impl FnOnce(&R) -> bool,
    ) -> R {
        let shared = self.overflow.get(Overflow::place_of(hash));
        let shared = shared.filter(|shared| !shared.is_idle(&self.rules, now));
        let Self { rules, plain, next_life, .. } = self;
        let (Some(window), None) = (rules.plan.sliding_window(), shared) else {
            let life = draw(next_life);
            let mut budget = match shared {
                Some(shared) => shared.copy(life),
                None => Budget::new(State::clone(&self.untouched), life),
            };
            let result = act(rules, &mut budget);
            if keep(&result) {
                self.insert_entry(hash, *key, budget, now);
                reservation.used();
            }
            return result;
        };
        let result = act(rules, plain.blank(window, key, now));
        if keep(&result) {
            if plain.budget().is_plain() {
                plain.insert(rules, hash, key, None, now);
            } else {
                let budget = plain.budget().duplicate();
                self.insert_entry(hash, *key, budget, now);
            }
            reservation.used();
            self.announce();
        }
        result
    }

    /// Tracks a new key with a budget that nobody has used.
    pub(super) fn insert_empty(&mut self, reservation: Reservation<'_>, hash: u64, key: &Key, now: u64) {
        let Self { rules, plain, next_life, .. } = self;
        if let Some(window) = rules.plan.sliding_window() {
            plain.blank(window, key, now);
            plain.insert(rules, hash, key, None, now);
            self.announce();
        } else {
            let budget = fresh(rules, next_life);
            self.insert_entry(hash, *key, budget, now);
        }
        reservation.used();
    }

    fn insert_entry(&mut self, hash: u64, key: Key, budget: Budget, now: u64) {
        let slot = self.vacant.pop().unwrap_or_else(|| {
            self.entries.push(Entry { key, hash, budget: None, check_at: NEVER });
            Slot::of(self.entries.len() - 1)
        });
        let entry = &mut self.entries[slot.index()];
        (entry.key, entry.hash, entry.budget) = (key, hash, Some(budget));
        self.index.insert_unique(hash, slot, |slot| self.entries[slot.index()].hash);
        self.check_when_clear(slot, now);
    }

    /// Moves the budget of an entry to the plain ones.
    fn pack(&mut self, slot: Slot, now: u64) {
        let Self { rules, plain, entries, index, vacant, .. } = self;
        let entry = &mut entries[slot.index()];
        let Some(budget) = entry.budget.take() else { return };
        if let Ok(indexed) = index.find_entry(entry.hash, |indexed| *indexed == slot) {
            indexed.remove();
        }
        vacant.push(slot);
        plain.insert(rules, entry.hash, &entry.key, Some(&budget), now);
        self.announce();
    }

    fn announce(&mut self) {
        self.due.set_plain(self.plain.due_at(&self.rules));
    }

    /// Lets go of up to `limit` keys whose budgets are full again.
    pub(super) fn reclaim(&mut self, now: u64, limit: usize, room: &Room) {
        if limit == usize::MAX {
            self.plain.sweep(room);
        } else if self.due.next() > now {
            // Most new keys of a flood come here, and find nothing.
            return;
        } else {
            self.plain.glance(room);
        }
        self.plain.shrink(&self.rules, now);
        self.announce();
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
    pub(super) fn look(&mut self, hash: u64, key: &Key) -> (&Arc<Rules>, &State) {
        if self.unpack(hash, key) {
            return (&self.rules, self.plain.budget().state());
        }
        let shared = || self.overflow.state(Overflow::place_of(hash));
        let state = self.own(hash, key).map(Budget::state).or_else(shared).unwrap_or(&self.untouched);
        (&self.rules, state)
    }

    /// Unpacks what a key has used, if its budget is plain.
    fn unpack(&mut self, hash: u64, key: &Key) -> bool {
        let Self { rules, plain, .. } = self;
        let Some(window) = rules.plan.sliding_window() else { return false };
        let open = plain.find(hash, key).and_then(|place| plain.open(window, place, key));
        if let Some(open) = &open {
            plain.put_back_as_it_was(open);
        }
        open.is_some()
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

    /// Empties the budget of one key that is an entry.
    pub(super) fn renew(&mut self, slot: Slot, now: u64) {
        let key = self.entries[slot.index()].key;
        let life = match self.rules.plan.sliding_window() {
            Some(window) => self.plain.reset_key(window, &key, now),
            None => draw(&mut self.next_life),
        };
        if let Some(budget) = &mut self.entries[slot.index()].budget {
            budget.reset(&self.rules, life);
        }
    }

    /// Empties the plain budget of one key, and lets go of it. It stays if its key would then fall back to what others have used.
    pub(super) fn renew_plain(&mut self, place: usize, (hash, key): (u64, &Key), now: u64, room: &Room) {
        let stays = !self.overflow_is_idle(hash, now);
        let Self { rules, plain, .. } = self;
        let Some(window) = rules.plan.sliding_window() else { return };
        let Some(open) = plain.open(window, place, key) else { return };
        plain.reset_key(window, key, now);
        if stays {
            plain.blank(window, key, now);
            plain.put_back(&open);
        } else {
            plain.remove(hash, &open);
            room.release();
        }
        self.announce();
    }

    /// Empties every budget.
    pub(super) fn reset(&mut self, now: u64, room: &Room) {
        self.plain.reset(room);
        self.announce();
        for budget in self.overflow.iter_mut() {
            budget.reset(&self.rules, draw(&mut self.next_life));
        }
        for number in 0..self.entries.len() {
            let slot = Slot::of(number);
            if let Some(budget) = &mut self.entries[number].budget {
                budget.reset(&self.rules, draw(&mut self.next_life));
                self.emptied(slot, now, room);
            }
        }
        self.shrink(now);
    }

    pub(super) fn set_rules(&mut self, rules: Arc<Rules>, untouched: Arc<State>, now: u64, room: &Room) {
        let old = std::mem::replace(&mut self.rules, rules);
        let mut plain =
            old.plan.sliding_window().map(|window| self.plain.take_all(window)).unwrap_or_default();
        let own = self.entries.iter_mut().filter_map(|entry| entry.budget.as_mut());
        let unpacked = plain.iter_mut().map(|(_, _, budget)| budget);
        for budget in own.chain(self.overflow.iter_mut()).chain(unpacked) {
            budget.convert(&self.rules, &old, now);
        }
        self.untouched = untouched;
        self.plain.set_rules(&self.rules, &old, now);
        let most = plain.iter().filter_map(|(_, _, budget)| budget.state().ring()).map(Ring::in_use).max();
        self.plain.reserve(&self.rules, most.unwrap_or(0), plain.len(), now);
        for (hash, key, budget) in plain {
            if budget.is_idle(&self.rules, now) && self.overflow_is_idle(hash, now) {
                room.release();
            } else if self.plain.takes(&budget) {
                self.plain.insert(&self.rules, hash, &key, Some(&budget), now);
            } else {
                self.insert_entry(hash, key, budget, now);
            }
        }
        self.announce();
        self.schedule_all(now);
    }

    /// Calls that were admitted without this lock.
    pub(super) fn admitted(&self) -> u64 {
        self.plain.admitted()
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
