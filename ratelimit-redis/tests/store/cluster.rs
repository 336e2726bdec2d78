//! A Cluster of three masters.

use super::*;

use redis::{Connection, FromRedisValue};
use support::free_port;

struct Masters {
    servers: Vec<Server>,
}

impl Masters {
    fn start(engine: Engine) -> Self {
        let servers: Vec<_> = (0..3)
            .map(|_| {
                let bus = free_port().to_string();
                let options =
                    ["--cluster-enabled", "yes", "--cluster-port", &bus, "--cluster-node-timeout", "1000"];
                let partly = ["--cluster-require-full-coverage", "no"];
                Server::start_with(engine, &[&options[..], &partly].concat())
            })
            .collect();
        for (number, slots) in [(0, ["0", "5460"]), (1, ["5461", "10922"]), (2, ["10923", "16383"])] {
            cluster::<()>(&mut servers[number].connect(), &[&["ADDSLOTSRANGE"][..], &slots].concat());
        }
        let first = &servers[0];
        for server in &servers[1..] {
            let bus: String = redis::cmd("CONFIG")
                .arg(&["GET", "cluster-port"])
                .query::<Vec<String>>(&mut server.connect())
                .unwrap()
                .remove(1);
            let port = server.port.to_string();
            cluster::<()>(&mut first.connect(), &["MEET", "127.0.0.1", &port, &bus]);
        }
        let agree = |server: &Server| {
            let info: String = cluster(&mut server.connect(), &["INFO"]);
            info.contains("cluster_state:ok") && info.contains("cluster_slots_ok:16384")
        };
        assert!(eventually(Duration::from_secs(20), || servers.iter().all(agree)));
        Self { servers }
    }

    fn store(&self) -> RedisStore {
        let store = RedisStore::cluster([&self.servers[0].url(), "redis://127.0.0.1:1"])
            .timeout(Duration::from_millis(200))
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
fn each_key_is_decided_by_its_master_wherever_that_is() {
    for engine in Engine::all() {
        let mut masters = Masters::start(engine);
        let store = masters.store();
        // Keys of every kind, on every master: none crosses slots.
        for key in 0..50 {
            assert!(matches!(ask(&store, key, 1), Ok(StoreVerdict::Admitted { .. })));
            assert!(matches!(ask(&store, key, 1), Ok(StoreVerdict::Denied { .. })));
        }
        for key in [&b"{}"[..], b"}", b"{a}b", b"", b"\0", b"\xff", &vec![b'x'; 65536]] {
            block_on(store.charge(&StoreCall::new("{hostile}", hour(1), key))).unwrap();
        }
        let initial: LimitSpec = "5/1h algorithm=token_bucket initial=1".parse().unwrap();
        block_on(store.charge(&StoreCall::new("cold", initial, b"key"))).unwrap();
        assert_eq!(store.stats().nodes, 1);

        // A slot moves from the first master to the second: at first the key is asked for, then it has moved.
        let key = (0..10_000).find(|key| masters.holder(*key) == 0).unwrap();
        let [from, to] = [0, 1].map(|number| masters.servers[number].connect());
        let (mut from, mut to) = (from, to);
        let [from_id, to_id]: [String; 2] = [cluster(&mut from, &["MYID"]), cluster(&mut to, &["MYID"])];
        redis::cmd("DEL").arg(format!("ratelimit:v1:limit:{key}")).exec(&mut from).unwrap();
        let slot = slot(&mut from, key).to_string();
        cluster::<()>(&mut to, &["SETSLOT", &slot, "IMPORTING", &from_id]);
        cluster::<()>(&mut from, &["SETSLOT", &slot, "MIGRATING", &to_id]);
        assert!(matches!(ask(&store, key, 2), Ok(StoreVerdict::Admitted { remaining: 1, .. })));
        for server in [&mut to, &mut from] {
            cluster::<()>(server, &["SETSLOT", &slot, "NODE", &to_id]);
        }
        assert!(matches!(ask(&store, key, 2), Ok(StoreVerdict::Admitted { remaining: 0, .. })));
        assert!(matches!(ask(&store, key, 2), Ok(StoreVerdict::Denied { .. })));

        // All keys of a limit, on all masters.
        block_on(store.reset_all("limit")).unwrap();
        assert!((0..20).all(|key| matches!(ask(&store, key, 1), Ok(StoreVerdict::Admitted { .. }))));

        // A master that is killed concerns its own keys only.
        masters.servers[2].kill();
        let gone = |key: &u32| masters.holder(*key) == 2;
        assert!(eventually(LIVELY, || (0..20).filter(gone).all(|key| ask(&store, key, 9).is_err())));
        for key in 0..20 {
            let (answer, took) = timed(|| ask(&store, key, 1_000));
            assert_eq!(answer.is_err(), gone(&key), "{key}: {answer:?}");
            in_time(took, TIMEOUT);
        }
        assert_ne!(store.state(), LinkState::Up);
    }
}
