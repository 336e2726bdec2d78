//! How a call gets at the fronts of a table without a lock: each thread keeps the latest that it has seen.
//!
//! What a thread keeps may be out of date. It does no harm: a front that was replaced answers nothing but "ask", and who has
//! to ask looks for a later one on that occasion. Until then the thread holds its memory: of a table that is gone, until
//! another takes its place.

use std::{
    array,
    cell::RefCell,
    sync::{
        Arc, Mutex as StandardMutex,
        atomic::{AtomicU64 as StandardU64, Ordering},
    },
};

use super::{SHARDS, front::Front};
use crate::{
    budget::Take,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering::Relaxed},
        lock, unpoisoned,
    },
};

/// The fronts of all shards; `None`: nothing is packed there.
type Fronts = [Option<Arc<Front>>; SHARDS];

pub(super) struct Views {
    /// No two tables ever have the same.
    table: u64,
    /// Where threads keep what they have seen of it; no two tables have the same at a time.
    place: usize,
    /// Grows with every replacement. Relaxed when read: who misses one comes again.
    generation: AtomicU64,
    current: Mutex<Arc<Fronts>>,
}

/// The places of tables, from 0 on.
struct Places {
    begun: usize,
    /// Those that are vacant again.
    vacant: Vec<usize>,
}

static PLACES: StandardMutex<Places> = StandardMutex::new(Places { begun: 0, vacant: Vec::new() });

/// What a thread has seen of one table.
struct Seen {
    table: u64,
    generation: u64,
    fronts: Arc<Fronts>,
}

#[cfg(not(all(test, ratelimit_loom)))]
thread_local! {
    static SEEN: RefCell<Vec<Option<Seen>>> = const { RefCell::new(Vec::new()) };
}

#[cfg(all(test, ratelimit_loom))]
loom::thread_local! {
    static SEEN: RefCell<Vec<Option<Seen>>> = RefCell::new(Vec::new());
}

impl Views {
    pub(super) fn new() -> Self {
        static NEXT: StandardU64 = StandardU64::new(0);
        Self {
            table: NEXT.fetch_add(1, Ordering::Relaxed),
            place: Places::take(),
            generation: AtomicU64::new(0),
            current: Mutex::new(Arc::new(array::from_fn(|_| None))),
        }
    }

    /// Takes at the front of a shard that this thread has seen last.
    #[inline]
    pub(super) fn take<T>(&self, shard: usize, take: impl FnOnce(&Front) -> Take<T>) -> Take<T> {
        let mut taken = Take::Ask;
        // Written there at once: an answer in an `Option` would be copied out of it.
        _ = SEEN.try_with(|seen| {
            if let Ok(seen) = seen.try_borrow()
                && let Some(Some(seen)) = seen.get(self.place)
                && seen.table == self.table
                && let Some(front) = &seen.fronts[shard]
            {
                taken = take(front);
            }
        });
        taken
    }

    /// Has this thread see what is there now.
    #[cold]
    pub(super) fn refresh(&self) {
        let refresh = |seen: &RefCell<Vec<Option<Seen>>>| {
            let Ok(mut seen) = seen.try_borrow_mut() else { return };
            if seen.len() <= self.place {
                seen.resize_with(self.place + 1, || None);
            }
            let seen = &mut seen[self.place];
            let generation = self.generation.load(Relaxed);
            if seen.as_ref().is_none_or(|seen| seen.table != self.table || seen.generation != generation) {
                let current = lock(&self.current);
                let generation = self.generation.load(Relaxed);
                *seen = Some(Seen { table: self.table, generation, fronts: current.clone() });
            }
        };
        _ = SEEN.try_with(refresh);
    }

    /// Puts another front in place of a shard's.
    pub(super) fn replace(&self, shard: usize, front: Option<Arc<Front>>) {
        let mut current = lock(&self.current);
        let mut fronts = Fronts::clone(&current);
        fronts[shard] = front;
        *current = Arc::new(fronts);
        self.generation.fetch_add(1, Relaxed);
        drop(current);
        self.forget();
    }

    /// Has this thread keep nothing of this table.
    fn forget(&self) {
        let forget = |seen: &RefCell<Vec<Option<Seen>>>| {
            let Ok(mut seen) = seen.try_borrow_mut() else { return };
            if let Some(seen) = seen.get_mut(self.place) {
                *seen = None;
            }
        };
        _ = SEEN.try_with(forget);
    }
}

impl Places {
    fn take() -> usize {
        let mut places = unpoisoned(PLACES.lock());
        places.vacant.pop().unwrap_or_else(|| {
            places.begun += 1;
            places.begun - 1
        })
    }
}

impl Drop for Views {
    fn drop(&mut self) {
        self.forget();
        unpoisoned(PLACES.lock()).vacant.push(self.place);
    }
}

#[cfg(all(test, not(ratelimit_loom)))]
mod tests {
    use crate::{algorithm::Grain, budget::Take, key::Key, rules::Rules, stats::Counters, table::Table};

    fn tables(count: usize) -> Vec<Table> {
        let rules = || Rules::new("9/1s".parse().unwrap(), Grain::DECLARED, 0);
        (0..count).map(|_| Table::new(rules(), 100)).collect()
    }

    #[test]
    fn a_thread_sees_the_fronts_of_many_tables_at_once() {
        let (tables, key, counters) = (tables(50), Key::of("key"), Counters::default());
        for table in &tables {
            assert_eq!(table.take_if_plain(&key, 0), Take::Ask);
            // For the first time it makes the front, and sees it the next time that something is asked.
            for _ in 0..2 {
                assert_eq!(table.take(&key, 0, &counters), Take::Taken(()));
            }
        }
        for table in &tables {
            assert_eq!(table.take_if_plain(&key, 0), Take::Taken(()));
        }
    }

    #[test]
    fn what_was_seen_of_a_table_is_not_taken_for_another_in_its_place() {
        let (key, counters) = (Key::of("key"), Counters::default());
        for _ in 0..3 {
            for table in tables(2) {
                assert_eq!(table.take_if_plain(&key, 0), Take::Ask);
                for _ in 0..2 {
                    assert_eq!(table.take(&key, 0, &counters), Take::Taken(()));
                }
            }
        }
    }
}
