//! The textbook's sliding window: a ring of buckets, behind a mutex and, for keys, in a `HashMap`.
//!
//! It has as many buckets as the limit says and not one more, so it admits more than the limit around their edges.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use super::Limit;

pub(crate) const NAME: &str = "mutex and ring";

pub(crate) fn unkeyed(limit: Limit) -> impl Fn() -> bool {
    let begun = Instant::now();
    let ring = Mutex::new(Ring::new(limit));
    move || {
        let bucket = number(begun, limit);
        ring.lock().unwrap_or_else(PoisonError::into_inner).take(bucket, limit.max)
    }
}

pub(crate) fn by_number(limit: Limit) -> impl Fn(u64) -> bool {
    let rings = Rings::new(limit);
    move |key| rings.take(&key)
}

pub(crate) fn by_text(limit: Limit) -> impl Fn(&mut String, &str) -> bool {
    let rings: Rings<String> = Rings::new(limit);
    move |_, key| rings.take(key)
}

struct Ring {
    counts: Vec<u32>,
    total: u32,
    /// The number of the newest bucket, since the limiter was made.
    newest: u64,
}

impl Ring {
    fn new(limit: Limit) -> Self {
        Self { counts: vec![0; limit.buckets as usize], total: 0, newest: 0 }
    }

    fn take(&mut self, bucket: u64, max: u32) -> bool {
        let length = self.counts.len() as u64;
        let passed = bucket.saturating_sub(self.newest).min(length);
        for number in bucket - passed + 1..=bucket {
            let count = &mut self.counts[place(number, length)];
            self.total -= std::mem::take(count);
        }
        self.newest = self.newest.max(bucket);
        if self.total >= max {
            return false;
        }
        self.counts[place(self.newest, length)] += 1;
        self.total += 1;
        true
    }
}

struct Rings<K> {
    begun: Instant,
    limit: Limit,
    of_keys: Mutex<HashMap<K, Ring>>,
}

impl<K: Eq + Hash> Rings<K> {
    fn new(limit: Limit) -> Self {
        Self { begun: Instant::now(), limit, of_keys: Mutex::default() }
    }

    fn take<Q: Eq + Hash + ToOwned<Owned = K> + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        let bucket = number(self.begun, self.limit);
        let mut rings = self.of_keys.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(ring) = rings.get_mut(key) {
            return ring.take(bucket, self.limit.max);
        }
        rings.entry(key.to_owned()).or_insert_with(|| Ring::new(self.limit)).take(bucket, self.limit.max)
    }
}

/// The number of the bucket that is current.
fn number(begun: Instant, limit: Limit) -> u64 {
    let nanos = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
    let width = u64::try_from(limit.window.as_nanos()).unwrap_or(u64::MAX) / u64::from(limit.buckets);
    nanos / width
}

fn place(number: u64, length: u64) -> usize {
    usize::try_from(number % length).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_ring_forgets_what_is_older_than_its_buckets() {
        let mut ring = Ring::new(Limit { max: 2, window: Duration::from_secs(1), buckets: 4 });
        assert!(ring.take(0, 2) && ring.take(1, 2) && !ring.take(3, 2));
        assert!(ring.take(4, 2), "the first has left");
        assert!(!ring.take(4, 2));
        assert!(ring.take(1_000, 2) && ring.take(1_000, 2) && !ring.take(1_000, 2));
    }
}
