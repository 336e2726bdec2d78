//! The plain budgets of a shard, packed, as they are charged without its lock.
//!
//! Most calls find their key here and take one permit, or are denied, by the words of that key alone. All that is not
//! so plain, [`Take::Ask`], happens under the shard's lock, whose holder writes here too: see `plain.rs`.
//!
//! 1. Which bucket is current stands in the [`Header`], for all keys of the shard. Only the holder of the shard's lock writes
//!    it, when somebody comes who has seen the bucket's end; until then, its end being over, every call asks.
//! 2. A call counts in the bucket that the header told it, which is never earlier than that of its own time; and in no
//!    earlier one than the budget has counted in.
//! 3. Within a bucket a charge is one compare-exchange on the budget's state, from a state that was seen before the key, the
//!    bucket and the header were read. If it succeeds, all that was read held at that moment (`packed.rs`).
//! 4. Who first comes in a later bucket locks the budget, moves it on, and charges it when unlocking.
//! 5. A denial writes nothing: it reads the state, then the rest, then the state again. When the next call will be admitted
//!    is worked out once per bucket, under the budget's lock.
//! 6. A shape, a limit and a capacity never change: another front takes this one's place, and here everything stays locked and
//!    the header closed. So it does no harm to come late, with a front that is out of date.

mod counters;
mod index;
mod packed;
mod shape;

use std::sync::Arc;

use ratelimit_spec::LimitSpec;

use self::{counters::Counters, index::Index, packed::Places};
pub(super) use self::{
    packed::{Packed, Seen},
    shape::{Shape, key_words_of},
};
use crate::{
    algorithm::SlidingWindow,
    budget::{Take, Taken},
    demand::Demand,
    key::Key,
    sync::{
        atomic::{
            AtomicU64,
            Ordering::{Acquire, Relaxed, Release},
        },
        race_point, spin_loop,
    },
};

/// How often a call looks whether a budget has been unlocked before it asks.
const SPINS: u32 = if cfg!(all(test, ratelimit_loom)) { 0 } else { 20 };

/// Laid out as it is written: what the usual call reads is on the first cache line, of which there is one in each shard.
#[repr(C, align(64))]
pub(super) struct Front {
    header: Header,
    index: Index,
    /// The whole of a budget.
    capacity: u32,
    places: Places,
    /// An instant in the current bucket.
    from: AtomicU64,
    /// The life in which charges are made.
    life: AtomicU64,
    spec: LimitSpec,
    window: SlidingWindow,
    /// Calls that were admitted here, less the permits charged in the current bucket of each budget.
    admitted: Arc<AtomicU64>,
}

/// The current bucket.
struct Header {
    /// Its end; 0: every call asks.
    until: AtomicU64,
    number: AtomicU64,
}

/// What the header says while it is open.
#[derive(Clone, Copy)]
struct Now {
    until: u64,
    number: u64,
}

impl Header {
    fn closed() -> Self {
        Self { until: AtomicU64::new(0), number: AtomicU64::new(0) }
    }

    /// The current bucket, if `now` is not after it.
    #[inline]
    fn read(&self, now: u64) -> Option<Now> {
        // Acquire: pairs with the last store of `open`. A number read after it is that bucket's, or a later one's.
        let until = self.until.load(Acquire);
        (now < until).then(|| Now { until, number: self.number.load(Acquire) })
    }

    /// Whether all that was read since is of the bucket that `now` told of.
    #[inline]
    fn is_still(&self, now: Now) -> bool {
        // Relaxed: whoever has read what `open` wrote later, each by an Acquire, sees that it had closed before.
        self.until.load(Relaxed) == now.until
    }
}

impl Front {
    /// With places for so many keys.
    pub(super) fn new(
        spec: LimitSpec,
        window: &SlidingWindow,
        shape: Shape,
        places: usize,
        life: u64,
        admitted: Arc<AtomicU64>,
    ) -> Self {
        let index = Index::new(places);
        Self {
            header: Header::closed(),
            capacity: Demand::new(1).capacity(&spec),
            places: Places::new(shape, index.places()),
            index,
            from: AtomicU64::new(0),
            life: AtomicU64::new(life),
            spec,
            window: window.clone(),
            admitted,
        }
    }

    /// Takes what a call asks, if that is plain.
    pub(super) fn take(&self, hash: u64, key: &Key, now: u64, demand: &Demand) -> Take {
        let is_for_one = demand.is_for_one_permit();
        let (cost, capacity) =
            if is_for_one { (1, self.capacity) } else { (demand.cost, demand.capacity(&self.spec)) };
        let receipt = |current| {
            let (from, life) = (self.from.load(Acquire), self.life.load(Acquire));
            self.header.is_still(current).then_some((from, life))
        };
        let taken = |(from, life), left| Taken { left, from, life };
        let taken = self.take_of(hash, *key, now, (cost, capacity), receipt, taken);
        if cost != 1 && matches!(taken, Take::Taken(_)) {
            // One call, and not as many as it took permits.
            self.admitted.fetch_add(1_u64.wrapping_sub(u64::from(cost)), Relaxed);
        }
        taken
    }

    /// Takes one permit, if that is plain. What nearly all calls come to is in line here, and the rest in `take_of`.
    #[inline]
    pub(super) fn take_one(&self, hash: u64, key: &Key, now: u64) -> Take<()> {
        let Some(current) = self.header.read(now) else { return Take::Ask };
        if let Some(packed) = self.index.first_at_home(hash).and_then(|place| self.places.get(place)) {
            let seen = packed.see();
            race_point();
            if packed.is_of(key) && packed.bucket() == current.number && !seen.is_locked() {
                race_point();
                if seen.used() < self.capacity {
                    if packed.charge(seen, 1) {
                        return Take::Taken(());
                    }
                } else if let ready @ 1.. = packed.ready() {
                    race_point();
                    if packed.is_still(seen) {
                        return Take::Denied { ready_at: self.ready_at(current.number, ready) };
                    }
                }
            }
        }
        self.take_of(hash, *key, now, (1, self.capacity), |_| Some(()), |(), _| ())
    }

    /// The key is copied, so that it is in memory only for calls that come here.
    ///
    /// The `receipt` is asked for once the budget's state was seen: what it reads holds for the charge, if that succeeds.
    #[inline(never)]
    fn take_of<T, R: Copy>(
        &self,
        hash: u64,
        key: Key,
        now: u64,
        (cost, capacity): (u32, u32),
        receipt: impl Fn(Now) -> Option<R>,
        taken: impl Fn(R, u32) -> T,
    ) -> Take<T> {
        let Some(current) = self.header.read(now) else { return Take::Ask };
        let Some(most_used) = capacity.checked_sub(cost) else { return Take::Ask };
        let found = self.index.at_home(hash).find_map(|place| {
            let packed = self.places.get(place)?;
            let seen = packed.see();
            packed.is_of(&key).then_some((packed, seen))
        });
        let (packed, mut seen) = match found {
            Some(found) => found,
            None => match self.find_beyond(hash, &key).and_then(|place| self.places.get(place)) {
                Some(packed) => (packed, packed.see()),
                None => return Take::Ask,
            },
        };
        let mut spins = 0;
        loop {
            race_point();
            if !packed.is_of(&key) {
                return Take::Ask;
            }
            if seen.is_locked() {
                if spins == SPINS {
                    return Take::Ask;
                }
                spins += 1;
                spin_loop();
            } else {
                let Some(receipt) = receipt(current) else { return Take::Ask };
                let bucket = packed.bucket();
                race_point();
                if bucket > current.number {
                    // Somebody came later than our reading of the header, or the place is vacant.
                    return Take::Ask;
                }
                if bucket < current.number {
                    if packed.try_lock(seen) {
                        let charged = self.rotate_and_charge(packed, seen, current, cost, capacity);
                        return charged.map(|left| taken(receipt, left));
                    }
                } else if let Some(left) = most_used.checked_sub(seen.used()) {
                    if packed.charge(seen, cost) {
                        return Take::Taken(taken(receipt, left));
                    }
                } else if cost != 1 || capacity != self.capacity {
                    return Take::Ask;
                } else {
                    let ready = packed.ready();
                    race_point();
                    if packed.is_still(seen) {
                        if ready != 0 {
                            return Take::Denied { ready_at: self.ready_at(bucket, ready) };
                        }
                        if packed.try_lock(seen) {
                            return Take::Denied { ready_at: self.deny_first(packed, seen, bucket) };
                        }
                    }
                }
            }
            seen = packed.see();
        }
    }

    #[cold]
    fn find_beyond(&self, hash: u64, key: &Key) -> Option<usize> {
        let is_of_key = |place: &usize| self.places.get(*place).is_some_and(|packed| packed.is_of(key));
        self.index.beyond(hash)?.find(is_of_key)
    }

    #[inline]
    fn ready_at(&self, bucket: u64, ready: u16) -> u64 {
        self.window.start(bucket.saturating_add(u64::from(ready)))
    }

    /// Works out when the next call is admitted. The budget is locked, and full.
    #[cold]
    fn deny_first(&self, packed: Packed<'_>, seen: Seen, bucket: u64) -> u64 {
        let ready = self.work_out_ready(&packed.counters(), self.place_of(bucket), seen.used());
        packed.unlock(seen, seen.used());
        self.ready_at(bucket, ready)
    }

    fn work_out_ready(&self, counters: &Counters<'_>, place: usize, used: u32) -> u16 {
        let ready = counters.search(place, used, self.capacity.saturating_sub(1));
        counters.set_ready(ready);
        ready
    }

    /// Moves a locked budget on to the current bucket, and charges the call there; gives what is left.
    #[inline(never)]
    fn rotate_and_charge(
        &self,
        packed: Packed<'_>,
        seen: Seen,
        current: Now,
        cost: u32,
        capacity: u32,
    ) -> Take<u32> {
        let (bucket, counters) = (packed.bucket(), packed.counters());
        let place = self.place_of(current.number);
        // What was charged in the bucket that is left no longer tells how many calls were admitted.
        let charged = self.charged_in_current(packed, seen.used());
        if charged > 0 {
            self.admitted.fetch_add(u64::from(charged), Relaxed);
        }
        let used = counters.rotate(place, current.number - bucket, seen.used());
        packed.set_bucket(current.number);
        race_point();
        if let Some(left) = capacity.saturating_sub(used).checked_sub(cost) {
            packed.unlock(seen, used + cost);
            return Take::Taken(left);
        }
        let taken = if cost == 1 && capacity == self.capacity {
            let ready = self.work_out_ready(&counters, place, used);
            Take::Denied { ready_at: self.ready_at(current.number, ready) }
        } else {
            Take::Ask
        };
        packed.unlock(seen, used);
        taken
    }

    /// The counter of a bucket.
    fn place_of(&self, bucket: u64) -> usize {
        usize::try_from(bucket % self.places.shape.counters as u64).unwrap_or(0)
    }
}

/// For the holder of the shard's lock.
impl Front {
    /// The place of a number that was given by this front.
    pub(super) fn at(&self, place: usize) -> Packed<'_> {
        self.places.get(place).expect("only places that there are are given out")
    }

    pub(super) fn places(&self) -> usize {
        self.index.places()
    }

    /// The budgets that are here.
    pub(super) fn occupied(&self) -> impl Iterator<Item = (usize, Packed<'_>)> {
        (0..self.places()).map(|place| (place, self.at(place))).filter(|(_, packed)| !packed.is_vacant())
    }

    pub(super) fn shape(&self) -> Shape {
        self.places.shape
    }

    pub(super) fn current(&self) -> u64 {
        self.header.number.load(Relaxed)
    }

    pub(super) fn is_open(&self) -> bool {
        self.header.until.load(Relaxed) != 0
    }

    pub(super) fn from(&self) -> u64 {
        self.from.load(Relaxed)
    }

    /// Makes the bucket that holds `now` the current one, and gives its end. Until then calls need not ask, if it `opens`.
    pub(super) fn turn_to(&self, now: u64, opens: bool) -> u64 {
        let number = self.window.bucket_at(now);
        let end = self.window.start(number + 1);
        self.close();
        race_point();
        self.header.number.store(number, Release);
        self.from.store(now, Release);
        race_point();
        if opens {
            self.header.until.store(end, Release);
        }
        end
    }

    pub(super) fn close(&self) {
        self.header.until.store(0, Relaxed);
    }

    /// Charges are of another life from now on.
    pub(super) fn set_life(&self, life: u64) {
        let until = self.header.until.load(Relaxed);
        self.close();
        self.life.store(life, Release);
        self.header.until.store(until, Release);
    }

    pub(super) fn find(&self, hash: u64, key: &Key) -> Option<usize> {
        let at_home = self.index.at_home(hash).find(|place| self.at(*place).is_of(key));
        at_home.or_else(|| self.find_beyond(hash, key))
    }

    /// Permits charged in the current bucket of a locked budget.
    pub(super) fn charged_in_current(&self, packed: Packed<'_>, used: u32) -> u32 {
        used.saturating_sub(packed.counters().get(self.place_of(packed.bucket())))
    }

    /// What each bucket holds, the oldest first.
    pub(super) fn counts<'a>(&self, packed: Packed<'a>, used: u32) -> impl Iterator<Item = u32> + use<'a> {
        packed.counters().oldest_first(self.place_of(packed.bucket()), used)
    }

    /// Packs what is in use into a locked budget.
    pub(super) fn pack(
        &self,
        packed: Packed<'_>,
        bucket: u64,
        used: u32,
        oldest_first: impl Iterator<Item = u32>,
    ) {
        packed.counters().fill(self.place_of(bucket), used, oldest_first);
        packed.set_bucket(bucket);
    }

    /// The first bucket in which a budget is like a new one, if nothing else happens; one that has used nothing is so a window
    /// after it was last looked at.
    pub(super) fn free_from(&self, packed: Packed<'_>, used: u32) -> u64 {
        let (bucket, counters) = (packed.bucket(), self.places.shape.counters as u64);
        let place = self.place_of(bucket);
        let age = packed.counters().latest_charge(place, used).unwrap_or(0);
        bucket.saturating_sub(age as u64).saturating_add(counters)
    }

    /// No earlier than this bucket is that, as far as a glance tells.
    pub(super) fn perhaps_free_from(&self, packed: Packed<'_>) -> u64 {
        packed.bucket().saturating_add(self.places.shape.counters as u64)
    }

    /// Looks at a budget without locking it, for as long as it takes to see it in one piece.
    pub(super) fn look<R>(&self, place: usize, look: impl Fn(Packed<'_>, u32) -> R) -> R {
        let packed = self.at(place);
        let seen = packed.see();
        if !seen.is_locked() {
            let looked = look(packed, seen.used());
            if packed.is_still(seen) {
                return looked;
            }
        }
        let seen = packed.lock();
        let looked = look(packed, seen.used());
        packed.unlock_as_it_was(seen);
        looked
    }

    /// Gives a vacant place to a key, if there is one; it stays locked until [`Packed::unlock`].
    pub(super) fn occupy(&self, hash: u64, key: &Key) -> Option<(Packed<'_>, Seen)> {
        if !self.places.shape.has_room_for(key) {
            return None;
        }
        let packed = self.at(self.index.insert(hash)?);
        Some((packed, packed.occupy(key)))
    }

    /// Makes a locked place vacant.
    pub(super) fn vacate(&self, hash: u64, place: usize) {
        self.index.remove(hash, place);
        self.at(place).vacate();
    }

    /// Takes a locked budget over from a front that this one replaces.
    pub(super) fn take_over(&self, hash: u64, key: &Key, from: Packed<'_>, used: u32) {
        if let Some((packed, seen)) = self.occupy(hash, key) {
            packed.copy_from(from);
            packed.unlock(seen, used);
        }
    }
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the low half")]
fn low_half(word: u64) -> u32 {
    word as u32
}
