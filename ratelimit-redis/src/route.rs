//! Which link a key is asked by.

use std::sync::Arc;

use crate::{
    builder::{RedisStoreBuilder, Servers, StoreError},
    cluster::Cluster,
    key,
    link::{Failure, Habits, Hub, Link, LinkState, Probe, Request, Source},
    scripts,
};

pub(crate) enum Route {
    One(Link),
    Cluster(Cluster),
}

impl Route {
    pub(crate) fn start(
        settings: &RedisStoreBuilder,
        process: &str,
        hub: &Arc<Hub>,
    ) -> Result<Self, StoreError> {
        let (prefix, process) = (settings.prefix.clone(), process.to_owned());
        let probe = move |number| Probe {
            script: scripts::nodes(),
            key: key::nodes(&prefix, number),
            process: process.clone(),
        };
        let timeout = settings.timeout;
        let habits =
            |probe| Habits { timeout, first_attempt: timeout, probe: Arc::new(probe), mixes_keys: true };
        Ok(match &settings.servers {
            Servers::One(url) => {
                let source = Source::Server(Servers::read(url)?);
                Self::One(Link::start(hub, source, habits(probe(0))))
            }
            Servers::Sentinels(urls, name) => {
                let source = Source::Sentinels(Servers::read_all(urls)?, name.clone());
                Self::One(Link::start(hub, source, habits(probe(0))))
            }
            Servers::Cluster(urls) => {
                Self::Cluster(Cluster::start(hub, Servers::read_all(urls)?, timeout, probe))
            }
        })
    }

    /// The link for a key. `None`: nobody is known to hold it.
    pub(crate) async fn link(&self, key: &[u8]) -> Option<Link> {
        match self {
            Self::One(link) => Some(link.clone()),
            Self::Cluster(cluster) => {
                let link = cluster.link(key).await;
                if link.as_ref().is_none_or(|link| link.state() != LinkState::Up) {
                    cluster.ask_anew();
                }
                link
            }
        }
    }

    /// Whether a server may say that another one holds a key.
    pub(crate) fn may_name_another(&self) -> bool {
        matches!(self, Self::Cluster(_))
    }

    /// Where to ask again, if a server has said that another one holds the key: once, since such a server has done nothing.
    pub(crate) fn elsewhere(&self, failure: &Failure) -> Option<(Link, bool)> {
        let Self::Cluster(cluster) = self else { return None };
        let (address, asking) = match failure {
            Failure::Moved(address) => (address, false),
            Failure::Ask(address) => (address, true),
            _ => return None,
        };
        if !asking {
            cluster.ask_anew();
        }
        Some((cluster.link_to(address)?, asking))
    }

    /// Sends what nobody waits for, now or as soon as it can.
    pub(crate) fn send(&self, request: Request) {
        let link = match self {
            Self::One(link) => Some(link.clone()),
            Self::Cluster(cluster) => cluster.link_now(&request.order.key),
        };
        if let Some(link) = link {
            link.send(request);
        }
    }

    /// All that there are.
    pub(crate) fn links(&self) -> Vec<Link> {
        match self {
            Self::One(link) => vec![link.clone()],
            Self::Cluster(cluster) => cluster.links(),
        }
    }

    pub(crate) fn state(&self) -> LinkState {
        match self {
            Self::One(link) => link.state(),
            Self::Cluster(cluster) => cluster.state(),
        }
    }

    /// Why a link is down, if one is.
    pub(crate) fn last_error(&self) -> Option<String> {
        match self {
            Self::One(link) => link.last_error(),
            Self::Cluster(cluster) => cluster.last_error(),
        }
    }

    /// Processes that were seen last, by the server that has seen most.
    pub(crate) fn nodes(&self) -> u32 {
        self.links().iter().map(Link::nodes).max().unwrap_or(0)
    }

    pub(crate) fn connected(&self) -> u32 {
        self.links().iter().map(Link::connected).sum()
    }
}
