//! Servers that answer with errors, or have forgotten.

use super::*;

use std::{
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    thread,
};

use futures::future::join_all;

#[test]
fn scripts_that_were_flushed_are_loaded_again_and_no_call_fails() {
    with_servers(&[], |server| {
        let store = patient(&server.url());
        let mut admin = server.connect();
        let mut flush = || redis::cmd("SCRIPT").arg("FLUSH").exec(&mut admin).unwrap();
        let charge_all = |count: u32| {
            let calls = (0..count).map(|_| store.charge(&call(hour(10_000))));
            for answer in block_on(join_all(calls)) {
                assert!(matches!(answer, Ok(StoreVerdict::Admitted { .. })), "{answer:?}");
            }
        };
        // Before a call, and between calls.
        for _ in 0..5 {
            flush();
            charge_all(1);
            flush();
            charge_all(50);
        }
        // While many are under way.
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Relaxed) {
                    flush();
                }
            });
            (0..20).for_each(|_| charge_all(100));
            is_over.store(true, Relaxed);
        });
        // None has been charged twice.
        assert_eq!(used(&store, hour(10_000)), 5 * 51 + 20 * 100);
        let stats = store.stats();
        assert_eq!((stats.connected, stats.decided), (1, 5 * 51 + 20 * 100 + 1), "{stats:?}");
    });
}

#[test]
fn a_key_of_another_type_fails_its_own_calls_and_no_others() {
    with_servers(&[], |server| {
        let store = patient(&server.url());
        let mut admin = server.connect();
        for algorithm in ratelimit_runtime::Algorithm::ALL {
            let spec = hour(10).with_algorithm(algorithm);
            for (command, value) in [("SADD", &["member"][..]), ("HSET", &["field", "1"]), ("SET", &["text"])]
            {
                redis::cmd("DEL").arg("ratelimit:v1:limit:key").exec(&mut admin).unwrap();
                redis::cmd(command).arg("ratelimit:v1:limit:key").arg(value).exec(&mut admin).unwrap();
                let failure = charge(&store, spec).unwrap_err();
                assert_eq!(failure.on_failure(), OnFailure::Closed, "{algorithm} {command}: {failure}");
                let said = store.last_error().unwrap();
                assert!(said.contains("WRONGTYPE") || said.contains("no budget of this version"), "{said}");
            }
            block_on(store.charge(&StoreCall::new("limit", spec, b"another"))).unwrap();
        }
        assert_eq!(store.state(), LinkState::Up);
    });
}

/// While the server is made to refuse, the link is down; then it comes up.
fn refuses_between(server: &Server, store: &RedisStore, begin: &[&str], end: &[&str]) {
    let mut admin = server.connect();
    redis::cmd(begin[0]).arg(&begin[1..]).exec(&mut admin).unwrap();
    let failure = charge(store, hour(1_000_000)).unwrap_err();
    assert_eq!(failure.on_failure(), OnFailure::Closed, "{begin:?}: {failure}");
    assert!(eventually(LIVELY, || store.state() != LinkState::Up), "{begin:?}");
    redis::cmd(end[0]).arg(&end[1..]).exec(&mut admin).unwrap();
    assert!(comes_up(store), "{end:?}");
    assert!(decides(store));
}

#[test]
fn a_server_that_takes_no_writes_is_left_until_it_takes_some() {
    with_servers(&[], |server| {
        let store = up(&server.url());
        let [begin, end] = [["REPLICAOF", "127.0.0.1", "1"], ["REPLICAOF", "NO", "ONE"]];
        refuses_between(&server, &store, &begin, &end);
        for setting in ["maxmemory", "min-replicas-to-write"] {
            let [begin, end] = ["1", "0"].map(|value| ["CONFIG", "SET", setting, value]);
            refuses_between(&server, &store, &begin, &end);
        }
    });
}

#[test]
fn a_server_that_cannot_save_what_it_should_is_left_until_it_need_not() {
    // Nobody can write there.
    with_servers(&["--dir", "/proc", "--logfile", ""], |server| {
        let store = up(&server.url());
        let mut admin = server.connect();
        redis::cmd("BGSAVE").exec(&mut admin).unwrap();
        let has_failed = || {
            let info: String = redis::cmd("INFO").arg("persistence").query(&mut admin).unwrap();
            info.contains("rdb_last_bgsave_status:err")
        };
        assert!(eventually(LIVELY, has_failed));
        let [begin, end] = ["3600 1", ""].map(|value| ["CONFIG", "SET", "save", value]);
        refuses_between(&server, &store, &begin, &end);
    });
}

#[test]
fn a_server_that_lets_nobody_in_is_tried_until_it_does() {
    with_servers(&[], |server| {
        let store = up(&server.url());
        let mut admin = server.connect();
        for [begin, end] in [
            [["CONFIG", "SET", "requirepass", "secret"], ["CONFIG", "SET", "requirepass", ""]],
            [["CONFIG", "SET", "maxclients", "1"], ["CONFIG", "SET", "maxclients", "100"]],
        ] {
            redis::cmd(begin[0]).arg(&begin[1..]).exec(&mut admin).unwrap();
            redis::cmd("CLIENT").arg(&["KILL", "TYPE", "normal", "SKIPME", "yes"]).exec(&mut admin).unwrap();
            assert!(eventually(LIVELY, || charge(&store, hour(10)).is_err()));
            thread::sleep(Duration::from_millis(300));
            assert_ne!(store.state(), LinkState::Up, "{begin:?}");
            redis::cmd(end[0]).arg(&end[1..]).exec(&mut admin).unwrap();
            assert!(comes_up(&store), "{end:?}");
        }
    });
}
