//! A Cluster: a link to each master, and which of them holds a key.
//!
//! Each link has its own breaker, so that a master that is down costs the calls for its own keys and no others. The map is
//! read by a task of its own: at start, when a server says that a key is elsewhere, and now and then.

use std::{
    collections::{HashMap, HashSet},
    slice,
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard, Weak},
    time::Duration,
};

use redis::{ConnectionInfo, FromRedisValue as _, RedisResult, Value, cmd};
use tokio::{
    sync::{Notify, watch},
    time::{sleep, timeout},
};

use crate::link::{Failure, Habits, Hub, Link, LinkState, Probe, Request, Source, Wire, server_at, shown};

const SLOTS: u16 = 16_384;

/// The map is read anew that often, if nothing asks for it before; and no more often than that.
const USUALLY: Duration = Duration::from_secs(5);
const AT_MOST: Duration = Duration::from_millis(100);

const ANSWERS: Duration = Duration::from_millis(500);

#[derive(Clone)]
pub(crate) struct Cluster {
    shared: Arc<Shared>,
    /// Whether the first attempt to read the map is over.
    ready: watch::Receiver<bool>,
}

struct Shared {
    map: RwLock<Map>,
    asks_anew: Notify,
}

#[derive(Default)]
struct Map {
    /// The master of each slot, from the first of a range up to the last.
    ranges: Vec<(u16, u16, String)>,
    links: HashMap<String, Master>,
    /// Why it could not be read, the last time.
    error: Option<String>,
}

impl Map {
    fn unread() -> Self {
        Self { error: Some("no server has told which of them holds a key".to_owned()), ..Self::default() }
    }
}

struct Master {
    link: Link,
    /// The slot of what its link writes to see whether it decides.
    probed: u16,
}

impl Cluster {
    /// Starts to read the map. `probe` makes the probe of a key's suffix.
    pub(crate) fn start(
        hub: &Arc<Hub>,
        seeds: Vec<ConnectionInfo>,
        timeout: Duration,
        probe: impl Fn(u32) -> Probe + Send + Sync + 'static,
    ) -> Self {
        let shared = Arc::new(Shared { map: RwLock::new(Map::unread()), asks_anew: Notify::new() });
        let (is_ready, ready) = watch::channel(false);
        let reader =
            Reader { shared: Arc::downgrade(&shared), hub: Arc::downgrade(hub), seeds, timeout, probe };
        hub.spawn(reader.run(is_ready));
        Self { shared, ready }
    }

    /// Asks the server that holds the key, and the one that it names if it does not: once, since such a server has done
    /// nothing. Waits for the first look at the map, which is over in time.
    pub(crate) async fn ask(&self, request: Request) -> Result<Value, Failure> {
        _ = self.ready.clone().wait_for(|ready| *ready).await;
        let link = self.link(request.order.key());
        if link.as_ref().is_none_or(|link| link.state() != LinkState::Up) {
            self.ask_anew();
        }
        let mut again = request.again();
        let answer = link.ok_or(Failure::Disconnected)?.ask(request).await;
        let elsewhere = match &answer {
            Err(Failure::Moved(address)) => {
                self.ask_anew();
                self.link_to(address)
            }
            Err(Failure::Ask(address)) => {
                again.asking = true;
                self.link_to(address)
            }
            _ => None,
        };
        match elsewhere {
            Some(link) => link.ask(again).await,
            None => answer,
        }
    }

    /// Sends what nobody waits for, now or as soon as it can.
    pub(crate) fn send(&self, request: Request) {
        if let Some(link) = self.link(request.order.key()) {
            link.send(request);
        }
    }

    /// The link to the master of a key.
    fn link(&self, key: &[u8]) -> Option<Link> {
        let slot = slot(key);
        let map = self.map();
        let of_slot = map.ranges.iter().find(|(first, last, _)| (*first..=*last).contains(&slot));
        Some(map.links.get(&of_slot?.2)?.link.clone())
    }

    /// The link to a server that another one has named.
    fn link_to(&self, address: &str) -> Option<Link> {
        Some(self.map().links.get(address)?.link.clone())
    }

    pub(crate) fn links(&self) -> Vec<Link> {
        self.map().links.values().map(|master| master.link.clone()).collect()
    }

    /// Has the map read again.
    fn ask_anew(&self) {
        self.shared.asks_anew.notify_one();
    }

    /// That of the link for which it is worst.
    pub(crate) fn state(&self) -> LinkState {
        let rank = |state: &LinkState| match state {
            LinkState::Up => 0,
            LinkState::Starting => 1,
            LinkState::Probing => 2,
            LinkState::Down | LinkState::Off => 3,
        };
        let without_map = if *self.ready.borrow() { LinkState::Down } else { LinkState::Starting };
        self.links().iter().map(Link::state).max_by_key(rank).unwrap_or(without_map)
    }

    /// Why one is down, or why there are none.
    pub(crate) fn last_error(&self) -> Option<String> {
        let links = self.links();
        if links.is_empty() {
            return self.map().error.clone().filter(|_| *self.ready.borrow());
        }
        links.iter().find_map(Link::last_error)
    }

    fn map(&self) -> RwLockReadGuard<'_, Map> {
        self.shared.map.read().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads the map, for as long as somebody goes by it.
struct Reader<P> {
    shared: Weak<Shared>,
    hub: Weak<Hub>,
    seeds: Vec<ConnectionInfo>,
    timeout: Duration,
    probe: P,
}

impl<P: Fn(u32) -> Probe + Send + Sync> Reader<P> {
    async fn run(self, is_ready: watch::Sender<bool>) {
        // Callers wait for the first attempt, and for that only.
        if let Ok(Some(ranges)) = timeout(self.timeout / 2, self.read()).await {
            self.go_by(ranges);
        }
        _ = is_ready.send(true);
        while let Some(shared) = self.shared.upgrade() {
            let asked = timeout(USUALLY, shared.asks_anew.notified()).await;
            drop(shared);
            if let Some(ranges) = self.read().await {
                self.go_by(ranges);
            }
            if asked.is_ok() {
                sleep(AT_MOST).await;
            }
        }
    }

    /// The masters and their slots, by the first server that tells.
    async fn read(&self) -> Option<Vec<(u16, u16, String)>> {
        let known: Vec<String> = {
            let shared = self.shared.upgrade()?;
            let map = shared.map.read().unwrap_or_else(PoisonError::into_inner);
            map.links.keys().cloned().collect()
        };
        let like = self.seeds.first()?;
        let known = known.iter().filter_map(|address| server_at(address, like));
        for server in self.seeds.iter().cloned().chain(known) {
            let host = match server.addr() {
                redis::ConnectionAddr::Tcp(host, _) | redis::ConnectionAddr::TcpTls { host, .. } => {
                    host.clone()
                }
                _ => String::new(),
            };
            let error = match timeout(ANSWERS, ask(&server, &host)).await {
                Ok(Ok(ranges)) if !ranges.is_empty() => return Some(ranges),
                Ok(Ok(_)) => "no master has a slot".to_owned(),
                Ok(Err(error)) => shown(&error, slice::from_ref(&server)),
                Err(_) => format!("no answer within {ANSWERS:?}"),
            };
            let shared = self.shared.upgrade()?;
            let mut map = shared.map.write().unwrap_or_else(PoisonError::into_inner);
            map.error = Some(format!("{}: {error}", server.addr()));
        }
        None
    }

    /// Keeps the links to masters that are known, and starts one to each that is not.
    fn go_by(&self, ranges: Vec<(u16, u16, String)>) {
        let (Some(shared), Some(hub), Some(like)) =
            (self.shared.upgrade(), self.hub.upgrade(), self.seeds.first())
        else {
            return;
        };
        let mut map = shared.map.write().unwrap_or_else(PoisonError::into_inner);
        let masters: HashSet<&String> = ranges.iter().map(|(.., master)| master).collect();
        let owns = |address: &String, slot: u16| {
            ranges.iter().any(|(first, last, master)| master == address && (*first..=*last).contains(&slot))
        };
        map.links.retain(|address, master| owns(address, master.probed));
        for address in masters {
            if map.links.contains_key(address) {
                continue;
            }
            // A key of its own to write to: the first of a row that falls into one of its slots.
            let probes = (0..4 * u32::from(SLOTS)).map(&self.probe);
            let probe = probes.map(|probe| (slot(&probe.key), probe)).find(|(slot, _)| owns(address, *slot));
            if let (Some((probed, probe)), Some(server)) = (probe, server_at(address, like)) {
                // The first half of a caller's time went to the map.
                let habits = Habits {
                    timeout: self.timeout,
                    first_attempt: self.timeout / 2,
                    probe: Arc::new(probe),
                    mixes_keys: false,
                };
                let link = Link::start(&hub, Source::Server(server), habits);
                map.links.insert(address.clone(), Master { link, probed });
            }
        }
        map.ranges = ranges;
    }
}

/// What a server says of the slots of each master.
async fn ask(server: &ConnectionInfo, host: &str) -> RedisResult<Vec<(u16, u16, String)>> {
    let question = cmd("CLUSTER").arg("SLOTS").get_packed_command();
    let answer = Wire::connect(server).await?.ask(&question).await?;
    let answer = Vec::<Vec<Value>>::from_redis_value(answer)?;
    let ranges = answer.into_iter().filter_map(|range| {
        let mut parts = range.into_iter();
        let first = u16::from_redis_value(parts.next()?).ok()?;
        let last = u16::from_redis_value(parts.next()?).ok()?;
        let master = Vec::<Value>::from_redis_value(parts.next()?).ok()?;
        let mut master = master.into_iter();
        let named = String::from_redis_value(master.next()?).unwrap_or_default();
        let port = u16::from_redis_value(master.next()?).ok()?;
        let named = if named.is_empty() || named == "?" { host } else { &named };
        Some((first, last, format!("{named}:{port}")))
    });
    Ok(ranges.collect())
}

/// The slot of a key without braces.
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
}
