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
//! after the other. Nothing is written for a call that is denied, and a key lives for as long as it counts for something,
//! and a second more. Servers from Redis 6 and Valkey 7 on will do.
//!
//! With the feature `tls`, servers at `rediss://` are spoken to by TLS. Their certificates have to be such as the system
//! trusts, or those in the file that the environment's `SSL_CERT_FILE` names.
//!
//! # When the server does not decide
//!
//! A call never connects, never waits for a connection, and has its answer within the store's time limit. Whatever keeps
//! the server from deciding, the [policy](RedisStoreBuilder::on_disconnect) does: it admits, denies, or lets each process
//! use its share of the limit. After three timeouts in a row, or an error that says that no call would be decided, the
//! link is down: calls go by the policy at once, until a write in the background has succeeded. A call that timed out is
//! not tried again; what it was charged is given back if the policy has denied it.
//!
//! A server that loses its memory admits at most one budget more.

mod builder;
mod cluster;
mod key;
mod link;
mod resp;
mod route;
mod scripts;
mod stats;
mod store;

pub use self::{
    builder::{RedisStoreBuilder, StoreError},
    link::LinkState,
    stats::StoreStats,
    store::RedisStore,
};

#[cfg(test)]
#[expect(dead_code, reason = "the tests of the store use the rest")]
#[path = "../tests/support/mod.rs"]
mod support;
