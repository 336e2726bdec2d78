//! One budget for many machines: limits of `ratelimit-runtime`, kept in Redis or Valkey.
//!
//! Each decision is one call of one script, which charges all or nothing by the server's clock, exactly as this process
//! would. When the server does not decide, a policy does, within a time limit: see [`RedisStoreBuilder`]. Servers from
//! Redis 6 and Valkey 7 on will do.

mod builder;
mod key;
mod link;
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
