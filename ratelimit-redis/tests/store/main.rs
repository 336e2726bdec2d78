//! The store on real servers, and what becomes of calls when those fail.

mod attribute;
mod budgets;
mod cluster;
mod confusion;
mod dying;
mod forgetting;
mod network;
mod nonsense;
mod permissions;
mod policies;
mod processes;
mod reconnecting;
mod refusing;
mod sentinel;
mod slow;
mod telling;
mod tls;

#[path = "../support/hostile.rs"]
mod hostile;
#[path = "../support/proxy.rs"]
mod proxy;
#[path = "../support/mod.rs"]
mod support;

use std::{
    cell::RefCell,
    fmt,
    time::{Duration, Instant},
};

use futures::executor::block_on;
use ratelimit_redis::{LinkState, RedisStore, RedisStoreBuilder};
use ratelimit_runtime::{LimitSpec, OnFailure, Store, StoreCall, StoreFailure, StoreVerdict};

use support::{Engine, Server, eventually};

const TIMEOUT: Duration = Duration::from_millis(50);

/// What a machine under load may add to a time that was promised.
const SLACK: Duration = Duration::from_millis(100);

/// The median that a call takes which finds no link.
const AT_ONCE: Duration = Duration::from_micros(50);

/// For what has to happen, and of which nobody has promised when.
const LIVELY: Duration = Duration::from_secs(30);

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
    let is_up = eventually(LIVELY, || store.state() == LinkState::Up);
    if !is_up {
        eprintln!("{:?}: {:?}", store.state(), store.last_error());
    }
    is_up
}

fn charge(store: &RedisStore, spec: LimitSpec) -> Result<StoreVerdict, StoreFailure> {
    block_on(store.charge(&call(spec)))
}

/// Whether the server decides, perhaps not at once.
fn decides(store: &RedisStore) -> bool {
    eventually(LIVELY, || charge(store, hour(1_000_000)).is_ok())
}

fn used(store: &RedisStore, spec: LimitSpec) -> u32 {
    let mut answer = Err(());
    assert!(eventually(LIVELY, || {
        answer = block_on(store.look(&call(spec))).map_err(drop);
        answer.is_ok()
    }));
    answer.unwrap().used
}

thread_local! {
    /// What has taken longer than was promised.
    static LATE: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

fn timed<T>(act: impl FnOnce() -> T) -> (T, Duration) {
    let began = Instant::now();
    (act(), began.elapsed())
}

/// What took longer fails the test, unless it does not when the test is repeated: then it was the machine.
#[track_caller]
fn in_time(took: Duration, promised: Duration) {
    punctual(took < promised + SLACK, format_args!("{took:?} instead of {promised:?}"));
}

/// The same of what else goes wrong if a machine stands still for a moment.
#[track_caller]
fn punctual(is_punctual: bool, otherwise: fmt::Arguments<'_>) {
    if !is_punctual {
        let here = std::panic::Location::caller();
        LATE.with_borrow_mut(|late| late.push(format!("{otherwise} at {here}")));
    }
}

/// All of some calls have to fail as calls do that find no link.
#[track_caller]
fn fails_at_once(store: &RedisStore) {
    let calls = (0..50).map(|_| {
        let began = Instant::now();
        let answer = charge(store, hour(1_000_000));
        let took = began.elapsed();
        assert_eq!(answer.unwrap_err().on_failure(), OnFailure::Closed);
        took
    });
    let median = median(&mut calls.collect::<Vec<_>>());
    if median >= AT_ONCE {
        in_time(median + SLACK, AT_ONCE);
    }
}

/// Three times, if it takes that to be in time.
fn until_in_time(test: impl Fn()) {
    let mut late = Vec::new();
    for _ in 0..3 {
        test();
        late = LATE.take();
        if late.is_empty() {
            return;
        }
    }
    panic!("{late:?}");
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort();
    times[times.len() / 2]
}

/// On each server that is here.
fn with_servers(options: &[&str], test: impl Fn(Server)) {
    for engine in Engine::all() {
        until_in_time(|| test(Server::start_with(engine, options)));
    }
}

/// With each engine that is here, at the same time: for what waits more than it works.
fn at_each_engine(test: impl Fn(Engine) + Sync) {
    std::thread::scope(|scope| {
        for engine in Engine::all() {
            let test = &test;
            scope.spawn(move || until_in_time(|| test(engine)));
        }
    });
}
