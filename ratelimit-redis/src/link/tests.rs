//! Links to servers that are not what they seem.

use futures::{executor::block_on, future::join_all};
use ratelimit_runtime::{Algorithm, LimitSpec, Store as _, StoreCall, StoreVerdict};
use std::time::Duration;

use super::LinkState;
use crate::{
    RedisStore,
    support::{Engine, Server, eventually},
};

/// As behind a proxy before several servers: a call of a script must not be about keys that lie apart.
#[test]
fn keys_that_must_not_be_mixed_are_decided_one_by_one() {
    for engine in Engine::all() {
        let server = Server::start_with(engine, &["--cluster-enabled", "yes"]);
        server.serve_slots(0..=16383);
        let store =
            RedisStore::builder(&server.url()).timeout(Duration::from_secs(10)).connect_lazy().unwrap();
        assert!(eventually(Duration::from_secs(10), || store.state() == LinkState::Up));
        let ask_all = || {
            let calls = (0..200_u32).map(|number| {
                let algorithm = Algorithm::ALL[number as usize % 6];
                let spec = LimitSpec::new(20, Duration::from_secs(3600)).with_algorithm(algorithm);
                let key = (number % 7).to_le_bytes();
                store.charge(&StoreCall::new(algorithm.name(), spec, &key))
            });
            block_on(join_all(calls))
        };
        for _ in 0..3 {
            let answers = ask_all();
            let admitted = |answer: &Result<_, _>| matches!(answer, Ok(StoreVerdict::Admitted { .. }));
            assert!(answers.iter().all(admitted), "{answers:?}");
        }
        assert_eq!(store.stats().connected, 1);
    }
}
