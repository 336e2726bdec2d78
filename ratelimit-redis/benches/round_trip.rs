//! What a decision costs beside a PING on the same machine, and what is left of that when the server is killed.
//!
//! `cargo bench -p ratelimit-redis`, on a machine that does nothing else. It starts the servers by itself.

#[path = "../tests/support/mod.rs"]
#[expect(dead_code, reason = "tests use the rest")]
mod support;

use std::time::{Duration, Instant};

use futures::future::join_all;
use ratelimit_redis::{LinkState, RedisStore};
use ratelimit_runtime::{Algorithm, LimitSpec, Store, StoreCall};
use redis::aio::MultiplexedConnection;

use support::{Engine, Server, eventually};

const CALLS: u32 = 5_000;
const TASKS: u32 = 64;

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for engine in Engine::all() {
        runtime.block_on(measure(engine));
    }
}

async fn measure(engine: Engine) {
    let mut server = Server::start(engine);
    let client = redis::Client::open(server.url()).unwrap();
    let connection = client.get_multiplexed_async_connection().await.unwrap();
    let store = RedisStore::builder(&server.url()).timeout(Duration::from_secs(1)).connect_lazy().unwrap();
    assert!(eventually(Duration::from_secs(5), || store.state() == LinkState::Up));
    println!("{engine:?}, one call at a time, and {TASKS} tasks on one connection:");

    row("PING", || ping(connection.clone())).await;
    for algorithm in Algorithm::ALL {
        let spec = LimitSpec::new(1_000_000, Duration::from_secs(3600)).with_algorithm(algorithm);
        row(algorithm.name(), || decide(&store, algorithm.name(), spec)).await;
        let full = LimitSpec::new(1, Duration::from_secs(3600)).with_algorithm(algorithm);
        row(&format!("{algorithm}, denied"), || decide(&store, "full", full)).await;
    }

    server.kill();
    assert!(eventually(Duration::from_secs(5), || store.state() != LinkState::Up));
    let spec = LimitSpec::new(1_000_000, Duration::from_secs(3600));
    let mut times = Vec::new();
    for _ in 0..CALLS {
        let began = Instant::now();
        assert!(store.charge(&StoreCall::new("down", spec, b"key")).await.is_err());
        times.push(began.elapsed());
    }
    println!(
        "  {:24} p50 {:>9.1?}   p99 {:>9.1?}",
        "while the server is down",
        part(&mut times, 50),
        part(&mut times, 99)
    );
}

/// The time of one call after the other, and how many there are in a second when many tasks make them.
async fn row<F: Future<Output = ()>>(name: &str, call: impl Fn() -> F) {
    let mut times = Vec::new();
    for _ in 0..CALLS {
        let began = Instant::now();
        call().await;
        times.push(began.elapsed());
    }
    let began = Instant::now();
    let task = || async {
        for _ in 0..CALLS / 8 {
            call().await;
        }
    };
    join_all((0..TASKS).map(|_| task())).await;
    let per_second = f64::from(TASKS * (CALLS / 8)) / began.elapsed().as_secs_f64();
    println!(
        "  {name:24} p50 {:>9.1?}   p99 {:>9.1?}   {per_second:>8.0}/s",
        part(&mut times, 50),
        part(&mut times, 99)
    );
}

fn part(times: &mut [Duration], percent: usize) -> Duration {
    times.sort();
    times[times.len() * percent / 100]
}

async fn ping(mut connection: MultiplexedConnection) {
    redis::cmd("PING").exec_async(&mut connection).await.unwrap();
}

async fn decide(store: &RedisStore, limit: &str, spec: LimitSpec) {
    store.charge(&StoreCall::new(limit, spec, b"key")).await.unwrap();
}
