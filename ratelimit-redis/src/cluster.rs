//! A Cluster: a link to each master, and which of them holds a key.
//!
//! Each link has its own breaker, so that a master that is down costs the calls for its own keys and no others. The map is
//! read by a task of its own: at start, when a server says that a key is elsewhere, and now and then.

mod map;
mod reader;

use std::{
    sync::{Arc, RwLockReadGuard},
    time::Duration,
};

use redis::{ConnectionInfo, Value};
use tokio::sync::watch;

use self::{
    map::{Map, Shared},
    reader::Reader,
};
use crate::link::{Failure, Hub, Link, LinkState, Masters as _, Probe, Request, Unanswered};

#[derive(Clone)]
pub(crate) struct Cluster {
    shared: Arc<Shared>,
    /// Whether the first attempt to read the map is over.
    ready: watch::Receiver<bool>,
}

impl Cluster {
    /// Starts to read the map. `probe` makes the probe whose key has that number.
    pub(crate) fn start(
        hub: &Arc<Hub>,
        seeds: Vec<ConnectionInfo>,
        timeout: Duration,
        probe: impl Fn(u32) -> Probe + Send + Sync + 'static,
    ) -> Self {
        let shared = Arc::new(Shared::unread());
        let (is_ready, ready) = watch::channel(false);
        let reader =
            Reader { shared: Arc::downgrade(&shared), hub: Arc::downgrade(hub), seeds, timeout, probe };
        hub.spawn(|network| reader.run(is_ready, network));
        Self { shared, ready }
    }

    /// Asks the server that holds the key, and the one that it names if it does not, which has done nothing then. Waits for the
    /// first look at the map, which is over in time.
    pub(crate) async fn ask(&self, request: Request) -> Result<Value, Unanswered> {
        _ = self.ready.clone().wait_for(|ready| *ready).await;
        let mut link = self.map().link(request.order.key());
        if link.as_ref().is_none_or(|link| link.state() != LinkState::Up) {
            self.shared.ask_anew();
        }
        let mut request = request;
        loop {
            let again = request.again();
            let answer = link.ok_or(Failure::Disconnected)?.ask(request).answer().await;
            let Err(Unanswered { failure, .. }) = &answer else { return answer };
            match self.shared.elsewhere(again, failure) {
                Some((other, again)) => (link, request) = (Some(other), again),
                None => return answer,
            }
        }
    }

    /// Sends what nobody waits for, now or as soon as it can.
    pub(crate) fn send(&self, request: Request) {
        self.shared.send(request);
    }

    pub(crate) fn links(&self) -> Vec<Link> {
        self.map().links().cloned().collect()
    }

    /// That of the link for which it is worst.
    pub(crate) fn state(&self) -> LinkState {
        let rank = |state: &LinkState| match state {
            LinkState::Up => 0,
            LinkState::Starting => 1,
            LinkState::Probing => 2,
            LinkState::Down | LinkState::Off => 3,
        };
        if self.map().without_link().is_some() {
            return LinkState::Down;
        }
        let without_map = if *self.ready.borrow() { LinkState::Down } else { LinkState::Starting };
        self.links().iter().map(Link::state).max_by_key(rank).unwrap_or(without_map)
    }

    /// Why one is down, or why there are none.
    pub(crate) fn last_error(&self) -> Option<String> {
        let links = self.links();
        if links.is_empty() {
            return self.map().error.clone().filter(|_| *self.ready.borrow());
        }
        let without_link = || self.map().without_link().map(|master| format!("{master}: no address"));
        links.iter().find_map(Link::last_error).or_else(without_link)
    }

    fn map(&self) -> RwLockReadGuard<'_, Map> {
        self.shared.map()
    }
}
