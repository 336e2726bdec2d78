//! What is chosen about a store before it is one.

use std::{borrow::Cow, error::Error, fmt, time::Duration};

use ratelimit_runtime::OnFailure;

use redis::ConnectionInfo;

use crate::{link::server, store::RedisStore};

/// Chooses how a [`RedisStore`] behaves.
#[derive(Clone)]
#[must_use = "nothing is connected before `connect_lazy`"]
pub struct RedisStoreBuilder {
    pub(crate) servers: Servers,
    pub(crate) prefix: String,
    pub(crate) timeout: Duration,
    pub(crate) on_timeout: OnFailure,
    pub(crate) on_disconnect: OnFailure,
    pub(crate) local_share: Option<f64>,
}

#[derive(Clone)]
pub(crate) enum Servers {
    One(String),
    /// Any of a Cluster's servers, to learn of the others.
    Cluster(Vec<String>),
    /// Sentinels, and the name that they know the master by.
    Sentinels(Vec<String>, String),
}

impl RedisStoreBuilder {
    pub(crate) fn new(servers: Servers) -> Self {
        Self {
            servers,
            prefix: "ratelimit".to_owned(),
            timeout: Duration::from_millis(50),
            on_timeout: OnFailure::Open,
            on_disconnect: OnFailure::Local,
            local_share: None,
        }
    }

    /// What every key begins with, so that several services can use one server. Default: `ratelimit`.
    pub fn prefix(mut self, prefix: &str) -> Self {
        prefix.clone_into(&mut self.prefix);
        self
    }

    /// The longest that a call waits for the store, from the call on. Default: 50 ms.
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// What decides about a call that was not answered in time, and about one that finds 16,384 others waiting to be sent:
    /// the server is there, but slower than it is asked. Default: [`OnFailure::Open`].
    pub fn on_timeout(self, on_timeout: OnFailure) -> Self {
        Self { on_timeout, ..self }
    }

    /// What decides about every other call that the server does not: while there is no connection, or if it breaks before
    /// the answer; if the server answers with an error (read-only, out of memory, no permission, a key that is not ours);
    /// and while the store is [switched off](RedisStore::set_enabled). Default: [`OnFailure::Local`].
    ///
    /// It says nothing of a limit whose store is not installed: that is decided by its process alone, by all of the limit.
    pub fn on_disconnect(self, on_disconnect: OnFailure) -> Self {
        Self { on_disconnect, ..self }
    }

    /// The part of each limit that this process may use while [`OnFailure::Local`] decides, from 0 to 1. Default: the
    /// limit divided by the number of processes that the store has seen last. It is never less than one permit.
    pub fn local_share(self, local_share: f64) -> Self {
        Self { local_share: Some(local_share), ..self }
    }

    /// The store. It connects in the background: this never waits for the server, and does not fail without it.
    ///
    /// # Errors
    ///
    /// If an address cannot be read.
    pub fn connect_lazy(self) -> Result<RedisStore, StoreError> {
        RedisStore::connect(self)
    }
}

impl Servers {
    pub(crate) fn read(url: &str) -> Result<ConnectionInfo, StoreError> {
        server(url).map_err(|error| {
            let url = without_password(url);
            let message = format!(
                "`{url}`: {error}; write `redis://host:port` or `redis://user:password@host:port/database`"
            );
            StoreError { message }
        })
    }

    pub(crate) fn read_all(urls: &[String]) -> Result<Vec<ConnectionInfo>, StoreError> {
        if urls.is_empty() {
            return Err(StoreError { message: "no address is given".to_owned() });
        }
        urls.iter().map(|url| Self::read(url)).collect()
    }
}

/// An address as it may be shown: who speaks and by which password is left out.
fn without_password(url: &str) -> Cow<'_, str> {
    match url.rsplit_once('@') {
        Some((before, server)) => {
            let scheme = before.split_once("://").map_or("", |(scheme, _)| scheme);
            format!("{scheme}://…@{server}").into()
        }
        None => url.into(),
    }
}

impl fmt::Debug for RedisStoreBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Addresses may hold passwords.
        f.debug_struct("RedisStoreBuilder")
            .field("prefix", &self.prefix)
            .field("timeout", &self.timeout)
            .field("on_timeout", &self.on_timeout)
            .field("on_disconnect", &self.on_disconnect)
            .field("local_share", &self.local_share)
            .finish_non_exhaustive()
    }
}

/// A store cannot be set up as it was described.
#[derive(Clone)]
pub struct StoreError {
    message: String,
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// As text, since that is what a `main` shows which returns it.
impl fmt::Debug for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Error for StoreError {}
