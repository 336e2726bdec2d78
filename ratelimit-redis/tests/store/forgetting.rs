//! Servers that have forgotten: at most one budget more is admitted each time, and it is never an error.

use super::*;

use futures::{StreamExt as _, stream};
use ratelimit_runtime::Algorithm;

/// How many of some calls, one after the other, are admitted; none may fail.
fn admitted(store: &RedisStore, call: &StoreCall<'_>, calls: u32) -> u32 {
    let admits = |_: &u32| matches!(block_on(store.charge(call)).unwrap(), StoreVerdict::Admitted { .. });
    u32::try_from((0..calls).filter(admits).count()).unwrap()
}

#[test]
fn a_server_that_has_forgotten_all_admits_one_budget_more_and_no_more() {
    with_servers(&[], |server| {
        let store = patient(&server.url());
        for algorithm in Algorithm::ALL {
            let call = call(hour(20).with_algorithm(algorithm));
            assert_eq!(admitted(&store, &call, 50), 20, "{algorithm}");
            redis::cmd("FLUSHALL").exec(&mut server.connect()).unwrap();
            assert_eq!(admitted(&store, &call, 50), 20, "{algorithm}");
            assert_eq!(admitted(&store, &call, 50), 0, "{algorithm}");
            redis::cmd("FLUSHALL").exec(&mut server.connect()).unwrap();
        }
        let stats = store.stats();
        assert_eq!(stats.failed_open + stats.failed_closed + stats.failed_local, 0, "{stats:?}");
    });
}

#[test]
fn a_budget_that_is_evicted_admits_its_limit_once_more_and_nothing_fails() {
    let options = ["--maxmemory-policy", "allkeys-lru", "--maxmemory-samples", "10"];
    with_servers(&options, |server| {
        let store = patient(&server.url());
        let mut admin = server.connect();
        let budgets = Algorithm::ALL.map(|algorithm| {
            StoreCall::new(algorithm.name(), hour(20).with_algorithm(algorithm), b"forgotten")
        });
        for call in &budgets {
            assert_eq!(admitted(&store, call, 25), 20, "{call:?}");
        }
        // Room for some thousands of keys more.
        let memory: String = redis::cmd("INFO").arg("memory").query(&mut admin).unwrap();
        let in_use: u64 =
            memory.lines().find_map(|line| line.strip_prefix("used_memory:")).unwrap().parse().unwrap();
        let most = (in_use + 1_000_000).to_string();
        redis::cmd("CONFIG").arg(&["SET", "maxmemory", &most]).exec(&mut admin).unwrap();
        let kept = |admin: &mut redis::Connection| {
            let names =
                Algorithm::ALL.map(|algorithm| format!("ratelimit:v1:{}:forgotten", algorithm.name()));
            redis::cmd("EXISTS").arg(&names).query::<u32>(admin).unwrap()
        };
        let mut fresh = 0_u32;
        while kept(&mut admin) > 0 {
            assert!(fresh < 200_000, "nothing is evicted");
            let keys: Vec<_> = (fresh..fresh + 500).map(u32::to_le_bytes).collect();
            fresh += 500;
            let calls = keys.iter().map(|key| store.charge(&StoreCall::new("more", hour(20), key)));
            block_on(stream::iter(calls).buffer_unordered(64).for_each(|answer| async move {
                assert!(matches!(answer, Ok(StoreVerdict::Admitted { .. })), "{answer:?}");
            }));
        }
        // Nothing more is evicted while it is counted.
        redis::cmd("CONFIG").arg(&["SET", "maxmemory", "0"]).exec(&mut admin).unwrap();
        for call in &budgets {
            assert_eq!(admitted(&store, call, 45), 20, "{call:?}");
        }
        let stats = store.stats();
        assert_eq!(stats.failed_open + stats.failed_closed + stats.failed_local, 0, "{stats:?}");
        assert_eq!((stats.connected, store.state()), (1, LinkState::Up));
    });
}

/// Charges so many keys of each algorithm once, and waits until none of them is left.
fn comes_to_nothing(keys: u32, at_once: usize, within: Duration) {
    at_each_engine(|engine| {
        let server = Server::start(engine);
        let store = patient(&server.url());
        let used_memory = || -> u64 {
            let memory: String = redis::cmd("INFO").arg("memory").query(&mut server.connect()).unwrap();
            memory.lines().find_map(|line| line.strip_prefix("used_memory:")).unwrap().parse().unwrap()
        };
        let before = used_memory();
        let calls = (0..keys).map(|number| {
            let algorithm = Algorithm::ALL[number as usize % 6];
            let spec = LimitSpec::new(5, Duration::from_millis(60)).with_algorithm(algorithm);
            store.charge(&StoreCall::new("many", spec, &number.to_le_bytes()))
        });
        block_on(stream::iter(calls).buffer_unordered(at_once).for_each(|answer| async move {
            assert!(matches!(answer, Ok(StoreVerdict::Admitted { .. })), "{answer:?}");
        }));
        let left = || redis::cmd("DBSIZE").query::<u64>(&mut server.connect()).unwrap();
        assert!(used_memory() > before);
        // Only the list of processes is left.
        assert!(eventually(within, || left() <= 1), "{} are left", left());
        let grown = used_memory().saturating_sub(before);
        assert!(grown < 4 * 1024 * 1024, "{grown} bytes are left");
    });
}

#[test]
fn keys_that_are_full_again_are_gone() {
    comes_to_nothing(60_000, 256, Duration::from_secs(20));
}

/// `cargo test -p ratelimit-redis --test store a_million_keys -- --ignored`, which the whole check runs by itself.
#[test]
#[ignore = "takes the whole machine for a while: run it by its name"]
fn a_million_keys_that_are_full_again_are_gone() {
    comes_to_nothing(1_000_000, 1024, Duration::from_secs(120));
}
