//! The store on real servers, and what becomes of calls when those fail.

mod attribute;
mod budgets;
mod cluster;
mod dying;
mod forgetting;
mod metronome;
mod network;
mod policies;
mod reconnecting;
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

use metronome::timed;
use support::{Engine, Server, eventually};

const TIMEOUT: Duration = Duration::from_millis(50);

/// What a machine under load may add to a time that was promised, besides the lateness of its timers.
const SLACK: Duration = Duration::from_millis(100);

/// The median that a call takes which finds no link.
const AT_ONCE: Duration = Duration::from_micros(50);

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

/// The median of some calls, all of which have to fail as calls do that find no link.
fn time_to_fail_while_down(store: &RedisStore) -> Duration {
    let mut times: Vec<_> = (0..50)
        .map(|_| {
            let began = Instant::now();
            let answer = charge(store, hour(1_000_000));
            let took = began.elapsed();
            assert_eq!(answer.unwrap_err().on_failure(), OnFailure::Closed);
            took
        })
        .collect();
    median(&mut times)
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// On each server that is here.
fn with_servers(options: &[&str], test: impl Fn(Server)) {
    for engine in Engine::all() {
        test(Server::start_with(engine, options));
    }
}

/// With each engine that is here, at the same time: for what waits more than it works.
fn at_each_engine(test: impl Fn(Engine) + Sync) {
    std::thread::scope(|scope| {
        for engine in Engine::all() {
            let test = &test;
            scope.spawn(move || test(engine));
        }
    });
}
