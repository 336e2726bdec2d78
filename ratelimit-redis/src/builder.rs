//! What is chosen about a store before it is one.

use std::{fmt, time::Duration};

use ratelimit_runtime::OnFailure;

use crate::{
    settings::{Servers, Settings, StoreError},
    store::RedisStore,
};

/// Later than that, nobody needs an answer; and any clock can tell when it is over.
const LONGEST_TIMEOUT: Duration = Duration::from_secs(60 * 60);

/// Chooses how a [`RedisStore`] behaves.
#[derive(Clone)]
#[must_use = "nothing is connected before `connect_lazy`"]
pub struct RedisStoreBuilder {
    settings: Settings,
}

impl RedisStore {
    /// A store on one server, such as `redis://127.0.0.1:6379`; `redis://user:password@host:port/database` in full, and
    /// `rediss://` for TLS, which takes the feature `tls`.
    ///
    /// ```
    /// use ratelimit_redis::RedisStore;
    /// use ratelimit_runtime::OnFailure;
    ///
    /// let store = RedisStore::builder("redis://127.0.0.1:6379")
    ///     .prefix("shop")
    ///     .on_disconnect(OnFailure::Local)
    ///     .local_share(0.1)
    ///     .connect_lazy()?;
    /// # Ok::<(), ratelimit_redis::StoreError>(())
    /// ```
    pub fn builder(server: &str) -> RedisStoreBuilder {
        RedisStoreBuilder::new(Servers::One(server.to_owned()))
    }

    /// A store on a Cluster: any of its servers, from which it learns of the others. Each master has a link of its own, and
    /// one that is down concerns the calls for its own keys only.
    pub fn cluster<S: AsRef<str>>(servers: impl IntoIterator<Item = S>) -> RedisStoreBuilder {
        let servers = servers.into_iter().map(|server| server.as_ref().to_owned()).collect();
        RedisStoreBuilder::new(Servers::Cluster(servers))
    }

    /// A store on whichever server the sentinels call the master of that name. User, password and database in the
    /// addresses are those of the master; sentinels are tried with and without them.
    pub fn sentinel<S: AsRef<str>>(
        sentinels: impl IntoIterator<Item = S>,
        master: &str,
    ) -> RedisStoreBuilder {
        let sentinels = sentinels.into_iter().map(|sentinel| sentinel.as_ref().to_owned()).collect();
        RedisStoreBuilder::new(Servers::Sentinels(sentinels, master.to_owned()))
    }
}

impl RedisStoreBuilder {
    fn new(servers: Servers) -> Self {
        let settings = Settings {
            servers,
            prefix: "ratelimit".to_owned(),
            timeout: Duration::from_millis(50),
            on_timeout: OnFailure::Open,
            on_disconnect: OnFailure::Local,
            local_share: None,
        };
        Self { settings }
    }

    /// What every key begins with, so that several services can use one server. Default: `ratelimit`.
    pub fn prefix(mut self, prefix: &str) -> Self {
        prefix.clone_into(&mut self.settings.prefix);
        self
    }

    /// The longest that a call waits for the store, from the call on: more than 0, and an hour if it is more. Default: 50 ms.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.settings.timeout = timeout.min(LONGEST_TIMEOUT);
        self
    }

    /// What decides about a call that was not answered in time, and about one that finds 16,384 others waiting to be sent:
    /// the server is there, but slower than it is asked. Default: [`OnFailure::Open`].
    pub fn on_timeout(mut self, on_timeout: OnFailure) -> Self {
        self.settings.on_timeout = on_timeout;
        self
    }

    /// What decides about every other call that the server does not: while there is no connection, or if it breaks before
    /// the answer; if the server answers with an error (read-only, out of memory, no permission, a key that is not ours);
    /// and while the store is [switched off](RedisStore::set_enabled). Default: [`OnFailure::Local`].
    ///
    /// It says nothing of a limit whose store is not installed: that is decided by its process alone, by all of the limit.
    pub fn on_disconnect(mut self, on_disconnect: OnFailure) -> Self {
        self.settings.on_disconnect = on_disconnect;
        self
    }

    /// The part of each limit that this process may use while [`OnFailure::Local`] decides, from 0 to 1. Default: the
    /// limit divided by the number of processes that the store has seen last. It is never less than one permit.
    pub fn local_share(mut self, local_share: f64) -> Self {
        self.settings.local_share = Some(local_share);
        self
    }

    /// The store. It connects in the background: this never waits for the server, and does not fail without it.
    ///
    /// # Errors
    ///
    /// If an address cannot be read, the timeout is 0, or the share is not from 0 to 1.
    pub fn connect_lazy(self) -> Result<RedisStore, StoreError> {
        self.settings.check()?;
        RedisStore::connect(self.settings)
    }
}

impl fmt::Debug for RedisStoreBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.settings, f)
    }
}
