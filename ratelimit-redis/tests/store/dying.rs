//! Servers that are not there, go, and come back.

use super::*;

use futures::{FutureExt as _, future::join_all};

#[test]
fn a_server_that_is_absent_at_start_costs_no_time_and_is_found_when_it_comes() {
    at_each_engine(|engine| {
        let mut server = Server::prepare(engine, &[]);
        let store = builder(&server.url()).connect_lazy().unwrap();
        let (answer, took) = timed(|| charge(&store, hour(10)));
        assert_eq!(answer.unwrap_err().on_failure(), OnFailure::Closed);
        in_time(took, TIMEOUT);
        fails_at_once(&store);
        server.run();
        let (came, took) = timed(|| comes_up(&store));
        assert!(came);
        in_time(took, Duration::from_secs(1));
        assert!(decides(&store));
    });
}

#[test]
fn the_first_call_is_decided_by_the_store_if_that_is_there() {
    with_servers(&[], |server| {
        let store = builder(&server.url()).timeout(Duration::from_secs(10)).connect_lazy().unwrap();
        assert!(matches!(charge(&store, hour(10)), Ok(StoreVerdict::Admitted { .. })));
    });
}

#[test]
fn calls_that_nobody_answers_end_within_five_milliseconds_after_the_timeout() {
    with_servers(&[], |server| {
        let store = up(&server.url());
        // On a machine that has other work, one of some rounds has to show it.
        let medians = (0..10).map(|_| {
            assert!(decides(&store));
            server.signal("STOP");
            let calls = (0..100).map(|_| {
                let began = Instant::now();
                store.charge(&call(hour(1_000_000))).map(move |answer| (answer, began.elapsed()))
            });
            let calls: Vec<_> = calls.collect();
            let (answers, took) = timed(|| block_on(join_all(calls)));
            server.signal("CONT");
            assert!(answers.iter().all(|(answer, _)| answer.is_err()));
            in_time(took, TIMEOUT);
            let mut times: Vec<_> = answers.into_iter().map(|(_, took)| took).collect();
            median(&mut times)
        });
        let mut seen = Vec::new();
        let in_time = |median: Duration| {
            seen.push(median);
            median >= TIMEOUT && median < TIMEOUT + Duration::from_millis(5)
        };
        assert!({ medians }.any(in_time), "{seen:?}");
    });
}

#[test]
fn a_kill_with_a_hundred_calls_under_way_ends_each_in_time_and_those_after_it_at_once() {
    with_servers(&[], |mut server| {
        let store = up(&server.url());
        assert!(decides(&store));
        let mut times_to_return = Vec::new();
        for _ in 0..3 {
            server.signal("STOP");
            let calls: Vec<_> = (0..100).map(|_| store.charge(&call(hour(1_000_000)))).collect();
            let killer = std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(10));
                server.kill();
                server
            });
            let (answers, took) = timed(|| block_on(join_all(calls)));
            assert!(answers.iter().all(Result::is_err));
            in_time(took, TIMEOUT);
            server = killer.join().unwrap();
            assert!(eventually(LIVELY, || store.state() != LinkState::Up));
            fails_at_once(&store);
            // So that its pauses between attempts are as long as they get.
            std::thread::sleep(Duration::from_millis(1500));
            server.run();
            let (came, took) = timed(|| comes_up(&store));
            assert!(came);
            times_to_return.push(took);
            assert!(decides(&store));
        }
        in_time(median(&mut times_to_return), Duration::from_secs(1));
    });
}

#[test]
fn connections_that_are_killed_or_closed_for_idling_come_back_by_themselves() {
    with_servers(&[], |server| {
        let store = up(&server.url());
        let mut admin = server.connect();
        let connected = store.stats().connected;
        redis::cmd("CLIENT").arg(&["KILL", "TYPE", "normal", "SKIPME", "yes"]).exec(&mut admin).unwrap();
        assert!(eventually(LIVELY, || store.stats().connected > connected));
        assert!(decides(&store));
        redis::cmd("CONFIG").arg(&["SET", "timeout", "1"]).exec(&mut admin).unwrap();
        assert!(eventually(LIVELY, || store.stats().connected > connected + 1));
        assert!(decides(&store));
    });
}

#[test]
fn what_is_given_back_while_there_is_no_connection_is_sent_when_there_is_one() {
    with_servers(&[], |server| {
        let store = up(&server.url());
        let mut receipts = Vec::new();
        for _ in 0..3 {
            let verdict = charge(&store, hour(10)).unwrap();
            let StoreVerdict::Admitted { receipt, .. } = verdict else { panic!("{verdict:?}") };
            receipts.push(receipt);
        }
        redis::cmd("CLIENT").arg(&["KILL", "TYPE", "normal"]).exec(&mut server.connect()).unwrap();
        assert!(eventually(LIVELY, || store.state() != LinkState::Up));
        for receipt in receipts {
            store.refund(&call(hour(10)), receipt);
        }
        assert_eq!(used(&store, hour(10)), 0);
    });
}
