//! Limits whose budgets live in a store: what the store is asked, and what is made of its answers.
//!
//! The store is one that the tests hold in their hands; real ones are the matter of `ratelimit-redis`.

mod calls;
mod failures;
mod fake;
mod handles;
mod stacks;
mod waiting;

use std::time::Duration;

use ratelimit_runtime::{
    LazyKeyedLimiter, LazyLimiter, LimitHandle, Mode, OnFailure, RateLimited, Reason, install_store, limit,
    limiter, rate_limit, verify,
};

use fake::install;

type Answer = Result<(), RateLimited>;

fn handle(name: &str) -> LimitHandle {
    limit(name).unwrap()
}
