//! A Cluster of three masters.

use super::*;

use std::ops::RangeInclusive;

use futures::FutureExt as _;
use redis::{Connection, FromRedisValue};

struct Masters {
    servers: Vec<Server>,
    /// One of each master, in the same order.
    replicas: Vec<Server>,
}

impl Masters {
    fn start(engine: Engine) -> Self {
        Self::start_with(engine, [&[0..=5460], &[5461..=10922], &[10923..=16383]])
    }

    fn start_with(engine: Engine, slots: [&[RangeInclusive<u16>]; 3]) -> Self {
        let servers = three(engine);
        for (server, slots) in servers.iter().zip(slots) {
            for slots in slots.iter().cloned() {
                server.serve_slots(slots);
            }
        }
        let masters = Self { servers, replicas: Vec::new() };
        for server in &masters.servers[1..] {
            masters.meet(server);
        }
        masters.agree(3);
        masters
    }

    fn with_replicas(engine: Engine) -> Self {
        let mut masters = Self::start(engine);
        let others = three(engine);
        for replica in &others {
            masters.meet(replica);
        }
        masters.replicas = others;
        masters.agree(6);
        for (master, replica) in masters.servers.iter().zip(&masters.replicas) {
            let id: String = cluster(&mut master.connect(), &["MYID"]);
            let follows =
                || redis::cmd("CLUSTER").arg(&["REPLICATE", &id]).exec(&mut replica.connect()).is_ok();
            assert!(eventually(LIVELY, follows));
            let has_replica = || {
                let info: String =
                    redis::cmd("INFO").arg("replication").query(&mut master.connect()).unwrap();
                info.contains("state=online")
            };
            assert!(eventually(LIVELY, has_replica));
        }
        masters
    }

    fn meet(&self, server: &Server) {
        let port = server.port.to_string();
        cluster::<()>(&mut self.servers[0].connect(), &["MEET", "127.0.0.1", &port]);
    }

    /// Waits until all know each other and all slots.
    fn agree(&self, number: u32) {
        let known = format!("cluster_known_nodes:{number}\r");
        let agrees = |server: &Server| {
            let info: String = cluster(&mut server.connect(), &["INFO"]);
            ["cluster_state:ok", "cluster_slots_ok:16384", &known].iter().all(|line| info.contains(line))
        };
        assert!(eventually(LIVELY, || self.servers.iter().chain(&self.replicas).all(agrees)));
    }

    fn store(&self) -> RedisStore {
        let store = RedisStore::cluster([&self.servers[0].url(), "redis://127.0.0.1:1"])
            .timeout(Duration::from_millis(500))
            .on_timeout(OnFailure::Open)
            .on_disconnect(OnFailure::Closed)
            .connect_lazy()
            .unwrap();
        assert!(comes_up(&store));
        store
    }

    /// The number of the master that holds the key of a budget.
    fn holder(&self, key: u32) -> usize {
        slot(&mut self.servers[0].connect(), key) / 5461
    }

    /// How often the servers have answered with such an error.
    fn errors(&self, name: &str) -> usize {
        let count = |server: &Server| {
            let info: String = redis::cmd("INFO").arg("errorstats").query(&mut server.connect()).unwrap();
            info.matches(&format!("errorstat_{name}:")).count()
        };
        self.servers.iter().map(count).sum()
    }
}

/// Servers that are to become a Cluster.
fn three(engine: Engine) -> Vec<Server> {
    let start = |_| {
        let more = ["--cluster-node-timeout", "1500", "--cluster-require-full-coverage", "no"];
        Server::start_with(engine, &[&["--cluster-enabled", "yes"][..], &more].concat())
    };
    (0..3).map(start).collect()
}

fn cluster<T: FromRedisValue>(server: &mut Connection, arguments: &[&str]) -> T {
    redis::cmd("CLUSTER").arg(arguments).query(server).unwrap()
}

fn slot(server: &mut Connection, key: u32) -> usize {
    cluster(server, &["KEYSLOT", &format!("ratelimit:v1:limit:{key}")])
}

fn ask(store: &RedisStore, key: u32, max: u32) -> Result<StoreVerdict, StoreFailure> {
    block_on(store.charge(&StoreCall::new("limit", hour(max), key.to_string().as_bytes())))
}

#[test]
fn each_key_is_decided_by_its_master_and_no_call_crosses_slots() {
    at_each_engine(|engine| {
        let masters = Masters::start(engine);
        let store = masters.store();
        for key in 0..50 {
            assert!(matches!(ask(&store, key, 1), Ok(StoreVerdict::Admitted { .. })));
            assert!(matches!(ask(&store, key, 1), Ok(StoreVerdict::Denied { .. })));
        }
        // Many at once, which may go out together.
        let keys: Vec<_> = (100..1100_u32).map(|key| key.to_string()).collect();
        let calls = keys.iter().map(|key| store.charge(&StoreCall::new("limit", hour(1), key.as_bytes())));
        let answers = block_on(futures::future::join_all(calls));
        assert!(answers.iter().all(|answer| matches!(answer, Ok(StoreVerdict::Admitted { .. }))));
        let hostile =
            [&b"{}"[..], b"}", b"{a}b", b"{a}c", b"", b"\0", b"\r\n", b"\xff\xfe", &vec![b'x'; 65536]];
        for limit in ["{hostile}", "}{", "\0", "limit"] {
            for key in hostile {
                let answer = block_on(store.charge(&StoreCall::new(limit, hour(1), key)));
                assert!(matches!(answer, Ok(StoreVerdict::Admitted { .. })), "{limit:?} {key:?}: {answer:?}");
            }
        }
        let initial: LimitSpec = "5/1h algorithm=token_bucket initial=1".parse().unwrap();
        block_on(store.charge(&StoreCall::new("cold", initial, b"key"))).unwrap();
        // All keys of a limit, on all masters.
        block_on(store.reset_all("limit")).unwrap();
        assert!((0..20).all(|key| matches!(ask(&store, key, 1), Ok(StoreVerdict::Admitted { .. }))));
        assert_eq!(store.stats().nodes, 1);
        assert_eq!((masters.errors("CROSSSLOT"), masters.errors("MOVED")), (0, 0));
    });
}

#[test]
fn a_master_of_one_slot_decides_about_its_keys() {
    at_each_engine(|engine| {
        let masters = Masters::start_with(engine, [&[0..=32, 34..=5460], &[33..=33], &[5461..=16383]]);
        let store = masters.store();
        let key = 7009;
        assert_eq!(slot(&mut masters.servers[0].connect(), key), 33);
        assert!(matches!(ask(&store, key, 1), Ok(StoreVerdict::Admitted { .. })));
        assert!(matches!(ask(&store, key, 1), Ok(StoreVerdict::Denied { .. })));
        assert_eq!((store.last_error(), masters.errors("MOVED")), (None, 0));
        // Its link tells of it like any other.
        masters.servers[1].signal("STOP");
        assert!(eventually(LIVELY, || ask(&store, key, 1).is_err() && store.state() != LinkState::Up));
        masters.servers[1].signal("CONT");
        assert!(comes_up(&store));
    });
}

#[test]
fn a_slot_that_moves_takes_its_budgets_along_and_no_call_fails_for_it() {
    at_each_engine(|engine| {
        let masters = Masters::start(engine);
        let store = masters.store();
        let in_first = |key: &u32| masters.holder(*key) == 0;
        let key = (0..10_000).find(in_first).unwrap();
        let mut asked = 0;
        let mut admits = |remaining: u32| {
            asked += 1;
            assert_eq!(asked + remaining, 5);
            let answer = ask(&store, key, 5);
            let is_right =
                matches!(answer, Ok(StoreVerdict::Admitted { remaining: left, .. }) if left == remaining);
            assert!(is_right, "{remaining}: {answer:?}");
        };
        let [mut from, mut to] = [0, 1].map(|number| masters.servers[number].connect());
        let [from_id, to_id]: [String; 2] = [cluster(&mut from, &["MYID"]), cluster(&mut to, &["MYID"])];
        let slot = slot(&mut from, key).to_string();
        admits(4);
        // While it moves, a key is where it was, or will be: the first master says `ASK`.
        cluster::<()>(&mut to, &["SETSLOT", &slot, "IMPORTING", &from_id]);
        cluster::<()>(&mut from, &["SETSLOT", &slot, "MIGRATING", &to_id]);
        admits(3);
        assert_eq!(masters.errors("ASK"), 0);
        let name = format!("ratelimit:v1:limit:{key}");
        let port = masters.servers[1].port.to_string();
        redis::cmd("MIGRATE").arg(&["127.0.0.1", &port, &name, "0", "5000"]).exec(&mut from).unwrap();
        admits(2);
        assert_eq!(masters.errors("ASK"), 1);
        // Then it has: the first master says `MOVED`, until the map has been read anew.
        for server in [&mut to, &mut from] {
            cluster::<()>(server, &["SETSLOT", &slot, "NODE", &to_id]);
        }
        admits(1);
        assert_eq!(masters.errors("MOVED"), 1);
        admits(0);
        assert!(matches!(ask(&store, key, 5), Ok(StoreVerdict::Denied { .. })));
        let stats = store.stats();
        assert_eq!(stats.failed_open + stats.failed_closed + stats.failed_local, 0, "{stats:?}");
    });
}

#[test]
fn what_is_given_back_while_a_slot_moves_reaches_its_budget() {
    at_each_engine(|engine| {
        let masters = Masters::start(engine);
        let store = masters.store();
        let key = (0..10_000).find(|key| masters.holder(*key) == 0).unwrap();
        let [mut from, mut to] = [0, 1].map(|number| masters.servers[number].connect());
        let [from_id, to_id]: [String; 2] = [cluster(&mut from, &["MYID"]), cluster(&mut to, &["MYID"])];
        let slot = slot(&mut from, key).to_string();
        let text = key.to_string();
        let call = StoreCall::new("limit", hour(100), text.as_bytes());
        let used = || block_on(store.look(&call)).unwrap().used;
        let gives_back = |kept: u32| {
            for _ in 0..10 {
                let Ok(StoreVerdict::Admitted { receipt, .. }) = block_on(store.charge(&call)) else {
                    panic!("it is not admitted");
                };
                store.refund(&call, receipt);
                // One that is dropped, perhaps with its answer at hand.
                let mut dropped = store.charge(&call);
                if let Some(Ok(StoreVerdict::Admitted { receipt, .. })) = (&mut dropped).now_or_never() {
                    store.undo(&call, receipt);
                }
                assert!(used() > 0);
            }
            assert!(eventually(LIVELY, || used() == kept), "{} are in use", used());
        };
        ask(&store, key, 100).unwrap();
        gives_back(1);
        cluster::<()>(&mut to, &["SETSLOT", &slot, "IMPORTING", &from_id]);
        cluster::<()>(&mut from, &["SETSLOT", &slot, "MIGRATING", &to_id]);
        let (name, port) = (format!("ratelimit:v1:limit:{key}"), masters.servers[1].port.to_string());
        redis::cmd("MIGRATE").arg(&["127.0.0.1", &port, &name, "0", "5000"]).exec(&mut from).unwrap();
        gives_back(1);
        for server in [&mut to, &mut from] {
            cluster::<()>(server, &["SETSLOT", &slot, "NODE", &to_id]);
        }
        gives_back(1);
    });
}

#[test]
fn a_master_that_is_killed_concerns_its_own_keys_only() {
    at_each_engine(|engine| {
        let mut masters = Masters::start(engine);
        let store = masters.store();
        let keys: Vec<_> = (0..20).map(|key| (key, masters.holder(key) == 2)).collect();
        masters.servers[2].kill();
        let fail = || keys.iter().all(|(key, gone)| !gone || ask(&store, *key, 1_000).is_err());
        assert!(eventually(LIVELY, fail));
        let address = format!("127.0.0.1:{}: ", masters.servers[2].port);
        let is_told = || store.last_error().is_some_and(|error| error.starts_with(&address));
        assert!(eventually(LIVELY, is_told), "{:?}", store.last_error());
        for (key, gone) in &keys {
            let (answer, took) = timed(|| ask(&store, *key, 1_000));
            assert_eq!(answer.is_err(), *gone, "{key}: {answer:?}");
            in_time(took, TIMEOUT);
        }
        assert_ne!(store.state(), LinkState::Up);
        // It comes back where it was, and is used again.
        masters.servers[2].run();
        assert!(eventually(LIVELY, || keys.iter().all(|(key, _)| ask(&store, *key, 1_000).is_ok())));
    });
}

#[test]
fn a_replica_takes_over_for_a_master_that_is_killed_and_knows_what_was_used() {
    at_each_engine(|engine| {
        let mut masters = Masters::with_replicas(engine);
        let store = masters.store();
        let keys: Vec<_> = (0..20).map(|key| (key, masters.holder(key) == 2)).collect();
        for (key, _) in &keys {
            assert!(matches!(ask(&store, *key, 2), Ok(StoreVerdict::Admitted { .. })));
        }
        let arrived = || redis::cmd("WAIT").arg(&["1", "1000"]).query(&mut masters.servers[2].connect());
        assert!(eventually(LIVELY, || arrived().is_ok_and(|replicas: u32| replicas == 1)));
        masters.servers[2].kill();
        // Meanwhile the others are decided as ever.
        let mut failed = 0;
        let is_taken_over = || {
            for (key, _) in keys.iter().filter(|(_, gone)| !gone) {
                failed += usize::from(ask(&store, *key, 1).is_err());
            }
            keys.iter().all(|(key, _)| ask(&store, *key, 1).is_ok())
        };
        assert!(eventually(LIVELY, is_taken_over));
        assert_eq!(failed, 0);
        for (key, _) in &keys {
            assert!(matches!(ask(&store, *key, 2), Ok(StoreVerdict::Admitted { remaining: 0, .. })), "{key}");
            assert!(matches!(ask(&store, *key, 2), Ok(StoreVerdict::Denied { .. })), "{key}");
        }
        assert!(comes_up(&store));
    });
}
