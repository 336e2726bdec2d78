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

use self::{counters::Counters, index::Index};
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

pub(super) struct Front {
    header: Header,
    spec: LimitSpec,
    window: SlidingWindow,
    /// The whole of a budget.
    capacity: u32,
    shape: Shape,
    index: Index,
    /// Places for packed budgets.
    words: Box<[AtomicU64]>,
    /// Calls that were admitted here, less the permits charged in the current bucket of each budget.
    admitted: Arc<AtomicU64>,
}

/// The current bucket.
#[repr(align(64))]
struct Header {
    /// Its end; 0: every call asks.
    until: AtomicU64,
    number: AtomicU64,
    /// An instant in it.
    from: AtomicU64,
    /// The life in which charges are made.
    life: AtomicU64,
}

/// What the header says while it is open.
#[derive(Clone, Copy)]
struct Now {
    until: u64,
    number: u64,
}

impl Header {
    fn closed(life: u64) -> Self {
        let zero = || AtomicU64::new(0);
        Self { until: zero(), number: zero(), from: zero(), life: AtomicU64::new(life) }
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
    /// With places for `capacity` keys.
    pub(super) fn new(
        spec: LimitSpec,
        window: &SlidingWindow,
        shape: Shape,
        capacity: usize,
        life: u64,
        admitted: Arc<AtomicU64>,
    ) -> Self {
        Self {
            header: Header::closed(life),
            spec,
            window: window.clone(),
            capacity: Demand::new(1).capacity(&spec),
            shape,
            index: Index::new(capacity),
            words: (0..capacity).flat_map(|_| Packed::vacant(shape)).collect(),
            admitted,
        }
    }

    /// Takes what a call asks, if that is plain.
    pub(super) fn take(&self, hash: u64, key: &Key, now: u64, demand: &Demand) -> Take {
        let is_for_one = demand.is_for_one_permit();
        let (cost, capacity) =
            if is_for_one { (1, self.capacity) } else { (demand.cost, demand.capacity(&self.spec)) };
        let taken = self.take_of(hash, key, now, cost, capacity, |taken| taken);
        if cost != 1 && matches!(taken, Take::Taken(_)) {
            // One call, and not as many as it took permits.
            self.admitted.fetch_add(1_u64.wrapping_sub(u64::from(cost)), Relaxed);
        }
        taken
    }

    /// Takes one permit, if that is plain.
    #[inline]
    pub(super) fn take_one(&self, hash: u64, key: &Key, now: u64) -> Take<()> {
        self.take_of(hash, key, now, 1, self.capacity, |_| ())
    }

    #[inline]
    fn take_of<T>(
        &self,
        hash: u64,
        key: &Key,
        now: u64,
        cost: u32,
        capacity: u32,
        taken: impl Fn(Taken) -> T,
    ) -> Take<T> {
        let Some(current) = self.header.read(now) else { return Take::Ask };
        let (Some(most_used), Some(key)) = (capacity.checked_sub(cost), self.shape.key(key)) else {
            return Take::Ask;
        };
        let is_of_key = |number: &u32| self.packed(*number).is_some_and(|packed| packed.is_of(&key));
        let found = self.index.find(hash, is_of_key);
        let Some(packed) = found.and_then(|number| self.packed(number)) else { return Take::Ask };
        let mut spins = 0;
        loop {
            let seen = packed.see();
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
                let (from, life) = (self.header.from.load(Acquire), self.header.life.load(Acquire));
                if !self.header.is_still(current) {
                    return Take::Ask;
                }
                let bucket = packed.bucket();
                race_point();
                if bucket > current.number {
                    // Somebody came later than our reading of the header, or the place is vacant.
                    return Take::Ask;
                }
                if bucket < current.number {
                    if packed.try_lock(seen) {
                        return match self.rotate_and_charge(packed, seen, current, cost, capacity) {
                            Take::Taken(left) => Take::Taken(taken(Taken { left, from, life })),
                            Take::Denied { ready_at } => Take::Denied { ready_at },
                            Take::Ask => Take::Ask,
                        };
                    }
                } else if let Some(left) = most_used.checked_sub(seen.used()) {
                    if packed.charge(seen, cost) {
                        return Take::Taken(taken(Taken { left, from, life }));
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
        }
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
        usize::try_from(bucket % self.shape.counters as u64).unwrap_or(0)
    }

    #[inline]
    fn packed(&self, number: u32) -> Option<Packed<'_>> {
        let from = number as usize * self.shape.stride;
        Packed::new(self.words.get(from..from + self.shape.stride)?, &self.shape)
    }
}

/// For the holder of the shard's lock.
impl Front {
    /// The place of a number that was given by this front.
    pub(super) fn at(&self, number: u32) -> Packed<'_> {
        self.packed(number).expect("no more numbers are given than there are places")
    }

    pub(super) fn places(&self) -> usize {
        self.words.len() / self.shape.stride
    }

    pub(super) fn shape(&self) -> Shape {
        self.shape
    }

    pub(super) fn current(&self) -> u64 {
        self.header.number.load(Relaxed)
    }

    pub(super) fn until(&self) -> u64 {
        self.header.until.load(Relaxed)
    }

    pub(super) fn from(&self) -> u64 {
        self.header.from.load(Relaxed)
    }

    /// Makes the bucket that holds `now` the current one.
    pub(super) fn open(&self, now: u64) {
        let number = self.window.bucket_at(now);
        self.close();
        race_point();
        self.header.number.store(number, Release);
        self.header.from.store(now, Release);
        race_point();
        self.header.until.store(self.window.start(number + 1), Release);
    }

    pub(super) fn close(&self) {
        self.header.until.store(0, Relaxed);
    }

    /// Charges are of another life from now on.
    pub(super) fn set_life(&self, life: u64) {
        let until = self.until();
        self.close();
        self.header.life.store(life, Release);
        self.header.until.store(until, Release);
    }

    pub(super) fn find(&self, hash: u64, key: &Key) -> Option<u32> {
        let key = self.shape.key(key)?;
        self.index.find(hash, |number| self.at(*number).is_of(&key))
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
        let (bucket, counters) = (packed.bucket(), self.shape.counters as u64);
        let place = self.place_of(bucket);
        let age = packed.counters().latest_charge(place, used).unwrap_or(0);
        bucket.saturating_sub(age as u64).saturating_add(counters)
    }

    /// No earlier than this bucket is that, as far as a glance tells.
    pub(super) fn perhaps_free_from(&self, packed: Packed<'_>) -> u64 {
        packed.bucket().saturating_add(self.shape.counters as u64)
    }

    /// Looks at a budget without locking it, for as long as it takes to see it in one piece.
    pub(super) fn look<R>(&self, number: u32, look: impl Fn(Packed<'_>, u32) -> R) -> R {
        let packed = self.at(number);
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

    /// Gives a vacant place to a key; it stays locked until [`Packed::unlock`].
    pub(super) fn occupy(&self, number: u32, key: &Key) -> (Packed<'_>, Seen) {
        let packed = self.at(number);
        let seen = packed.occupy(&self.shape.key(key).unwrap_or_default());
        (packed, seen)
    }

    /// Has others find it.
    pub(super) fn publish(&self, hash: u64, number: u32) {
        self.index.insert(hash, number);
    }

    /// Makes a locked place vacant, and remembers which was vacant before it.
    pub(super) fn vacate(&self, hash: u64, number: u32, next_vacant: u32) {
        self.index.remove(hash, number);
        self.at(number).vacate(next_vacant);
    }

    /// Takes a locked budget over from a front that this one replaces.
    pub(super) fn take_over(&self, hash: u64, number: u32, key: &Key, from: Packed<'_>, used: u32) {
        let (packed, seen) = self.occupy(number, key);
        packed.copy_from(from);
        packed.unlock(seen, used);
        self.publish(hash, number);
    }

    pub(super) fn next_vacant(&self, number: u32) -> u32 {
        self.at(number).next_vacant()
    }
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the low half")]
fn low_half(word: u64) -> u32 {
    word as u32
}
