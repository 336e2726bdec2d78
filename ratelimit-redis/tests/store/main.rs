//! The store on real servers, and what becomes of calls when those fail.

mod attribute;
mod budgets;
mod cluster;
mod dying;
mod network;
mod policies;
mod refusing;
mod sentinel;
mod slow;

#[path = "../support/proxy.rs"]
mod proxy;
#[path = "../support/mod.rs"]
mod support;

use std::time::{Duration, Instant};

use futures::executor::block_on;
use ratelimit_redis::{LinkState, RedisStore, RedisStoreBuilder};
use ratelimit_runtime::{LimitSpec, OnFailure, Store, StoreCall, StoreFailure, StoreVerdict};

use support::{Engine, Server, eventually};

const TIMEOUT: Duration = Duration::from_millis(50);

/// What a machine under load may add to a time that was promised.
const SLACK: Duration = Duration::from_millis(100);

fn hour(max: u32) -> LimitSpec {
    LimitSpec::new(max, Duration::from_secs(3600))
}

fn call(spec: LimitSpec) -> StoreCall<'static> {
    StoreCall::new("limit", spec, b"key")
}

/// A store that tells by its failures what has happened: `Open` is a timeout, `Closed` the rest.
fn builder(url: &str) -> RedisStoreBuilder {
    RedisStore::builder(url).timeout(TIMEOUT).on_timeout(OnFailure::Open).on_disconnect(OnFailure::Closed)
}

fn up(url: &str) -> RedisStore {
    let store = builder(url).connect_lazy().unwrap();
    assert!(comes_up(&store));
    store
}

/// A store that is slow rather than wrong on a machine under load: for what is not about time.
fn patient(url: &str) -> RedisStore {
    let store = builder(url).timeout(Duration::from_secs(10)).connect_lazy().unwrap();
    assert!(comes_up(&store));
    store
}

fn comes_up(store: &RedisStore) -> bool {
    eventually(Duration::from_secs(5), || store.state() == LinkState::Up)
}

fn charge(store: &RedisStore, spec: LimitSpec) -> Result<StoreVerdict, StoreFailure> {
    block_on(store.charge(&call(spec)))
}

fn used(store: &RedisStore, spec: LimitSpec) -> u32 {
    block_on(store.look(&call(spec))).unwrap().used
}

fn timed<T>(act: impl FnOnce() -> T) -> (T, Duration) {
    let began = Instant::now();
    (act(), began.elapsed())
}

/// The median of some calls, all of which have to fail as calls do that find no link.
fn time_to_fail_while_down(store: &RedisStore) -> Duration {
    let mut times: Vec<_> = (0..50)
        .map(|_| {
            let (answer, took) = timed(|| charge(store, hour(1_000_000)));
            assert_eq!(answer.unwrap_err().on_failure(), OnFailure::Closed);
            took
        })
        .collect();
    times.sort();
    times[times.len() / 2]
}

/// On each server that is here.
fn with_servers(options: &[&str], test: impl Fn(Server)) {
    for engine in Engine::all() {
        test(Server::start_with(engine, options));
    }
}
