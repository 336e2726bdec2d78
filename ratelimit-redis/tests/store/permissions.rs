//! What a user must be allowed to do: what the docs say, and nothing else.

use super::*;

use std::{
    collections::{BTreeSet, HashMap},
    fs,
};

use ratelimit_runtime::Algorithm;

/// The words of the command in the docs.
fn documented() -> Vec<&'static str> {
    let docs = include_str!("../../src/lib.rs");
    let line = docs.lines().find_map(|line| line.split_once("ACL SETUSER ")).unwrap().1;
    line.split(' ').collect()
}

/// Makes the user, and a store with the prefix of the docs that uses its name.
fn store_of_user(server: &Server, more: &[&str], build: fn(&str) -> RedisStoreBuilder) -> RedisStore {
    let words = [&["SETUSER"], &documented()[..], more].concat();
    redis::cmd("ACL").arg(&words).exec(&mut server.connect()).unwrap();
    let database = if more.contains(&"+select") { "/1" } else { "" };
    let url = format!("redis://shop:password@127.0.0.1:{}{database}", server.port);
    let store = build(&url).prefix("shop").timeout(Duration::from_secs(10)).connect_lazy().unwrap();
    assert!(eventually(LIVELY, || store.state() == LinkState::Up), "{:?}", store.last_error());
    store
}

/// Everything that a store can be asked for.
fn ask_everything(store: &RedisStore) {
    for algorithm in Algorithm::ALL {
        let name = algorithm.name();
        let mut spec = hour(10).with_algorithm(algorithm);
        if algorithm == Algorithm::TokenBucket {
            spec = spec.with_initial(9);
        }
        let call = StoreCall::new(name, spec, b"key");
        let receipts = (0..9).map(|_| match block_on(store.charge(&call)) {
            Ok(StoreVerdict::Admitted { receipt, .. }) => receipt,
            other => panic!("{algorithm}: {other:?}"),
        });
        let receipts: Vec<_> = receipts.collect();
        store.refund(&call, receipts[3]);
        store.undo(&call, receipts[8]);
        block_on(store.look(&call)).unwrap();
        // What was charged by one algorithm is read and written by another.
        for other in Algorithm::ALL {
            let call = StoreCall::new(name, hour(1000).with_algorithm(other), b"key");
            block_on(store.charge(&call)).unwrap();
        }
        let brief = LimitSpec::new(10, Duration::from_millis(2)).with_algorithm(algorithm).with_buckets(2);
        let brief = StoreCall::new(name, brief, b"brief");
        for _ in 0..5 {
            block_on(store.charge(&brief)).unwrap();
            std::thread::sleep(Duration::from_millis(1));
        }
        block_on(store.reset(&call)).unwrap();
        block_on(store.reset_all(name)).unwrap();
    }
    let stats = store.stats();
    assert_eq!((stats.refused, stats.connected), (0, 1), "{stats:?}");
}

/// Nothing was refused to the user but to name its client.
fn nothing_was_refused(server: &Server) {
    let log: Vec<HashMap<String, String>> =
        redis::cmd("ACL").arg("LOG").query(&mut server.connect()).unwrap();
    assert!(log.iter().all(|entry| entry["object"].starts_with("client")), "{log:?}");
}

#[test]
fn a_user_of_the_documented_permissions_can_do_everything() {
    for more in [&[][..], &["+select"]] {
        with_servers(&[], |server| {
            ask_everything(&store_of_user(&server, more, RedisStore::builder));
            nothing_was_refused(&server);
        });
    }
}

#[test]
fn in_a_cluster_two_commands_more_are_enough() {
    with_servers(&["--cluster-enabled", "yes"], |server| {
        server.serve_slots(0..=16383);
        let more = ["+cluster|slots", "+asking"];
        ask_everything(&store_of_user(&server, &more, |url| RedisStore::cluster([url])));
        // Which a server is told by a store that another one has sent.
        let user = redis::Client::open(format!("redis://shop:password@127.0.0.1:{}", server.port)).unwrap();
        redis::cmd("ASKING").exec(&mut user.get_connection().unwrap()).unwrap();
        nothing_was_refused(&server);
    });
}

#[test]
fn who_may_not_run_scripts_is_told_before_the_first_call() {
    with_servers(&[], |server| {
        for command in ["eval", "evalsha"] {
            let forbidden = format!("-{command}");
            let words = [&["SETUSER"], &documented()[..], &[&forbidden]].concat();
            redis::cmd("ACL").arg(&words).exec(&mut server.connect()).unwrap();
            let url = format!("redis://shop:password@127.0.0.1:{}", server.port);
            let store = RedisStore::builder(&url).prefix("shop").connect_lazy().unwrap();
            assert!(eventually(LIVELY, || store.state() == LinkState::Down), "{command}");
            let said = store.last_error().unwrap();
            assert!(said.contains("NOPERM") && said.contains(&format!("'{command}'")), "{said}");
            assert_eq!(store.stats().connected, 0);
        }
    });
}

#[test]
fn no_command_is_documented_that_no_script_uses() {
    let scripts = fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/src/scripts")).unwrap();
    let scripts =
        scripts.map(|file| file.unwrap().path()).filter(|path| path.extension() == Some("lua".as_ref()));
    let mut used = BTreeSet::from(["+eval".to_owned(), "+evalsha".to_owned()]);
    for script in scripts {
        let code = fs::read_to_string(script).unwrap();
        let calls = code.split("call('").skip(1);
        used.extend(calls.map(|rest| format!("+{}", rest.split('\'').next().unwrap().to_lowercase())));
    }
    let documented = documented().into_iter().filter(|word| word.starts_with('+')).map(str::to_owned);
    assert_eq!(documented.collect::<BTreeSet<_>>(), used);
}
