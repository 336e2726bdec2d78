//! A master that fails over to its replica.

use super::*;

#[test]
fn a_failover_is_followed_to_the_new_master() {
    for engine in Engine::all() {
        let mut master = Server::start(engine);
        let master_port = master.port.to_string();
        let replica = Server::start_with(engine, &["--replicaof", "127.0.0.1", &master_port]);
        let sentinel = Server::sentinel(engine, "mymaster", master.port);
        let knows_replica = || {
            let replicas: Result<Vec<redis::Value>, _> =
                redis::cmd("SENTINEL").arg(&["REPLICAS", "mymaster"]).query(&mut sentinel.connect());
            replicas.is_ok_and(|replicas| replicas.len() == 1)
        };
        assert!(eventually(Duration::from_secs(15), knows_replica));
        let store = RedisStore::sentinel(["redis://127.0.0.1:1", &sentinel.url()], "mymaster")
            .timeout(TIMEOUT)
            .on_disconnect(OnFailure::Closed)
            .connect_lazy()
            .unwrap();
        assert!(comes_up(&store));
        assert!(eventually(Duration::from_secs(2), || charge(&store, hour(10)).is_ok()));
        let has_arrived = || redis::cmd("DBSIZE").query::<u32>(&mut replica.connect()).unwrap() >= 1;
        assert!(eventually(Duration::from_secs(5), has_arrived));

        master.kill();
        assert!(eventually(Duration::from_secs(1), || store.state() != LinkState::Up));
        assert!(eventually(Duration::from_secs(20), || store.state() == LinkState::Up));
        assert!(eventually(Duration::from_secs(2), || charge(&store, hour(10)).is_ok()));
        let role: Vec<redis::Value> = redis::cmd("ROLE").query(&mut replica.connect()).unwrap();
        assert_eq!(role[0], redis::Value::BulkString(b"master".to_vec()));
        // What was charged before has come along.
        assert!(used(&store, hour(10)) >= 2);
    }
}
