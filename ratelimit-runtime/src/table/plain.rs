//! The plain budgets of a shard, as the holder of its lock sees them: those of a sliding window for which nobody waits in
//! line, and that began as a key's own. They are packed in a [`Front`], where others charge them without the lock.
//!
//! Here they are unpacked, one at a time, to be acted on like any other budget, and packed again.
//!
//! All are charged in one life, and a budget accepts refunds from any life since the shard was reset. When one key is reset,
//! the shard goes on to a new life, and a note that lasts as long as the key's charges could have tells that those
//! made before gave up their right to a refund.

use std::{collections::HashMap, hash::BuildHasher, sync::Arc};

use super::{
    Hasher,
    due::NEVER,
    front::{Front, Seen, Shape, key_words_of},
    room::Room,
    views::Views,
};
use crate::{
    algorithm::{END_OF_TIME, Ring, SlidingWindow},
    budget::Budget,
    demand::Demand,
    key::Key,
    rules::Rules,
    sync::{
        atomic::{AtomicU64, Ordering::Relaxed},
        race_point,
    },
};

/// What the lives of plain budgets have in common, so that no other budget of the shard has one of them.
const PLAIN: u64 = 1 << 63;

/// So many of eight places may be in use.
const FILLED: usize = 7;

/// The fewest places that are worth giving back to the allocator.
const WORTH_SHRINKING: usize = 64;

/// Budgets that a new key looks at: more than one, so that a table shrinks while keys come and go.
const GLANCES: usize = 3;

pub(super) struct Plain {
    shard: usize,
    hasher: Hasher,
    views: Arc<Views>,
    front: Option<Arc<Front>>,
    tracked: usize,
    /// Where the current bucket ends.
    end: u64,
    /// How many want nothing to be charged without the lock.
    holds: u32,
    /// The place at which the next new key glances.
    hand: usize,
    /// A bucket before which none of the budgets is like a new one.
    earliest: u64,
    /// That in which charges are made now.
    life: u64,
    /// That since which the shard was not reset.
    oldest_life: u64,
    resets: Resets,
    /// Calls that were admitted without the lock, less what has been charged in the current bucket of each budget.
    admitted: Arc<AtomicU64>,
    /// The budget that is unpacked.
    scratch: Budget,
}

/// The keys that were reset, as long as charges made before could still count.
#[derive(Default)]
struct Resets {
    of: HashMap<Key, Reset, Hasher>,
    /// So many are there before it is looked which are over.
    enough: usize,
}

struct Reset {
    /// The first life after it.
    life: u64,
    at: u64,
}

/// A packed budget that is locked and unpacked.
pub(super) struct Open {
    place: usize,
    seen: Seen,
    /// Permits charged in its current bucket.
    charged: u32,
}

impl Plain {
    pub(super) fn new(shard: usize, rules: &Rules, hasher: Hasher, views: Arc<Views>) -> Self {
        let life = PLAIN | 1;
        Self {
            shard,
            hasher,
            views,
            front: None,
            tracked: 0,
            end: 0,
            holds: 0,
            hand: 0,
            earliest: NEVER,
            life,
            oldest_life: life,
            resets: Resets::default(),
            admitted: Arc::new(AtomicU64::new(0)),
            scratch: Budget::new(rules.plan.fresh(), life),
        }
    }

    /// Takes note of the time.
    pub(super) fn tick(&mut self, now: u64) {
        let Some(front) = &self.front else { return };
        let (now, opens) = (now.min(END_OF_TIME), self.holds == 0);
        if now >= self.end || opens && !front.is_open() {
            self.end = front.turn_to(now, opens);
        }
    }

    /// Begins or ends a time in which nothing is charged without the lock.
    pub(super) fn hold(&mut self, begins: bool) {
        self.holds = if begins { self.holds + 1 } else { self.holds.saturating_sub(1) };
        if let Some(front) = &self.front {
            front.close();
        }
    }

    pub(super) fn find(&self, hash: u64, key: &Key) -> Option<usize> {
        self.front.as_ref()?.find(hash, key)
    }

    /// Unpacks a budget. It stays locked until it is put back, or removed.
    pub(super) fn open(&mut self, window: &SlidingWindow, place: usize, key: &Key) -> Option<Open> {
        let oldest_life = self.oldest_life_of(key);
        let Self { front, scratch, life, .. } = self;
        let (front, ring) = (front.as_ref()?, scratch.state_mut().ring_mut()?);
        let packed = front.at(place);
        let seen = packed.lock();
        race_point();
        let bucket = packed.bucket();
        let latest = if bucket == front.current() { front.from() } else { window.start(bucket) };
        window.load(ring, bucket, latest, front.counts(packed, seen.used()));
        scratch.set_lives(oldest_life, *life);
        scratch.set_queued(false);
        Some(Open { place, seen, charged: front.charged_in_current(packed, seen.used()) })
    }

    /// The budget that is unpacked.
    pub(super) fn budget(&mut self) -> &mut Budget {
        &mut self.scratch
    }

    /// A budget for a new key.
    pub(super) fn blank(&mut self, window: &SlidingWindow, key: &Key, now: u64) -> &mut Budget {
        let oldest_life = self.oldest_life_of(key);
        if let Some(ring) = self.scratch.state_mut().ring_mut() {
            let now = now.min(END_OF_TIME);
            let nothing = std::iter::repeat_n(0, window.buckets() as usize + 1);
            window.load(ring, window.bucket_at(now), now, nothing);
        }
        self.scratch.set_lives(oldest_life, self.life);
        self.scratch.set_queued(false);
        &mut self.scratch
    }

    pub(super) fn put_back_as_it_was(&self, open: &Open) {
        if let Some(front) = &self.front {
            front.at(open.place).unlock_as_it_was(open.seen);
        }
    }

    /// Packs the budget again.
    pub(super) fn put_back(&mut self, open: &Open) {
        let (Some(front), Some(ring)) = (&self.front, self.scratch.state().ring()) else { return };
        let packed = front.at(open.place);
        front.pack(packed, ring.bucket(), ring.in_use(), ring.counts());
        // Who charged it under the lock has counted the call.
        let charged = front.charged_in_current(packed, ring.in_use());
        self.admitted.fetch_add(u64::from(open.charged).wrapping_sub(u64::from(charged)), Relaxed);
        self.earliest = self.earliest.min(front.free_from(packed, ring.in_use()));
        race_point();
        packed.unlock(open.seen, ring.in_use());
    }

    /// Removes the budget from here.
    pub(super) fn remove(&mut self, hash: u64, open: &Open) {
        let Some(front) = &self.front else { return };
        self.admitted.fetch_add(u64::from(open.charged), Relaxed);
        front.vacate(hash, open.place);
        self.tracked -= 1;
    }

    /// Whether the budget can be packed here.
    pub(super) fn takes(&self, budget: &Budget) -> bool {
        let (Some(ring), Some(like)) = (budget.state().ring(), self.scratch.state().ring()) else {
            return false;
        };
        let fits = self.front.as_ref().is_none_or(|front| front.shape().fits(ring.in_use()));
        fits && budget.is_plain() && budget.life() & PLAIN != 0 && ring.has_past_of(like)
    }

    /// Adds a budget; without one, that which is unpacked.
    pub(super) fn insert(&mut self, rules: &Rules, hash: u64, key: &Key, budget: Option<&Budget>, now: u64) {
        let in_use = budget.unwrap_or(&self.scratch).state().ring().map_or(0, Ring::in_use);
        self.make_room(rules, key, in_use, now);
        let Some(ring) = budget.unwrap_or(&self.scratch).state().ring() else { return };
        let Some(front) = &self.front else { return };
        let Some((packed, seen)) = front.occupy(hash, key) else { return };
        front.pack(packed, ring.bucket(), ring.in_use(), ring.counts());
        let charged = front.charged_in_current(packed, ring.in_use());
        self.admitted.fetch_sub(u64::from(charged), Relaxed);
        self.earliest = self.earliest.min(front.free_from(packed, ring.in_use()));
        self.tracked += 1;
        race_point();
        packed.unlock(seen, ring.in_use());
    }

    /// Sees to it that there is a place for `key`, which has used so much: a first front is made such that it fits.
    fn make_room(&mut self, rules: &Rules, key: &Key, in_use: u32, now: u64) {
        let key_words = key_words_of(key);
        let (places, fits) = match &self.front {
            Some(front) => (front.places(), front.shape().key_words() >= key_words),
            None => (0, false),
        };
        let full = self.tracked >= places / 8 * FILLED + places % 8 * FILLED / 8;
        if full {
            let more = if places < 2048 { places / 4 } else { places / 8 };
            self.rebuild(rules, places + more.max(1), key_words, in_use, now);
        } else if !fits {
            self.rebuild(rules, places, key_words, in_use, now);
        }
    }

    /// Moves all budgets to a front with `places` places, for keys of so many words at least; a first one counts to `most`
    /// at least.
    fn rebuild(&mut self, rules: &Rules, places: usize, key_words: usize, most: u32, now: u64) {
        let Some(window) = rules.plan.sliding_window() else { return };
        let old = self.front.take();
        let shape = match &old {
            Some(old) => old.shape().with_key_words(key_words.max(old.shape().key_words())),
            None => Shape::new(key_words, window.buckets(), capacity(rules).max(most)),
        };
        let new = Front::new(rules.spec, window, shape, places, self.life, self.admitted.clone());
        if let Some(old) = &old {
            old.close();
            for (_, packed) in old.occupied() {
                // For good: who comes with the old front asks.
                let seen = packed.lock();
                let key = packed.key();
                new.take_over(self.hasher.hash_one(key), &key, packed, seen.used());
            }
        }
        self.hand = 0;
        self.set_front(Some(new), now);
    }

    fn set_front(&mut self, front: Option<Front>, now: u64) {
        self.front = front.map(Arc::new);
        self.end = 0;
        self.tick(now);
        self.views.replace(self.shard, self.front.clone());
    }

    /// Gives memory back once three quarters of the places are vacant.
    pub(super) fn shrink(&mut self, rules: &Rules, now: u64) {
        let places = self.front.as_ref().map_or(0, |front| front.places());
        if places < WORTH_SHRINKING || self.tracked > places / 4 {
            return;
        }
        if self.tracked == 0 {
            self.clear();
        } else {
            self.rebuild(rules, places_for(self.tracked), 0, 0, now);
        }
    }

    /// Lets go of every budget that is like a new one.
    pub(super) fn sweep(&mut self, room: &Room) {
        let Some(front) = self.front.clone() else { return };
        let current = front.current();
        if current < self.earliest {
            return;
        }
        let mut earliest = NEVER;
        for (place, _) in front.occupied() {
            let free_from = front.look(place, |packed, used| front.free_from(packed, used));
            if free_from > current {
                earliest = earliest.min(free_from);
            } else if let Some(later) = self.release(&front, place, room) {
                earliest = earliest.min(later);
            }
        }
        self.earliest = earliest;
    }

    /// Lets go of some budgets that are like new ones.
    pub(super) fn glance(&mut self, room: &Room) {
        let Some(front) = self.front.clone().filter(|front| front.current() >= self.earliest) else { return };
        for _ in 0..GLANCES {
            self.hand = if self.hand + 1 < front.places() { self.hand + 1 } else { 0 };
            let packed = front.at(self.hand);
            if !packed.is_vacant() && front.perhaps_free_from(packed) <= front.current() {
                self.release(&front, self.hand, room);
            }
        }
    }

    /// Lets go of a budget, unless it has been charged meanwhile: then tells from when it is like a new one.
    fn release(&mut self, front: &Front, place: usize, room: &Room) -> Option<u64> {
        let packed = front.at(place);
        let seen = packed.lock();
        let free_from = front.free_from(packed, seen.used());
        if free_from > front.current() {
            packed.unlock_as_it_was(seen);
            return Some(free_from);
        }
        let charged = front.charged_in_current(packed, seen.used());
        self.remove(self.hasher.hash_one(packed.key()), &Open { place, seen, charged });
        room.release();
        None
    }

    /// When a budget may be like a new one.
    pub(super) fn due_at(&self, rules: &Rules) -> u64 {
        match rules.plan.sliding_window() {
            Some(window) if self.earliest != NEVER => window.start(self.earliest),
            _ => NEVER,
        }
    }

    /// Calls that were admitted without the lock.
    pub(super) fn admitted(&self) -> u64 {
        const ATTEMPTS: u32 = 10;
        let mut admitted = self.admitted.load(Relaxed);
        let Some(front) = &self.front else { return admitted };
        for _ in 0..ATTEMPTS {
            let charged =
                |(place, _)| front.look(place, |packed, used| front.charged_in_current(packed, used));
            let sum = front.occupied().map(charged).map(u64::from).fold(admitted, u64::wrapping_add);
            let before = std::mem::replace(&mut admitted, self.admitted.load(Relaxed));
            if before == admitted {
                return sum;
            }
        }
        admitted
    }

    /// Removes every budget.
    fn clear(&mut self) {
        if let Some(front) = self.front.take() {
            front.close();
            for (_, packed) in front.occupied() {
                let used = packed.lock().used();
                self.admitted.fetch_add(u64::from(front.charged_in_current(packed, used)), Relaxed);
            }
            self.set_front(None, 0);
        }
        (self.hand, self.tracked) = (0, 0);
        self.earliest = NEVER;
    }

    /// Takes out every budget, unpacked.
    pub(super) fn take_all(&mut self, window: &SlidingWindow) -> Vec<(u64, Key, Budget)> {
        let Some(front) = self.front.clone() else { return Vec::new() };
        front.close();
        let mut all = Vec::with_capacity(self.tracked);
        for (place, packed) in front.occupied() {
            let key = packed.key();
            let hash = self.hasher.hash_one(key);
            if let Some(open) = self.open(window, place, &key) {
                all.push((hash, key, self.scratch.duplicate()));
                self.remove(hash, &open);
            }
        }
        self.clear();
        all
    }

    /// Goes by other rules; nothing is packed.
    pub(super) fn set_rules(&mut self, rules: &Rules, old: &Rules, now: u64) {
        match old.plan.sliding_window() {
            Some(window) => {
                // It comes to know where charges made before the change are, as others do.
                self.blank(window, &Key::NONE, now).convert(rules, old, now);
            }
            None => self.scratch = Budget::new(rules.plan.fresh(), self.life),
        }
    }

    /// Makes ready for budgets of which one has this in use, and for so many.
    pub(super) fn reserve(&mut self, rules: &Rules, most: u32, budgets: usize, now: u64) {
        let Some(window) = rules.plan.sliding_window() else { return };
        if budgets == 0 {
            return;
        }
        let shape = Shape::new(2, window.buckets(), capacity(rules).max(most));
        let front =
            Front::new(rules.spec, window, shape, places_for(budgets), self.life, self.admitted.clone());
        self.set_front(Some(front), now);
    }

    /// Forgets everything, and gives room back.
    pub(super) fn reset(&mut self, room: &Room) {
        (0..self.tracked).for_each(|_| room.release());
        self.clear();
        self.life += 1;
        self.oldest_life = self.life;
        self.resets = Resets::default();
    }

    /// Notes that `key` is reset, and gives the life that begins with it. Its budget, if it is here, is open.
    pub(super) fn reset_key(&mut self, window: &SlidingWindow, key: &Key, now: u64) -> u64 {
        self.life += 1;
        if let Some(front) = &self.front {
            front.set_life(self.life);
        }
        let Resets { of, enough } = &mut self.resets;
        if of.len() >= *enough {
            let counts = u64::from(window.buckets()) + 1;
            of.retain(|_, reset| window.bucket_at(reset.at) + counts > window.bucket_at(now));
            of.shrink_to_fit();
            *enough = of.len() * 2 + 4;
        }
        of.insert(*key, Reset { life: self.life, at: now.min(END_OF_TIME) });
        self.life
    }

    fn oldest_life_of(&self, key: &Key) -> u64 {
        if self.resets.of.is_empty() {
            return self.oldest_life;
        }
        self.resets.of.get(key).map_or(self.oldest_life, |reset| reset.life)
    }
}

/// The most permits that calls of the whole budget can use.
fn capacity(rules: &Rules) -> u32 {
    Demand::new(1).capacity(&rules.spec)
}

/// So many places that so many keys find one, and a few more.
fn places_for(keys: usize) -> usize {
    keys + keys / 4 + 1
}
