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
        let again = request.redirected(told)?;
        if let Failure::Moved(_) = told {
            self.ask_anew();
        }
        let (Failure::Moved(address) | Failure::Ask(address)) = told else { return None };
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

    /// Keeps the links to masters that are known, and has one started to each that is not, by its address and its slots.
    pub(super) fn go_by(
        &mut self,
        ranges: Vec<Range>,
        start: impl Fn(&str, &dyn Fn(u16) -> bool) -> Option<Master>,
    ) {
        let owns = |address: &str, slot: u16| {
            ranges.iter().any(|range| range.master == address && range.holds(slot))
        };
        self.masters.retain(|address, master| owns(address, master.probed));
        let addresses: HashSet<&String> = ranges.iter().map(|range| &range.master).collect();
        for address in addresses {
            if !self.masters.contains_key(address)
                && let Some(master) = start(address, &|slot| owns(address, slot))
            {
                self.masters.insert(address.clone(), master);
            }
        }
        self.ranges = ranges;
    }
}

impl Range {
    fn holds(&self, slot: u16) -> bool {
        (self.first..=self.last).contains(&slot)
    }
}

/// The slot of a key without braces.
pub(super) fn slot(key: &[u8]) -> u16 {
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
}
