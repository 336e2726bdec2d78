//! One budget for many machines: limits of `ratelimit-runtime`, kept in Redis or Valkey.
//!
//! ```
//! use ratelimit_redis::RedisStore;
//! use ratelimit_runtime::{OnFailure, RateLimited, install_store, rate_limit};
//!
//! #[rate_limit(key = user, max = 100, window = "1m", store = "redis", name = "profile")]
//! async fn profile(user: u64) -> Result<String, RateLimited> {
//!     Ok(format!("profile of user {user}"))
//! }
//!
//! fn start() -> Result<(), Box<dyn std::error::Error>> {
//!     let store = RedisStore::builder("redis://127.0.0.1:6379")
//!         .prefix("shop")
//!         .on_disconnect(OnFailure::Local)
//!         .connect_lazy()?; // in the background: it never waits for the server
//!     install_store("redis", store)?;
//!     Ok(ratelimit_runtime::verify()?)
//! }
//! # start().unwrap();
//! ```
//!
//! Each decision is one step of one script, which charges all or nothing by the server's clock, in microseconds, and
//! otherwise exactly as this process would. Calls that wait at the same time share a call of the script, and are decided one
//! after the other. Nothing is written for a call that is denied, unless its limit was changed before; and a key lives for
//! as long as it counts for something, and a second more.
//!
//! A store has two threads of its own, which end when its last handle is dropped; one that is installed never is.
//!
//! With the feature `tls`, servers at `rediss://` are spoken to by TLS. Their certificates have to be such as the system
//! trusts, or those in the file that the environment's `SSL_CERT_FILE` names.
//!
//! # When the server does not decide
//!
//! A call never connects, waits for a connection during the first attempt only, and each of its limits in a store is decided
//! within the store's time limit; so a call of three such limits takes three times that at most. Whatever keeps the server
//! from deciding, the [policy](RedisStoreBuilder::on_disconnect) does: it admits, denies, or lets each process use its share
//! of the limit. After three timeouts in a row, or an error that says that no call would be decided, the link is down: calls
//! go by the policy at once, until a write in the background has succeeded. A call that timed out is not tried again; what
//! it was charged is given back unless it was admitted by `Open`.
//!
//! A share is a budget of its own, which begins empty when it is first needed: so in the window in which a server is lost,
//! up to the limit may be admitted once more. What a share denies is a denial like any other, with its own `retry_after`, for
//! a process cannot know when the server is back; a call that costs more than the share ever holds is denied as
//! [`StoreUnavailable`](ratelimit_runtime::Reason::StoreUnavailable).
//!
//! Some charges cannot be given back, and age as if the call had been admitted: if a connection breaks, those of calls that
//! the policy then denied; while the store is [switched off](RedisStore::set_enabled), all refunds; while the link is down,
//! those beyond the first 1,024; and what was charged before the limit got another algorithm, or a `sliding_window` another
//! window or other buckets.
//!
//! # In production
//!
//! **Start-up.** [`verify`](ratelimit_runtime::verify) tells whether every limit's store is installed, not whether its server
//! decides. A service that is not to start without that waits for the first attempt, which tries what all calls do:
//!
//! ```
//! # use std::{thread, time::Duration};
//! # use ratelimit_redis::{LinkState, RedisStore};
//! fn decides(store: &RedisStore) -> Result<(), String> {
//!     while store.state() == LinkState::Starting {
//!         thread::sleep(Duration::from_millis(5)); // for the `timeout` at most
//!     }
//!     match store.state() {
//!         LinkState::Up => Ok(()),
//!         _ => Err(store.last_error().unwrap_or_default()), // such as a wrong password, or a missing permission
//!     }
//! }
//! # let store = RedisStore::builder("redis://127.0.0.1:1").connect_lazy().unwrap();
//! # assert!(decides(&store).unwrap_err().contains("refused"));
//! ```
//!
//! **Server.** Redis from 6 on, or Valkey; tested are Redis 6.2 and 7.0, and Valkey 9.1. Nothing has to be installed there.
//! The server's clock counts, so those of servers that take over from each other should agree.
//!
//! **Names.** A budget is kept at `{prefix}:v1:{name}:{key}`. Give each service and environment a
//! [prefix](RedisStoreBuilder::prefix) of its own, and limits the same `name` in every version that is to share a budget:
//! it may change everything else about the limit, and what was used still counts. While versions with different limits run
//! side by side, one may find less in use than the other has let through, and a `retry_after` holds for the own version alone.
//! A prefix may have colons in it; of all else, other signs than letters, digits and `-_./` are written as `%` and two digits.
//! Keys stand there in an encoding in which texts of up to 21 bytes can be read, such as mail addresses; longer ones as a
//! digest. Besides, each limit that begins with less than it holds has one key, and all processes of a prefix have one.
//!
//! **Changes while running.** `set_spec` and `set_mode` change a limit of their own process. Have all processes do the same,
//! as by a configuration that all watch: until then they are versions with different limits.
//!
//! **Policies for some limits only.** They are the store's: for logins that are to be denied where others may go on, install
//! a second store under a name of its own, with another [prefix](RedisStoreBuilder::prefix). With the same one, each process
//! would count as two, and shares would be half as large.
//!
//! **Memory.** For a key in use, about 0.2 kB; by `sliding_window` and `sliding_log` up to 60 bytes more for each bucket,
//! or call, in the window. So for a large `max`, prefer `sliding_window` or `gcra` to `sliding_log`: what that keeps grows
//! with `max`. With 100,000 calls in the window, it now and then holds the server for 3 ms to tidy up, and for 20 ms where a
//! call that costs as many permits is denied, since the server counts charge by charge when it would be admitted. It keeps 33
//! million at most, and refuses the next.
//!
//! **`maxmemory-policy noeviction`** is right for a server of its own: when it is full, calls go by
//! [`on_disconnect`](RedisStoreBuilder::on_disconnect). Any other policy forgets budgets in use, and each that is forgotten
//! admits its limit once more. Where that has to be, on a cache, say, `volatile-ttl` first forgets what ends soonest.
//!
//! **Persistence and failover.** No persistence is needed. A server that restarts empty has forgotten what was charged, and a
//! replica that takes over without the last writes what was charged in those: each time, a budget admits at most its limit
//! once more. Replicas are asked nothing.
//!
//! **Permissions.** A user needs these commands, for keys that begin with the prefix (here `shop`):
//!
//! ```text
//! ACL SETUSER shop on >password ~shop:* +eval +evalsha +time +get +getrange +set +setrange +append +pexpire +del +unlink +scan +zadd +zcard +zremrangebyscore
//! ```
//!
//! Besides, `+select` if the address names a database; in a Cluster `+cluster|slots +asking`, on every server; and on
//! sentinels `+sentinel|get-master-addr-by-name`, if their default user may not ask that. `CLIENT SETINFO`, which
//! names the client, is tried, and may be refused.
//!
//! **What to watch.** [`RedisStore::state`], [`RedisStore::last_error`] and [`RedisStore::stats`]; and `store_failures` of a
//! limit's [`stats`](ratelimit_runtime::LimitHandle::stats), the calls that a policy has decided. Latencies near the
//! [timeout](RedisStoreBuilder::timeout) mean that calls pass it. A `used` or a `reset_key` that fails says nothing of it:
//! it is counted among the store's calls. [`RedisStore::set_enabled`] switches the store off.

mod builder;
mod cluster;
mod key;
mod link;
mod resp;
mod route;
mod scripts;
mod settings;
mod stats;
mod store;

pub use self::{
    builder::RedisStoreBuilder, link::LinkState, settings::StoreError, stats::StoreStats, store::RedisStore,
};

#[cfg(test)]
#[expect(dead_code, reason = "the tests of the store use the rest")]
#[path = "../tests/support/mod.rs"]
mod support;
