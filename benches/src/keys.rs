//! The keys that calls are made with: computed beforehand, in the order in which each thread uses them.

use std::fmt::Write;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Most threads of a round: each has keys of its own.
pub(crate) const MOST_THREADS: usize = 2;
/// So many calls until a thread begins again with its first key: no less than any case has keys.
const IN_ORDER: usize = 1 << 20;

/// A part of one thread's calls.
#[derive(Clone, Copy)]
pub(crate) struct Stretch {
    pub(crate) thread: usize,
    /// How many calls the thread has made before.
    pub(crate) from: usize,
    pub(crate) calls: usize,
}

/// For each thread all keys in random order, again and again.
pub(crate) struct Keys<K> {
    different: usize,
    of_threads: Vec<Vec<K>>,
}

/// Keys that many cases share: how many different ones.
pub(crate) static ONE: LazyLock<Keys<u64>> = LazyLock::new(|| Keys::numbers(1));
pub(crate) static THOUSAND: LazyLock<Keys<u64>> = LazyLock::new(|| Keys::numbers(1_000));
pub(crate) static HUNDRED_THOUSAND: LazyLock<Keys<u64>> = LazyLock::new(|| Keys::numbers(100_000));
pub(crate) static MILLION: LazyLock<Keys<u64>> = LazyLock::new(|| Keys::numbers(1_000_000));
pub(crate) static ONE_TEXT: LazyLock<Keys<&str>> = LazyLock::new(|| Keys::texts(1));
pub(crate) static HUNDRED_THOUSAND_TEXTS: LazyLock<Keys<&str>> = LazyLock::new(|| Keys::texts(100_000));
pub(crate) static MILLION_TEXTS: LazyLock<Keys<&str>> = LazyLock::new(|| Keys::texts(1_000_000));

impl Keys<u64> {
    fn numbers(different: usize) -> Self {
        let of_thread = |thread| shuffled(different, thread).into_iter().map(scatter).collect();
        Self { different, of_threads: (0..MOST_THREADS).map(of_thread).collect() }
    }
}

impl Keys<&'static str> {
    /// Texts of [`TEXT_LENGTH`] bytes. They lie in memory in the order of the calls: a service has just read its key from
    /// a request, so that what is measured is not the way to the text.
    fn texts(different: usize) -> Self {
        let of_thread = |thread| {
            let all: String = shuffled(different, thread).into_iter().map(text).collect();
            let all: &'static str = all.leak();
            (0..IN_ORDER).map(|at| &all[at * TEXT_LENGTH..(at + 1) * TEXT_LENGTH]).collect()
        };
        Self { different, of_threads: (0..MOST_THREADS).map(of_thread).collect() }
    }
}

impl<K: Copy> Keys<K> {
    /// Calls `call` with every key of the stretch, and counts how often it is `true`.
    pub(crate) fn count(&self, stretch: Stretch, mut call: impl FnMut(K) -> bool) -> usize {
        let keys = &self.of_threads[stretch.thread];
        let mut admitted = 0;
        let mut at = stretch.from % keys.len();
        let mut left = stretch.calls;
        while left > 0 {
            let end = keys.len().min(at + left);
            for &key in &keys[at..end] {
                admitted += usize::from(call(key));
            }
            left -= end - at;
            at = 0;
        }
        admitted
    }

    /// Calls of a thread until it has used every key.
    pub(crate) fn different(&self) -> usize {
        self.different
    }
}

/// The length of a text key: `user-0000042`.
pub(crate) const TEXT_LENGTH: usize = 12;

/// The text key of a number below ten millions.
pub(crate) fn text(number: u64) -> String {
    let mut text = String::with_capacity(TEXT_LENGTH);
    let _ = write!(text, "user-{number:07}");
    text
}

/// A different number for each number, as evenly spread as hashes are.
pub(crate) fn scatter(number: u64) -> u64 {
    let mixed = number.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

/// The first of so many numbers that nobody was given before.
pub(crate) fn never_seen(count: usize) -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1 << 32);
    NEXT.fetch_add(count as u64, Ordering::Relaxed)
}

/// All numbers below `different` in random order, then in another one, and so on.
fn shuffled(different: usize, seed: usize) -> Vec<u64> {
    let mut order: Vec<u64> = Vec::with_capacity(IN_ORDER);
    let mut drawn = (seed as u64) << 32;
    while order.len() < IN_ORDER {
        let begun = order.len();
        order.extend(0..different.min(IN_ORDER - begun) as u64);
        for last in (begun + 1..order.len()).rev() {
            drawn += 1;
            let choice = scatter(drawn) % (last - begun + 1) as u64;
            order.swap(last, begun + usize::try_from(choice).unwrap_or(0));
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_among_the_first_of_each_thread() {
        for thread in 0..MOST_THREADS {
            let mut first = shuffled(1_000_000, thread)[..1_000_000].to_vec();
            first.sort_unstable();
            assert!(first.into_iter().eq(0..1_000_000));
        }
    }

    #[test]
    fn a_stretch_goes_on_behind_the_last_key_with_the_first() {
        let keys = Keys { different: 3, of_threads: vec![vec![1, 2, 3]] };
        let mut seen = Vec::new();
        keys.count(Stretch { thread: 0, from: 5, calls: 5 }, |key| {
            seen.push(key);
            true
        });
        assert_eq!(seen, [3, 1, 2, 3, 1]);
    }
}
