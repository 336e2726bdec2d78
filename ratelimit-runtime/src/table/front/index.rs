//! Where a key's budget is, by its hash.
//!
//! Groups of twelve places, one cache line each: a tag of seven bits of the hash, and the number of a budget. A key that
//! finds its group full goes to the next that is not, and is counted in each that it passed.
//!
//! ```text
//! words 0 and 1   12 tags, a byte each, 0: vacant | 32 bits: how many passed
//! words 2 to 7    12 numbers
//! ```
//!
//! Only the holder of the shard's lock writes, and to it all this is exact. To others it is a hint, so it is Relaxed:
//! what they find they verify at the budget itself, and what they do not find they ask for under the lock.

use super::low_half;
use crate::sync::atomic::{AtomicU64, Ordering::Relaxed};

const PLACES: usize = 12;
const EVERY_BYTE: u64 = 0x0101_0101_0101_0101;

/// So many of ten places may be in use.
const FILLED: usize = 8;

#[repr(align(64))]
struct Group([AtomicU64; 8]);

pub(super) struct Index {
    groups: Box<[Group]>,
}

impl Index {
    /// For so many keys.
    pub(super) fn new(keys: usize) -> Self {
        let groups = (keys * 10).div_ceil(PLACES * FILLED);
        let empty = || Group(std::array::from_fn(|_| AtomicU64::new(0)));
        Self { groups: (0..groups).map(|_| empty()).collect() }
    }

    /// The number that passes the test, of those whose tag fits.
    #[inline]
    pub(super) fn find(&self, hash: u64, test: impl Fn(&u32) -> bool) -> Option<u32> {
        let home = self.groups.get(self.home(hash))?;
        let found = home.find(tag(hash), &test);
        if found.is_none() && home.was_passed() { self.find_beyond(hash, test) } else { found }
    }

    /// In the groups after the first.
    #[cold]
    fn find_beyond(&self, hash: u64, test: impl Fn(&u32) -> bool) -> Option<u32> {
        for group in self.beginning_at_home(hash).skip(1) {
            let found = group.find(tag(hash), &test);
            if found.is_some() || !group.was_passed() {
                return found;
            }
        }
        None
    }

    /// Adds a number that is not there yet.
    pub(super) fn insert(&self, hash: u64, number: u32) {
        for group in self.beginning_at_home(hash) {
            let vacant = group.places_of(0);
            if vacant != 0 {
                group.set(lane(vacant), tag(hash), number);
                return;
            }
            group.pass(1);
        }
    }

    pub(super) fn remove(&self, hash: u64, number: u32) {
        for group in self.beginning_at_home(hash) {
            let mut places = group.places_of(tag(hash));
            while places != 0 {
                if group.number(lane(places)) == number {
                    group.set(lane(places), 0, 0);
                    // Those before it were passed once less.
                    let passed = |before: &&Group| !std::ptr::eq(*before, group);
                    self.beginning_at_home(hash).take_while(passed).for_each(|before| before.pass(u32::MAX));
                    return;
                }
                places &= places - 1;
            }
            if !group.was_passed() {
                return;
            }
        }
    }

    /// The group in which to look first: by the upper bits, as the lower ones are the tag.
    #[inline]
    fn home(&self, hash: u64) -> usize {
        (((hash >> 32) * self.groups.len() as u64) >> 32) as usize
    }

    fn beginning_at_home(&self, hash: u64) -> impl Iterator<Item = &Group> {
        let (before, after) = self.groups.split_at(self.home(hash).min(self.groups.len()));
        after.iter().chain(before)
    }
}

impl Group {
    #[inline]
    fn find(&self, tag: u8, test: impl Fn(&u32) -> bool) -> Option<u32> {
        let mut places = self.places_of(tag);
        while places != 0 {
            let number = self.number(lane(places));
            if test(&number) {
                return Some(number);
            }
            places &= places - 1;
        }
        None
    }

    /// The places of this tag, as bits; see [`lane`].
    #[inline]
    fn places_of(&self, tag: u8) -> u64 {
        let (first, second) = (self.0[0].load(Relaxed), self.0[1].load(Relaxed));
        let second = second & 0xFFFF_FFFF;
        equal_bytes(first, tag) >> 7 | (equal_bytes(second, tag) & 0x8080_8080) >> 3
    }

    #[inline]
    fn number(&self, lane: usize) -> u32 {
        // There are no more than twelve; so that it need not be checked.
        let word = self.0[(2 + lane / 2) & 7].load(Relaxed);
        low_half(word >> (lane % 2 * 32))
    }

    #[inline]
    fn was_passed(&self) -> bool {
        self.0[1].load(Relaxed) >> 32 != 0
    }

    /// Counts keys that went on to the next group.
    fn pass(&self, keys: u32) {
        let word = self.0[1].load(Relaxed);
        let passed = low_half(word >> 32).wrapping_add(keys);
        self.0[1].store(word & 0xFFFF_FFFF | u64::from(passed) << 32, Relaxed);
    }

    fn set(&self, lane: usize, tag: u8, number: u32) {
        replace(&self.0[2 + lane / 2], lane % 2 * 32, 0xFFFF_FFFF, u64::from(number));
        replace(&self.0[lane / 8], lane % 8 * 8, 0xFF, u64::from(tag));
    }
}

fn replace(word: &AtomicU64, shift: usize, mask: u64, bits: u64) {
    word.store(word.load(Relaxed) & !(mask << shift) | bits << shift, Relaxed);
}

/// The highest bit of each byte that is `byte`, and perhaps of some above such a one.
#[inline]
fn equal_bytes(word: u64, byte: u8) -> u64 {
    let difference = word ^ (EVERY_BYTE * u64::from(byte));
    difference.wrapping_sub(EVERY_BYTE) & !difference & EVERY_BYTE << 7
}

/// The first place of those found: bit `8 n` stands for place `n` of the first eight, bit `8 n + 4` for place `8 + n`.
#[inline]
fn lane(places: u64) -> usize {
    let bit = places.trailing_zeros() as usize;
    bit / 8 + (bit & 4) * 2
}

/// Never 0.
#[inline]
fn tag(hash: u64) -> u8 {
    hash.to_le_bytes()[0] | 0x80
}
