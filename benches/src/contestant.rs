//! Whose time is measured.

use std::hint::black_box;

use crate::keys::{Keys, Stretch, never_seen, scatter};

/// One way to limit calls: an annotated function, or what a user of another crate would write.
pub(crate) struct Contestant {
    pub(crate) name: &'static str,
    drive: Box<dyn Fn(Stretch) -> usize + Sync>,
    /// Calls of each thread before the first that counts.
    pub(crate) warm_up: usize,
    /// The fewest calls of each thread, in a round, before those that count: enough to bring its keys back into the caches.
    pub(crate) beforehand: usize,
}

impl Contestant {
    pub(crate) fn unkeyed(name: &'static str, call: impl Fn() -> bool + Sync + 'static) -> Self {
        let drive = move |stretch: Stretch| (0..stretch.calls).filter(|_| black_box(call())).count();
        Self { name, drive: Box::new(drive), warm_up: 1_000, beforehand: 0 }
    }

    pub(crate) fn by_number(
        name: &'static str,
        keys: &'static Keys<u64>,
        call: impl Fn(u64) -> bool + Sync + 'static,
    ) -> Self {
        let drive = move |stretch| keys.count(stretch, |key| black_box(call(black_box(key))));
        Self { name, drive: Box::new(drive), warm_up: keys.different(), beforehand: beforehand(keys) }
    }

    /// The calls share a buffer, for limiters that want a `String`.
    pub(crate) fn by_text(
        name: &'static str,
        keys: &'static Keys<&'static str>,
        call: impl Fn(&mut String, &str) -> bool + Sync + 'static,
    ) -> Self {
        let drive = move |stretch| {
            let mut buffer = String::new();
            keys.count(stretch, |key| black_box(call(&mut buffer, black_box(key))))
        };
        Self { name, drive: Box::new(drive), warm_up: keys.different(), beforehand: beforehand(keys) }
    }

    /// Makes the calls of a stretch, and counts those admitted.
    pub(crate) fn call(&self, stretch: Stretch) -> usize {
        (self.drive)(stretch)
    }

    /// Every call has a key that no call had before.
    pub(crate) fn by_new_number(
        name: &'static str,
        warm_up: usize,
        call: impl Fn(u64) -> bool + Sync + 'static,
    ) -> Self {
        let drive = move |stretch: Stretch| {
            let first = never_seen(stretch.calls);
            let numbers = first..first + stretch.calls as u64;
            numbers.filter(|&number| black_box(call(black_box(scatter(number))))).count()
        };
        Self { name, drive: Box::new(drive), warm_up, beforehand: 0 }
    }
}

/// Each key twice, unless there are so many that they do not stay in the caches anyway.
fn beforehand<K: Copy>(keys: &Keys<K>) -> usize {
    const MOST_CACHED: usize = 200_000;
    if keys.different() <= MOST_CACHED { 2 * keys.different() } else { 0 }
}
