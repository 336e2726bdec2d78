//! Which link a key is asked by.

use std::{future::Future, pin::Pin, sync::Arc};

use redis::Value;

use crate::{
    cluster::Cluster,
    key,
    link::{Habits, Hub, Link, LinkState, Pending, Probe, Request, Source, Unanswered},
    scripts,
    settings::{Servers, Settings, StoreError},
};

pub(crate) enum Route {
    One(Link),
    Cluster(Cluster),
}

/// What has been asked by a route.
pub(crate) enum Asked {
    One(Pending),
    Cluster(Pin<Box<dyn Future<Output = Result<Value, Unanswered>> + Send>>),
}

impl Route {
    pub(crate) fn start(settings: &Settings, process: &str, hub: &Arc<Hub>) -> Result<Self, StoreError> {
        let (prefix, process) = (settings.prefix.clone(), process.to_owned());
        let probe = move |number| Probe {
            script: scripts::nodes(),
            key: key::nodes(&prefix, number),
            process: process.clone(),
        };
        let timeout = settings.timeout;
        let habits = |probe| Habits {
            timeout,
            first_attempt: timeout,
            probe: Arc::new(probe),
            mixes_keys: true,
            masters: None,
        };
        Ok(match &settings.servers {
            Servers::One(url) => {
                let source = Source::Server(Servers::read(url)?);
                Self::One(Link::start(hub, source, habits(probe(None))))
            }
            Servers::Sentinels(urls, name) => {
                let source = Source::Sentinels(Servers::read_all(urls)?, name.clone());
                Self::One(Link::start(hub, source, habits(probe(None))))
            }
            Servers::Cluster(urls) => {
                Self::Cluster(Cluster::start(hub, Servers::read_cluster(urls)?, timeout, move |number| {
                    probe(Some(number))
                }))
            }
        })
    }

    /// Asks the server that holds the key.
    pub(crate) fn ask(&self, request: Request) -> Asked {
        match self {
            Self::One(link) => Asked::One(link.ask(request)),
            Self::Cluster(cluster) => {
                let cluster = cluster.clone();
                Asked::Cluster(Box::pin(async move { cluster.ask(request).await }))
            }
        }
    }

    /// Sends what nobody waits for, now or as soon as it can.
    pub(crate) fn send(&self, request: Request) {
        match self {
            Self::One(link) => link.send(request),
            Self::Cluster(cluster) => cluster.send(request),
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

impl Asked {
    /// Waits for the answer, which comes in time.
    pub(crate) async fn answer(self) -> Result<Value, Unanswered> {
        match self {
            Self::One(pending) => pending.answer().await,
            Self::Cluster(answer) => answer.await,
        }
    }
}
