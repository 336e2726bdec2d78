//! How a packed budget is laid out in words.
//!
//! ```text
//! head   state | bucket | key: 2 words                   all that most calls need, and never in two cache lines
//! tail   counters, at the end "ready" | key: third word, if there is one
//! ```

use crate::key::Key;

/// Bits at the end of the counters that tell when a full budget admits again.
const READY: usize = 16;

/// What every call reads comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(in crate::table) struct Shape {
    /// Words in which a key is kept: 2 for short ones.
    key_words: usize,
    /// The width of a counter is 2 to this power.
    width: u32,
    /// Counters: one for each bucket of a window, and one for the current bucket.
    pub(super) counters: usize,
    /// Words with counters.
    pub(super) counter_words: usize,
}

impl Shape {
    /// For windows of `buckets` buckets in which no more than `most` permits are ever in use.
    pub(in crate::table) fn new(key_words: usize, buckets: u32, most: u32) -> Self {
        let width = match most {
            0..=0xFF => 3,
            0x100..=0xFFFF => 4,
            _ => 5,
        };
        let counters = buckets as usize + 1;
        let counter_words = ((counters << width) + READY).div_ceil(64);
        Self { key_words, width, counters, counter_words }
    }

    pub(in crate::table) fn with_key_words(self, key_words: usize) -> Self {
        Self { key_words, ..self }
    }

    pub(in crate::table) fn key_words(self) -> usize {
        self.key_words
    }

    /// Whether so many permits in use can be counted.
    pub(in crate::table) fn fits(self, used: u32) -> bool {
        u64::from(used) >> self.bits() == 0
    }

    /// Bits of a counter.
    pub(super) fn bits(self) -> u32 {
        1 << self.width
    }

    /// In which word a counter begins, and at which bit of it.
    pub(super) fn place(self, counter: usize) -> (usize, usize) {
        let bit = counter << self.width;
        (bit / 64, bit % 64)
    }

    /// Words of a tail.
    #[inline]
    pub(super) fn tail(self) -> usize {
        self.counter_words + usize::from(self.has_third())
    }

    /// Whether a key has a third word.
    #[inline]
    pub(super) fn has_third(self) -> bool {
        self.key_words > 2
    }

    /// The key can be kept here.
    #[inline]
    pub(super) fn has_room_for(self, key: &Key) -> bool {
        self.has_third() || key.is_short()
    }
}

/// The fewest words in which `key` can be kept.
pub(in crate::table) fn key_words_of(key: &Key) -> usize {
    if key.is_short() { 2 } else { 3 }
}
