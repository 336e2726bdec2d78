//! A budget for every key, within bounds.
//!
//! At most `max_keys` keys have a budget of their own; one whose budget is full again makes room. Keys beyond that
//! share 1024 overflow budgets by their hash, and a key that later gets its own starts with what its shared one has
//! used, so that the move gives nobody more.
//!
//! Memory follows the keys. There is no background thread: whoever brings a new key lets go of some that are done.

mod due;
mod front;
mod overflow;
mod plain;
mod room;
mod shard;
mod slot;
#[cfg(all(test, not(ratelimit_loom)))]
mod tests;
mod views;

use std::{hash::BuildHasher, sync::Arc};

use self::{
    due::{Agenda, Due},
    overflow::OVERFLOW_PER_SHARD,
    plain::Plain,
    room::{Reservation, Room},
    shard::Shard,
    slot::Slot,
    views::Views,
};
use crate::{
    algorithm::State,
    budget::{Budget, Charge, Place, Refusal, Take},
    demand::Demand,
    key::Key,
    rules::Rules,
    stats::Counters,
    sync::{
        Mutex, MutexGuard,
        atomic::{AtomicU64, Ordering::Relaxed},
        lock,
    },
};

/// Of quality, since bits from the middle of a hash choose the shard, and those beside them the shared budget.
#[cfg(not(all(test, ratelimit_loom)))]
use foldhash::quality::RandomState as Hasher;

/// A model checker must see the same run twice.
#[cfg(all(test, ratelimit_loom))]
use foldhash::quality::FixedState as Hasher;

const SHARDS: usize = if cfg!(all(test, ratelimit_loom)) { 2 } else { 64 };

/// Old keys that a new one lets go of at most: more than one, so that a table shrinks while keys come and go.
const RECLAIMED_PER_NEW_KEY: usize = 2;

pub(crate) struct Table {
    hasher: Hasher,
    views: Arc<Views>,
    shards: Box<[Mutex<Shard>]>,
    room: Room,
    agenda: Arc<Agenda>,
    /// Relaxed: a statistic.
    overflowed: AtomicU64,
}

/// Where the calls of a key are decided.
enum Seat<'a> {
    Own(Slot),
    /// One that is packed.
    Plain(usize),
    /// There is room for a budget of its own.
    New(Reservation<'a>),
    /// One that it shares.
    Overflow,
}

impl Table {
    pub(crate) fn new(rules: Rules, max_keys: usize) -> Self {
        let rules = Arc::new(rules);
        let agenda = Arc::new(Agenda::new());
        let untouched = Arc::new(rules.plan.fresh());
        let (hasher, views) = (Hasher::default(), Arc::new(Views::new()));
        let shard = |number| {
            let plain = Plain::new(number, &rules, hasher.clone(), views.clone());
            Shard::new(number, rules.clone(), untouched.clone(), Due::new(agenda.clone(), number), plain)
        };
        Self {
            hasher: hasher.clone(),
            views: views.clone(),
            shards: (0..SHARDS).map(|number| Mutex::new(shard(number))).collect(),
            room: Room::new(max_keys),
            agenda,
            overflowed: AtomicU64::new(0),
        }
    }

    pub(crate) fn rules(&self) -> Arc<Rules> {
        lock(&self.shards[0]).rules().clone()
    }

    pub(crate) fn set_max_keys(&self, max_keys: usize) {
        self.room.set_max_keys(max_keys);
    }

    /// Keys that have a budget of their own and are not full again.
    pub(crate) fn tracked_keys(&self, now: u64) -> usize {
        self.reclaim(now);
        self.room.tracked()
    }

    /// Takes one permit, with the lock or without.
    #[cfg(test)]
    pub(crate) fn take(&self, key: &Key, now: u64, counters: &Counters) -> Take<()> {
        let hash = self.hash(key);
        match self.take_without_lock(hash, key, now) {
            Take::Ask => self.take_under_lock(hash, key, now, counters),
            taken => taken,
        }
    }

    /// Calls that an overflow budget decided.
    pub(crate) fn overflowed(&self) -> u64 {
        self.overflowed.load(Relaxed)
    }

    /// Takes one permit, if that is plain.
    #[cfg(test)]
    pub(crate) fn take_if_plain(&self, key: &Key, now: u64) -> Take<()> {
        let taken = self.take_without_lock(self.hash(key), key, now);
        if matches!(taken, Take::Ask) {
            self.views.refresh();
        }
        taken
    }

    /// Takes one permit, if that is plain.
    #[inline]
    pub(crate) fn take_without_lock(&self, hash: u64, key: &Key, now: u64) -> Take<()> {
        self.views.take(number_of(hash), |front| front.take_one(hash, key, now))
    }

    /// Takes one permit, if that is plain, such that it can be undone.
    pub(crate) fn take_at_hand(&self, hash: u64, key: &Key, now: u64) -> Take {
        self.views.take(number_of(hash), |front| front.take(hash, key, now, &Demand::new(1)))
    }

    /// Takes one permit otherwise, and counts the call if it is admitted.
    pub(crate) fn take_under_lock(&self, hash: u64, key: &Key, now: u64, counters: &Counters) -> Take<()> {
        self.views.refresh();
        let (mut shard, now, seat) = self.enter(hash, key, now);
        let take = |rules: &Rules, budget: &mut Budget| budget.take(rules, now);
        let taken = match seat {
            Seat::Own(slot) => shard.act(slot, now, take),
            Seat::Plain(place) => {
                shard.act_on_plain(place, (hash, key), now, &self.room, take).unwrap_or(Take::Ask)
            }
            Seat::New(reservation) => {
                let is_taken = |taken: &Take<()>| matches!(taken, Take::Taken(()));
                shard.act_on_new(reservation, (hash, key), now, take, is_taken)
            }
            Seat::Overflow => {
                let number = shard.overflow_number(hash);
                let taken = shard.act_on_overflow(number, take);
                if !matches!(taken, Take::Ask) {
                    self.overflowed.fetch_add(1, Relaxed);
                }
                taken
            }
        };
        if matches!(taken, Take::Taken(())) {
            counters.allowed();
        }
        taken
    }

    pub(crate) fn charge(&self, key: &Key, now: u64, demand: &Demand) -> Result<Charge, Refusal> {
        let hash = self.hash(key);
        if demand.cost == 0 {
            let mut shard = lock(self.shard(hash));
            let now = shard.clamp(now);
            let (rules, state) = shard.look(hash, key);
            return Ok(Charge::of_nothing(rules, state, now, Place::Own(*key), demand));
        }
        let taken = self.views.take(number_of(hash), |front| front.take(hash, key, now, demand));
        if let Take::Taken(taken) = taken {
            return Ok(Charge::counted(Place::Own(*key), taken).of_cost(demand.cost));
        }
        self.views.refresh();
        let (mut shard, now, seat) = self.enter(hash, key, now);
        let charge = |rules: &Rules, budget: &mut Budget| budget.charge(rules, now, Place::Own(*key), demand);
        match seat {
            Seat::Own(slot) => shard.act(slot, now, charge),
            Seat::Plain(place) => {
                shard.act_on_plain(place, (hash, key), now, &self.room, charge).unwrap_or_else(|| {
                    let (rules, state) = shard.look(hash, key);
                    Ok(Charge::of_nothing(rules, state, now, Place::Own(*key), demand))
                })
            }
            Seat::New(reservation) => shard.act_on_new(reservation, (hash, key), now, charge, Result::is_ok),
            Seat::Overflow => {
                self.overflowed.fetch_add(1, Relaxed);
                let number = shard.overflow_number(hash);
                let place = Place::Overflow(number);
                let charge = shard
                    .act_on_overflow(number, |rules, budget| budget.charge(rules, now, place, demand))?;
                Ok(charge.of_key(*key))
            }
        }
    }

    /// Calls that were admitted here and counted by nobody else.
    pub(crate) fn admitted(&self) -> u64 {
        self.shards.iter().map(|shard| lock(shard).admitted()).fold(0, u64::wrapping_add)
    }

    /// Bars the budget of `key` to all but those who will stand in line for it.
    pub(crate) fn open_line(&self, key: &Key, now: u64) -> Place {
        let hash = self.hash(key);
        let (mut shard, now, seat) = self.enter(hash, key, now);
        let open = |_: &Rules, budget: &mut Budget| budget.set_queued(true);
        match seat {
            Seat::Own(slot) => shard.act(slot, now, open),
            Seat::Plain(place) => {
                shard.act_on_plain(place, (hash, key), now, &self.room, open);
            }
            Seat::New(reservation) => shard.act_on_new(reservation, (hash, key), now, open, |()| true),
            Seat::Overflow => {
                let number = shard.overflow_number(hash);
                shard.act_on_overflow(number, |_, budget| budget.set_queued(true));
                return Place::Overflow(number);
            }
        }
        Place::Own(*key)
    }

    /// The budget that decides about `key` now, even if it is made only when that is charged.
    pub(crate) fn place_of(&self, key: &Key, now: u64) -> Place {
        let hash = self.hash(key);
        let (shard, _, seat) = self.enter(hash, key, now);
        match seat {
            Seat::Own(_) | Seat::Plain(_) | Seat::New(_) => Place::Own(*key),
            Seat::Overflow => Place::Overflow(shard.overflow_number(hash)),
        }
    }

    /// Locks the shard of `key` and finds its seat.
    fn enter(&self, hash: u64, key: &Key, time: u64) -> (MutexGuard<'_, Shard>, u64, Seat<'_>) {
        loop {
            let mut shard = lock(self.shard(hash));
            let now = shard.tick(time);
            if let Some(slot) = shard.find(hash, key) {
                return (shard, now, Seat::Own(slot));
            }
            if let Some(place) = shard.find_plain(hash, key) {
                return (shard, now, Seat::Plain(place));
            }
            // Who would start with a shared budget that has a line stands in that line.
            if shard.overflow_is_queued(hash) {
                return (shard, now, Seat::Overflow);
            }
            shard.reclaim(now, RECLAIMED_PER_NEW_KEY, &self.room);
            if let Some(reservation) = self.room.reserve() {
                return (shard, now, Seat::New(reservation));
            }
            // By the time that the clock shows: in another shard nothing has aged by what this one has seen before it
            // stepped back.
            let Some(due) = self.agenda.first_due(time) else {
                return (shard, now, Seat::Overflow);
            };
            // What is found due there is either let go of, or has a later time afterwards: this comes to an end.
            drop(shard);
            self.reclaim_in(due, time);
        }
    }

    /// Lets go of every key whose budget is full again.
    fn reclaim(&self, now: u64) {
        (0..SHARDS).for_each(|shard| self.reclaim_in(shard, now));
    }

    fn reclaim_in(&self, shard: usize, now: u64) {
        let mut shard = lock(&self.shards[shard]);
        let now = shard.tick(now);
        shard.reclaim(now, usize::MAX, &self.room);
    }

    /// Acts on the budget at `place`, if it is still there, and lets go of it if it is then as good as new.
    pub(crate) fn at<R>(
        &self,
        place: Place,
        now: u64,
        act: impl FnOnce(&Rules, u64, &mut Budget) -> R,
    ) -> Option<R> {
        match place {
            Place::Only => None,
            Place::Own(key) => {
                let hash = self.hash(&key);
                let mut shard = lock(self.shard(hash));
                let now = shard.tick(now);
                if let Some(place) = shard.find_plain(hash, &key) {
                    let act = |rules: &Rules, budget: &mut Budget| act(rules, now, budget);
                    return shard.act_on_plain(place, (hash, &key), now, &self.room, act);
                }
                let slot = shard.find(hash, &key)?;
                let result = shard.act(slot, now, |rules, budget| act(rules, now, budget));
                shard.emptied(slot, now, &self.room);
                Some(result)
            }
            Place::Overflow(number) => {
                let mut shard = lock(self.shard_of_overflow(number));
                let now = shard.tick(now);
                Some(shard.act_on_overflow(number, |rules, budget| act(rules, now, budget)))
            }
        }
    }

    /// Looks at the budget that decides about `key`, without making one.
    pub(crate) fn look<R>(&self, key: &Key, now: u64, look: impl FnOnce(&Rules, &State, u64) -> R) -> R {
        let hash = self.hash(key);
        let mut shard = lock(self.shard(hash));
        let now = shard.clamp(now);
        let (rules, state) = shard.look(hash, key);
        look(rules, state, now)
    }

    /// Where callers stand in line for `key`, if any do.
    pub(crate) fn line_of(&self, key: &Key) -> Option<Place> {
        let hash = self.hash(key);
        let shard = lock(self.shard(hash));
        match shard.own(hash, key) {
            Some(own) => own.is_queued().then_some(Place::Own(*key)),
            None if shard.find_plain(hash, key).is_some() => None,
            None => shard.overflow_is_queued(hash).then(|| Place::Overflow(shard.overflow_number(hash))),
        }
    }

    /// A copy of the budget at `place`, and the rules it goes by.
    pub(crate) fn copy(&self, place: Place) -> (Arc<Rules>, State) {
        match place {
            Place::Only => self.copy(Place::Own(Key::NONE)),
            Place::Own(key) => {
                let hash = self.hash(&key);
                let mut shard = lock(self.shard(hash));
                let (rules, state) = shard.look(hash, &key);
                (rules.clone(), state.clone())
            }
            Place::Overflow(number) => {
                let mut shard = lock(self.shard_of_overflow(number));
                let state = shard.act_on_overflow(number, |_, budget| budget.state().clone());
                (shard.rules().clone(), state)
            }
        }
    }

    pub(crate) fn reset(&self, now: u64) {
        for shard in &self.shards {
            let mut shard = lock(shard);
            let now = shard.tick(now);
            shard.reset(now, &self.room);
        }
    }

    /// Forgets what one key has used. Where it shares an overflow budget and there is no room for its own, that is
    /// emptied, for all who share it: whoever asks for this wants the key to be served.
    pub(crate) fn reset_key(&self, key: &Key, now: u64) {
        let hash = self.hash(key);
        let (mut shard, now, seat) = self.enter(hash, key, now);
        match seat {
            Seat::Own(slot) => {
                shard.renew(slot, now);
                shard.emptied(slot, now, &self.room);
            }
            Seat::Plain(place) => shard.renew_plain(place, (hash, key), now, &self.room),
            Seat::New(_) if shard.overflow_is_idle(hash, now) => {}
            Seat::New(reservation) => shard.insert_empty(reservation, hash, key, now),
            Seat::Overflow => {
                let number = shard.overflow_number(hash);
                shard.renew_overflow(number);
            }
        }
    }

    /// Has every call pass the lock of its shard, until as many holds have ended as have begun.
    pub(crate) fn hold(&self, begins: bool) {
        self.shards.iter().for_each(|shard| lock(shard).hold(begins));
    }

    /// Puts other rules in force. Each budget changes under its lock, so every call is decided by old or new rules.
    pub(crate) fn set_rules(&self, rules: &Arc<Rules>, now: u64) {
        let untouched = Arc::new(rules.plan.fresh());
        for shard in &self.shards {
            let mut shard = lock(shard);
            let now = shard.tick(now);
            shard.set_rules(rules.clone(), untouched.clone(), now, &self.room);
        }
    }

    #[inline]
    pub(crate) fn hash(&self, key: &Key) -> u64 {
        self.hasher.hash_one(key)
    }

    /// By other bits than those that place a key within its shard.
    fn shard(&self, hash: u64) -> &Mutex<Shard> {
        &self.shards[number_of(hash)]
    }

    fn shard_of_overflow(&self, number: u16) -> &Mutex<Shard> {
        &self.shards[usize::from(number) / OVERFLOW_PER_SHARD % SHARDS]
    }
}

#[inline]
fn number_of(hash: u64) -> usize {
    (hash >> 32) as usize % SHARDS
}
