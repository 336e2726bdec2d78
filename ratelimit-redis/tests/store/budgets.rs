//! One budget for several stores, as for several processes.

use super::*;

use futures::{StreamExt as _, stream};
use ratelimit_runtime::Algorithm;

#[test]
fn several_stores_share_one_budget_and_admit_exactly_max() {
    with_servers(&[], |server| {
        for algorithm in Algorithm::ALL {
            let spec = hour(100).with_algorithm(algorithm);
            let stores: Vec<_> = (0..4).map(|_| patient(&server.url())).collect();
            let limit = algorithm.name();
            let calls = (0..200).map(|number| stores[number % 4].charge(&StoreCall::new(limit, spec, b"")));
            let answers: Vec<_> = block_on(stream::iter(calls).buffer_unordered(64).collect());
            let admitted =
                answers.iter().filter(|answer| matches!(answer, Ok(StoreVerdict::Admitted { .. }))).count();
            assert!(answers.iter().all(Result::is_ok), "{answers:?}");
            assert_eq!(admitted, 100, "{algorithm}");
        }
    });
}

#[test]
fn what_is_refunded_undone_or_reset_is_free_again() {
    with_servers(&[], |server| {
        let store = patient(&server.url());
        for algorithm in Algorithm::ALL {
            let spec = hour(10).with_algorithm(algorithm);
            let call = StoreCall::new(algorithm.name(), spec, b"").with_cost(6);
            for give in [Store::refund, Store::undo] {
                let Ok(StoreVerdict::Admitted { remaining: 4, receipt }) = block_on(store.charge(&call))
                else {
                    panic!("{algorithm} does not admit");
                };
                give(&store, &call, receipt);
                // A permit that was given back may have begun to refill.
                let used = block_on(store.look(&call)).unwrap().used;
                assert!(used <= 1, "{algorithm}: {used}");
            }
            block_on(store.charge(&call)).unwrap();
            block_on(store.reset(&call)).unwrap();
            assert_eq!(block_on(store.look(&call)).unwrap().used, 0, "{algorithm}");
        }
    });
}

#[test]
fn hostile_keys_have_a_budget_each() {
    with_servers(&[], |server| {
        let store = patient(&server.url());
        let long = vec![b'x'; 64 * 1024];
        let keys =
            [&b""[..], b"{}", b"}", b"{", b"a:b", b"\0", b"\xff\xfe", b"\r\n", b" ", &long, &long[1..]];
        for key in keys {
            let answer = block_on(store.charge(&StoreCall::new("}:{ limit \0", hour(1), key))).unwrap();
            assert!(matches!(answer, StoreVerdict::Admitted { .. }), "{key:?}");
        }
    });
}

#[test]
fn a_bucket_that_begins_empty_fills_from_the_limits_first_use_whoever_asks() {
    with_servers(&[], |server| {
        let spec: LimitSpec = "10/1s algorithm=token_bucket initial=0".parse().unwrap();
        let first = patient(&server.url());
        let began = Instant::now();
        assert!(matches!(
            block_on(first.charge(&StoreCall::new("cold", spec, b"one"))),
            Ok(StoreVerdict::Denied { .. })
        ));
        std::thread::sleep(Duration::from_millis(450));
        // Another process, another key: it has been filling as well.
        let second = patient(&server.url());
        let call = StoreCall::new("cold", spec, b"two").with_cost(4);
        let answer = block_on(second.charge(&call)).unwrap();
        assert!(matches!(answer, StoreVerdict::Admitted { .. }), "{answer:?}");
        if began.elapsed() < Duration::from_millis(550) {
            assert!(matches!(block_on(second.charge(&call)), Ok(StoreVerdict::Denied { .. })));
        }
    });
}

#[test]
fn processes_are_counted_and_share_a_limit_evenly_while_the_store_is_away() {
    with_servers(&[], |mut server| {
        let _first = patient(&server.url());
        let _second = patient(&server.url());
        let third = patient(&server.url());
        assert_eq!(third.stats().nodes, 3);
        server.kill();
        assert!(eventually(LIVELY, || third.state() != LinkState::Up));
        let share = charge(&third, hour(10)).unwrap_err().share();
        assert!((share - 1.0 / 3.0).abs() < 1e-9, "{share}");
    });
}

#[test]
fn a_server_that_comes_back_empty_makes_no_share_larger() {
    with_servers(&[], |mut server| {
        let stores = [(); 3].map(|()| patient(&server.url()));
        // The first ones learn of the last by their heartbeat.
        assert!(eventually(LIVELY, || stores.iter().all(|store| store.stats().nodes == 3)));
        server.kill();
        assert!(eventually(LIVELY, || stores.iter().all(|store| store.state() != LinkState::Up)));
        server.run();
        for store in &stores {
            assert!(eventually(LIVELY, || store.state() == LinkState::Up));
            assert_eq!(store.stats().nodes, 3);
        }
    });
}
