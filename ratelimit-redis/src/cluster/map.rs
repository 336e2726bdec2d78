//! Which master holds a key, and the link to it.

use std::{
    collections::{HashMap, HashSet},
    sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard},
};

use tokio::sync::Notify;

use crate::link::{Failure, Link, Masters, Request};

pub(super) const SLOTS: u16 = 16_384;

/// The map, for those who go by it and the one who reads it.
pub(super) struct Shared {
    map: RwLock<Map>,
    /// Wakes the one who reads it.
    pub(super) asks_anew: Notify,
}

#[derive(Default)]
pub(super) struct Map {
    ranges: Vec<Range>,
    masters: HashMap<String, Master>,
    /// Why it could not be read, the last time.
    pub(super) error: Option<String>,
}

/// The slots from the first up to the last, and the address of their master.
pub(super) struct Range {
    pub(super) first: u16,
    pub(super) last: u16,
    pub(super) master: String,
}

pub(super) struct Master {
    pub(super) link: Link,
    /// The slot of what its link writes to see whether it decides.
    pub(super) probed: u16,
}

impl Shared {
    pub(super) fn unread() -> Self {
        let error = Some("no server has told which of them holds a key".to_owned());
        Self { map: RwLock::new(Map { error, ..Map::default() }), asks_anew: Notify::new() }
    }

    pub(super) fn map(&self) -> RwLockReadGuard<'_, Map> {
        self.map.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn map_mut(&self) -> RwLockWriteGuard<'_, Map> {
        self.map.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has the map read again.
    pub(super) fn ask_anew(&self) {
        self.asks_anew.notify_one();
    }

    /// The link to the server that another one has named, and what it is asked.
    pub(super) fn elsewhere(&self, request: Request, told: &Failure) -> Option<(Link, Request)> {
        let (address, asking) = match told {
            Failure::Moved(address) => (address, false),
            Failure::Ask(address) => (address, true),
            _ => return None,
        };
        let again = request.redirected(asking)?;
        if !asking {
            self.ask_anew();
        }
        Some((self.map().link_to(address)?, again))
    }
}

impl Masters for Shared {
    fn send(&self, request: Request) {
        let link = self.map().link(request.order.key());
        if let Some(link) = link {
            link.send(request);
        }
    }

    fn redirect(&self, request: Request, told: &Failure) {
        if let Some((link, again)) = self.elsewhere(request, told) {
            link.send(again);
        }
    }
}

impl Map {
    /// The link to the master of a key.
    pub(super) fn link(&self, key: &[u8]) -> Option<Link> {
        let slot = slot(key);
        self.link_to(&self.ranges.iter().find(|range| range.holds(slot))?.master)
    }

    pub(super) fn link_to(&self, address: &str) -> Option<Link> {
        Some(self.masters.get(address)?.link.clone())
    }

    pub(super) fn links(&self) -> impl Iterator<Item = &Link> {
        self.masters.values().map(|master| &master.link)
    }

    pub(super) fn addresses(&self) -> impl Iterator<Item = &String> {
        self.masters.keys()
    }

    /// A master that has slots, and to which there can be no link.
    pub(super) fn without_link(&self) -> Option<&str> {
        let mut masters = self.ranges.iter().map(|range| range.master.as_str());
        masters.find(|master| !self.masters.contains_key(*master))
    }

    /// The masters of such ranges to which there is no link, or one whose probe is another master's by now.
    pub(super) fn to_be_started<'a>(&self, ranges: &'a [Range]) -> HashSet<&'a str> {
        let masters = ranges.iter().map(|range| range.master.as_str());
        masters
            .filter(|address| {
                !self.masters.get(*address).is_some_and(|master| owns(ranges, address, master.probed))
            })
            .collect()
    }

    /// Keeps the links to masters that are known, besides those that were started.
    pub(super) fn go_by(&mut self, ranges: Vec<Range>, started: Vec<(String, Master)>) {
        self.masters.extend(started);
        self.masters.retain(|address, master| owns(&ranges, address, master.probed));
        self.ranges = ranges;
    }
}

fn owns(ranges: &[Range], address: &str, slot: u16) -> bool {
    ranges.iter().any(|range| range.master == address && range.holds(slot))
}

/// A number that as a text falls into a slot of the master, if it has any. Some takes a hundred thousand attempts.
pub(super) fn number_of(ranges: &[Range], address: &str) -> Option<u32> {
    let mut owned = [false; SLOTS as usize];
    for range in ranges.iter().filter(|range| range.master == address) {
        owned[usize::from(range.first)..=usize::from(range.last)].fill(true);
    }
    // Six digits are enough for every slot.
    (0..1_000_000).find(|number| owned[usize::from(slot_of_number(*number))])
}

pub(super) fn slot_of_number(number: u32) -> u16 {
    slot(itoa::Buffer::new().format(number).as_bytes())
}

impl Range {
    fn holds(&self, slot: u16) -> bool {
        (self.first..=self.last).contains(&slot)
    }
}

/// The slot of a key without braces, or of what is in them.
fn slot(key: &[u8]) -> u16 {
    let crc = key.iter().fold(0_u16, |crc, byte| {
        (0..8).fold(crc ^ (u16::from(*byte) << 8), |crc, _| {
            if crc & 0x8000 == 0 { crc << 1 } else { (crc << 1) ^ 0x1021 }
        })
    });
    crc % SLOTS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_those_that_servers_compute() {
        // As `CLUSTER KEYSLOT` answers.
        assert_eq!((slot(b"foo"), slot(b"bar"), slot(b"")), (12182, 5061, 0));
        assert_eq!(slot(b"123456789"), 0x31C3);
    }

    #[test]
    fn every_slot_has_a_number_that_falls_into_it() {
        let mut without: HashSet<u16> = (0..SLOTS).collect();
        for number in 0..1_000_000 {
            without.remove(&slot_of_number(number));
        }
        assert!(without.is_empty(), "{without:?}");
        let range = |first, last, master: &str| Range { first, last, master: master.to_owned() };
        for alone in [0, 1, 5_000, SLOTS - 2, SLOTS - 1] {
            let mut ranges = vec![range(alone, alone, "alone")];
            ranges.extend((alone > 0).then(|| range(0, alone - 1, "another")));
            ranges.extend((alone < SLOTS - 1).then(|| range(alone + 1, SLOTS - 1, "another")));
            assert_eq!(slot_of_number(number_of(&ranges, "alone").unwrap()), alone);
            assert_ne!(slot_of_number(number_of(&ranges, "another").unwrap()), alone);
        }
    }

    #[test]
    fn a_master_to_which_there_is_no_link_is_told() {
        let ranges = vec![Range { first: 3, last: 3, master: "nowhere".to_owned() }];
        let mut map = Map::default();
        assert_eq!(map.without_link(), None);
        assert_eq!(map.to_be_started(&ranges), HashSet::from(["nowhere"]));
        map.go_by(ranges, Vec::new());
        assert_eq!(map.without_link(), Some("nowhere"));
    }
}
