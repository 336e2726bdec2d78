//! How a store behaves, and where its servers are.

use std::{borrow::Cow, error::Error, fmt, time::Duration};

use ratelimit_runtime::OnFailure;
use redis::ConnectionInfo;

use crate::link::server;

#[derive(Clone)]
pub(crate) struct Settings {
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

impl Settings {
    /// What the builder could not refuse at once.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        if self.timeout.is_zero() {
            let message = "a timeout of 0 leaves no call time for an answer: give it some milliseconds";
            return Err(StoreError { message: message.to_owned() });
        }
        match self.local_share {
            Some(share) if !(0.0..=1.0).contains(&share) => Err(StoreError {
                message: format!(
                    "a local share of {share} is none: give a part from 0 to 1, such as 0.1 for a tenth"
                ),
            }),
            _ => Ok(()),
        }
    }
}

impl Servers {
    pub(crate) fn read(url: &str) -> Result<ConnectionInfo, StoreError> {
        server(url).map_err(|why| StoreError { message: format!("`{}`: {why}", without_password(url)) })
    }

    pub(crate) fn read_all(urls: &[String]) -> Result<Vec<ConnectionInfo>, StoreError> {
        if urls.is_empty() {
            return Err(StoreError { message: "no address is given".to_owned() });
        }
        urls.iter().map(|url| Self::read(url)).collect()
    }

    pub(crate) fn read_cluster(urls: &[String]) -> Result<Vec<ConnectionInfo>, StoreError> {
        let servers = Self::read_all(urls)?;
        match servers.iter().map(|server| server.redis_settings().db()).find(|database| *database != 0) {
            Some(database) => Err(StoreError {
                message: format!(
                    "a Cluster has no database {database}: leave it out, and set a `prefix` instead"
                ),
            }),
            None => Ok(servers),
        }
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

/// Without the addresses, which may hold passwords.
impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
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
