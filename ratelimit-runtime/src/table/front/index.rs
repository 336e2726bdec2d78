//! Where a key's budget is, by its hash.
//!
//! Groups of fourteen places, each with a tag of eight bits of the hash; group `n` has the places from `14 n` on. A key that
//! finds its group full goes to the next that is not, and is counted in each that it passed.
//!
//! ```text
//! 14 tags, a byte each, 0: vacant | 16 bits: how many passed
//! ```
//!
//! Only the holder of the shard's lock writes, and to it all this is exact. To others it is a hint, so it is Relaxed:
//! what they find they verify at the budget itself, and what they do not find they ask for under the lock.

use crate::sync::atomic::{AtomicU64, Ordering::Relaxed};

const PLACES: usize = 14;
const EVERY_BYTE: u64 = 0x0101_0101_0101_0101;

/// The tags in the second word.
const SECOND: u64 = 0xFFFF_FFFF_FFFF;

#[repr(align(16))]
struct Group([AtomicU64; 2]);

pub(super) struct Index {
    groups: Box<[Group]>,
}

impl Index {
    /// With so many places at least.
    pub(super) fn new(places: usize) -> Self {
        let empty = || Group(std::array::from_fn(|_| AtomicU64::new(0)));
        Self { groups: (0..places.div_ceil(PLACES)).map(|_| empty()).collect() }
    }

    pub(super) fn places(&self) -> usize {
        self.groups.len() * PLACES
    }

    /// Where a key of this hash is, nearly always.
    #[inline]
    pub(super) fn first_at_home(&self, hash: u64) -> Option<usize> {
        let home = self.home(hash);
        let places = self.groups.get(home)?.places_of(tag(hash));
        (places != 0).then(|| home * PLACES + lane(places))
    }

    /// The places in the first group where a key of this hash may be.
    #[inline]
    pub(super) fn at_home(&self, hash: u64) -> impl Iterator<Item = usize> {
        let home = self.home(hash);
        let places = self.groups.get(home).map_or(0, |group| group.places_of(tag(hash)));
        lanes(places).map(move |lane| home * PLACES + lane)
    }

    /// Those in the groups after it.
    #[inline]
    pub(super) fn beyond(&self, hash: u64) -> Option<impl Iterator<Item = usize>> {
        let passed = self.groups.get(self.home(hash))?.passed();
        (passed != 0).then(move || {
            // The last one that nobody has passed is the last to look at.
            let mut passed = true;
            let group =
                move |number: &usize| std::mem::replace(&mut passed, self.groups[*number].passed() != 0);
            let places = move |number: usize| {
                lanes(self.groups[number].places_of(tag(hash))).map(move |lane| number * PLACES + lane)
            };
            self.way(hash).skip(1).take_while(group).flat_map(places)
        })
    }

    /// Takes a vacant place; `None`: there is none.
    pub(super) fn insert(&self, hash: u64) -> Option<usize> {
        for number in self.way(hash) {
            let group = &self.groups[number];
            if let Some(lane) = lanes(group.places_of(0)).next() {
                group.set(lane, tag(hash));
                return Some(number * PLACES + lane);
            }
            group.pass(1);
        }
        None
    }

    pub(super) fn remove(&self, hash: u64, place: usize) {
        let last = place / PLACES;
        self.groups[last].set(place % PLACES, 0);
        // Those before it are passed once less.
        self.way(hash).take_while(|number| *number != last).for_each(|number| self.groups[number].pass(-1));
    }

    /// The group in which to look first: by the upper bits, as the lower ones are the tag.
    #[inline]
    fn home(&self, hash: u64) -> usize {
        (((hash >> 32) * self.groups.len() as u64) >> 32) as usize
    }

    /// All groups, from the first in which to look.
    fn way(&self, hash: u64) -> impl Iterator<Item = usize> + use<> {
        let home = self.home(hash);
        (home..self.groups.len()).chain(0..home)
    }
}

impl Group {
    /// The places of this tag, as bits; see [`lanes`].
    #[inline]
    fn places_of(&self, tag: u8) -> u64 {
        let (first, second) = (self.0[0].load(Relaxed), self.0[1].load(Relaxed));
        equal_bytes(first, tag) >> 7 | (equal_bytes(second, tag) & SECOND) >> 3
    }

    /// How many keys went on to the next group. It stays at its highest number, once it is reached.
    #[inline]
    fn passed(&self) -> u16 {
        (self.0[1].load(Relaxed) >> 48) as u16
    }

    fn pass(&self, keys: i16) {
        let passed = self.passed();
        if passed < u16::MAX {
            replace(&self.0[1], 48, 0xFFFF, u64::from(passed.saturating_add_signed(keys)));
        }
    }

    fn set(&self, lane: usize, tag: u8) {
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

/// The places that were found in a group: bit `8 n` stands for place `n` of the first eight, bit `8 n + 4` for place `8 + n`.
#[inline]
fn lanes(mut places: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let found = (places != 0).then(|| lane(places));
        places &= places.wrapping_sub(1);
        found
    })
}

/// The first of them.
#[inline]
fn lane(places: u64) -> usize {
    let bit = places.trailing_zeros() as usize;
    bit / 8 + (bit & 4) * 2
}

/// Never 0, nor 1: then a vacant place could be one that [`equal_bytes`] finds besides.
#[inline]
fn tag(hash: u64) -> u8 {
    hash.to_le_bytes()[0].max(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(key: u64) -> u64 {
        (key + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }

    fn find(index: &Index, hash: u64, place: usize) -> bool {
        index.at_home(hash).chain(index.beyond(hash).into_iter().flatten()).any(|found| found == place)
    }

    #[test]
    fn every_key_is_found_where_it_was_put_until_it_is_removed() {
        let index = Index::new(100);
        let places = index.places();
        let put: Vec<_> =
            (0..places as u64).map(|key| (hash(key), index.insert(hash(key)).unwrap())).collect();
        assert!(index.insert(hash(7777)).is_none(), "all are taken");
        let mut taken: Vec<_> = put.iter().map(|(_, place)| *place).collect();
        taken.sort_unstable();
        assert_eq!(taken, (0..places).collect::<Vec<_>>(), "each is taken once");
        assert!(put.iter().all(|&(hash, place)| find(&index, hash, place)));
        let (removed, left) = put.split_at(places / 2);
        for &(hash, place) in removed {
            index.remove(hash, place);
            assert!(!find(&index, hash, place));
        }
        assert!(left.iter().all(|&(hash, place)| find(&index, hash, place)));
    }

    /// Its words may still be those of the key that is sought.
    #[test]
    fn a_vacant_place_is_not_found() {
        for hash in 0..=0xFF {
            let index = Index::new(PLACES);
            let (first, second) = (index.insert(hash).unwrap(), index.insert(hash).unwrap());
            index.remove(hash, second);
            assert_eq!(index.at_home(hash).collect::<Vec<_>>(), [first]);
        }
    }

    #[test]
    fn a_group_that_nobody_passes_any_more_ends_the_search() {
        let index = Index::new(PLACES * 3);
        let put: Vec<_> = (0..30).map(|_| index.insert(0).unwrap()).collect();
        assert!(index.beyond(0).is_some());
        put.into_iter().rev().for_each(|place| index.remove(0, place));
        assert!(index.beyond(0).is_none());
    }
}
