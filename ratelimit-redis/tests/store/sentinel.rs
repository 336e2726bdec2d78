//! A master that fails over to its replica, and sentinels that say so.

use super::*;

use redis::{FromRedisValue, RedisResult, Value};

/// A master, its replica, and three sentinels of which two must agree.
struct Watched {
    master: Server,
    replica: Server,
    sentinels: Vec<Server>,
}

impl Watched {
    fn start(engine: Engine) -> Self {
        let master = Server::start(engine);
        let master_port = master.port.to_string();
        let replica = Server::start_with(engine, &["--replicaof", "127.0.0.1", &master_port]);
        // Sentinels learn of replicas by a look that they take every ten seconds: so it is there for the first.
        let is_known = || {
            let info: String = redis::cmd("INFO").arg("replication").query(&mut master.connect()).unwrap();
            info.contains("connected_slaves:1")
        };
        assert!(eventually(LIVELY, is_known));
        let sentinels: Vec<_> =
            (0..3).map(|_| Server::sentinel(engine, "mymaster", master.port, 2)).collect();
        let knows_all = |sentinel: &Server| {
            let count = |what: &str| asked(sentinel, what).map_or(0, |known: Vec<Value>| known.len());
            count("REPLICAS") == 1 && count("SENTINELS") == 2
        };
        assert!(eventually(Duration::from_secs(30), || sentinels.iter().all(knows_all)));
        Self { master, replica, sentinels }
    }

    fn store(&self) -> RedisStore {
        let urls = self.sentinels.iter().map(Server::url);
        // No sentinel has ever been at the first.
        let urls = ["redis://127.0.0.1:1".to_owned()].into_iter().chain(urls);
        let store = RedisStore::sentinel(urls, "mymaster")
            .timeout(Duration::from_millis(200))
            .on_disconnect(OnFailure::Closed)
            .connect_lazy()
            .unwrap();
        assert!(comes_up(&store));
        store
    }

    /// Charges, until the replica has heard of it.
    fn charge_on_both(&self, store: &RedisStore) {
        charge(store, hour(10)).unwrap();
        let has_arrived = || {
            let exists =
                redis::cmd("EXISTS").arg("ratelimit:v1:limit:key").query(&mut self.replica.connect());
            exists.unwrap_or(false)
        };
        assert!(eventually(Duration::from_secs(20), has_arrived));
    }

    /// What was charged before has come along.
    fn replica_decides(&self, store: &RedisStore, used_before: u32) {
        let decides =
            || charge(store, hour(10)).is_ok() && role_of(&self.replica).is_ok_and(|role| role == "master");
        assert!(eventually(Duration::from_secs(30), decides));
        assert!(used(store, hour(10)) > used_before);
    }
}

fn asked<T: FromRedisValue>(sentinel: &Server, what: &str) -> RedisResult<T> {
    redis::cmd("SENTINEL").arg(&[what, "mymaster"]).query(&mut sentinel.connect())
}

/// `master` or `slave`. An error while it changes, since that closes connections.
fn role_of(server: &Server) -> RedisResult<String> {
    let role: Vec<Value> = redis::cmd("ROLE").query(&mut server.connect())?;
    Ok(String::from_redis_value(role.into_iter().next().unwrap_or(Value::Nil))?)
}

#[test]
fn a_failover_is_followed_to_the_new_master_though_a_sentinel_is_dead() {
    at_each_engine(|engine| {
        let mut watched = Watched::start(engine);
        watched.sentinels[0].kill();
        let store = watched.store();
        watched.charge_on_both(&store);
        watched.master.kill();
        assert!(eventually(LIVELY, || store.state() != LinkState::Up));
        watched.replica_decides(&store, 1);

        // The old master comes back, and does not know yet that it is one no more: nobody goes to it.
        let before = used(&store, hour(10));
        watched.master.run();
        assert!(eventually(LIVELY, || charge(&store, hour(10)).is_ok()));
        assert!(used(&store, hour(10)) > before);
    });
}

#[test]
fn a_master_that_is_demoted_while_it_lives_is_left_for_the_new_one() {
    at_each_engine(|engine| {
        let watched = Watched::start(engine);
        let store = watched.store();
        watched.charge_on_both(&store);
        let has_role = |server, role| role_of(server).is_ok_and(|told| told == role);
        let is_promoted = || {
            // Sentinels give it up if something is amiss.
            _ = asked::<Value>(&watched.sentinels[1], "FAILOVER");
            eventually(LIVELY, || has_role(&watched.replica, "master"))
        };
        assert!(eventually(Duration::from_secs(60), is_promoted));
        // They take ten seconds to tell the old one, which decides until then.
        assert!(eventually(Duration::from_secs(120), || has_role(&watched.master, "slave")));
        watched.replica_decides(&store, 1);
    });
}

#[test]
fn a_master_that_no_sentinel_knows_costs_its_calls_no_time() {
    at_each_engine(|engine| {
        let master = Server::start(engine);
        let sentinel = Server::sentinel(engine, "mymaster", master.port, 1);
        let store = RedisStore::sentinel([sentinel.url()], "another")
            .timeout(TIMEOUT)
            .on_disconnect(OnFailure::Closed)
            .connect_lazy()
            .unwrap();
        assert!(eventually(LIVELY, || store.state() == LinkState::Down));
        fails_at_once(&store);
    });
}
