//! Reads the map, for as long as somebody goes by it.

use std::{
    slice,
    sync::{Arc, Weak},
    time::Duration,
};

use redis::{ConnectionAddr, ConnectionInfo, FromRedisValue as _, RedisResult, Value, cmd};
use tokio::{
    sync::watch,
    time::{sleep, timeout},
};

use super::map::{Master, Range, SLOTS, Shared, number_of, slot_of_number};
use crate::link::{Habits, Hub, Link, Network, Probe, Source, Wire, server_at, shown};

/// The map is read anew that often, if nothing asks for it before; and no more often than that.
const USUALLY: Duration = Duration::from_secs(5);
const AT_MOST: Duration = Duration::from_millis(100);

const ANSWERS: Duration = Duration::from_millis(500);

pub(super) struct Reader<P> {
    pub(super) shared: Weak<Shared>,
    pub(super) hub: Weak<Hub>,
    pub(super) seeds: Vec<ConnectionInfo>,
    pub(super) timeout: Duration,
    /// Makes the probe whose key has that number.
    pub(super) probe: P,
}

impl<P: Fn(u32) -> Probe + Send + Sync> Reader<P> {
    pub(super) async fn run(self, is_ready: watch::Sender<bool>, network: Network) {
        // Callers wait for the first attempt, and for that only.
        if let Ok(Some(ranges)) = timeout(self.timeout / 2, self.read(&network)).await {
            self.go_by(ranges);
        }
        _ = is_ready.send(true);
        while let Some(shared) = self.shared.upgrade() {
            let asked = timeout(USUALLY, shared.asks_anew.notified()).await;
            drop(shared);
            if let Some(ranges) = self.read(&network).await {
                self.go_by(ranges);
            }
            if asked.is_ok() {
                sleep(AT_MOST).await;
            }
        }
    }

    /// The masters and their slots, by the first server that tells.
    async fn read(&self, network: &Network) -> Option<Vec<Range>> {
        let like = self.seeds.first()?;
        let known: Vec<String> = self.shared.upgrade()?.map().addresses().cloned().collect();
        let known = known.iter().filter_map(|address| server_at(address, like));
        for server in self.seeds.iter().cloned().chain(known) {
            let error = match timeout(ANSWERS, ask(&server, network)).await {
                Ok(Ok(ranges)) if !ranges.is_empty() => return Some(ranges),
                Ok(Ok(_)) => "no master has a slot".to_owned(),
                Ok(Err(error)) => shown(&error, slice::from_ref(&server)),
                Err(_) => format!("no answer within {ANSWERS:?}"),
            };
            self.shared.upgrade()?.map_mut().error = Some(format!("{}: {error}", server.addr()));
        }
        None
    }

    fn go_by(&self, ranges: Vec<Range>) {
        if let (Some(shared), Some(hub)) = (self.shared.upgrade(), self.hub.upgrade()) {
            // That takes a moment, for which nobody who goes by the map has to wait.
            let to_be_started = shared.map().to_be_started(&ranges);
            let start = |address: &str| Some((address.to_owned(), self.start(&hub, address, &ranges)?));
            let started = to_be_started.into_iter().filter_map(start).collect();
            shared.map_mut().go_by(ranges, started);
        }
    }

    fn start(&self, hub: &Hub, address: &str, ranges: &[Range]) -> Option<Master> {
        let server = server_at(address, self.seeds.first()?)?;
        // A key of its own to write to.
        let number = number_of(ranges, address)?;
        let (probe, probed) = ((self.probe)(number), slot_of_number(number));
        // The first half of a caller's time went to the map.
        let habits = Habits {
            timeout: self.timeout,
            first_attempt: self.timeout / 2,
            probe: Arc::new(probe),
            mixes_keys: false,
            masters: Some(self.shared.clone()),
        };
        Some(Master { link: Link::start(hub, Source::Server(server), habits), probed })
    }
}

/// What a server says of the slots of each master.
async fn ask(server: &ConnectionInfo, network: &Network) -> RedisResult<Vec<Range>> {
    let host = match server.addr() {
        ConnectionAddr::Tcp(host, _) | ConnectionAddr::TcpTls { host, .. } => host,
        _ => "",
    };
    let question = cmd("CLUSTER").arg("SLOTS").get_packed_command();
    let answer = Wire::connect(server, network).await?.ask(&question).await?;
    let answer = Vec::<Vec<Value>>::from_redis_value(answer)?;
    let ranges = answer.into_iter().filter_map(|range| {
        let mut parts = range.into_iter();
        let first = u16::from_redis_value(parts.next()?).ok()?;
        let last = u16::from_redis_value(parts.next()?).ok()?;
        let master = Vec::<Value>::from_redis_value(parts.next()?).ok()?;
        let mut master = master.into_iter();
        let named = String::from_redis_value(master.next()?).unwrap_or_default();
        let port = u16::from_redis_value(master.next()?).ok()?;
        // A server may not know by which name it was reached.
        let named = if named.is_empty() || named == "?" { host } else { &named };
        (first <= last && last < SLOTS).then(|| Range { first, last, master: format!("{named}:{port}") })
    });
    Ok(ranges.collect())
}
