//! Servers that are not there, go, and come back.

use super::*;

use futures::future::join_all;

#[test]
fn a_server_that_is_absent_at_start_costs_no_time_and_is_found_when_it_comes() {
    for engine in Engine::all() {
        let mut server = Server::prepare(engine, &[]);
        let store = builder(&server.url()).connect_lazy().unwrap();
        let (answer, took) = timed(|| charge(&store, hour(10)));
        assert_eq!(answer.unwrap_err().on_failure(), OnFailure::Closed);
        assert!(took < TIMEOUT + SLACK, "{took:?}");
        assert!(time_to_fail_while_down(&store) < Duration::from_micros(50));
        server.run();
        let (came, took) = timed(|| comes_up(&store));
        assert!(came && took < Duration::from_secs(1) + SLACK, "{took:?}");
        charge(&store, hour(10)).unwrap();
    }
}

#[test]
fn the_first_call_is_decided_by_the_store_if_that_is_there() {
    with_servers(&[], |server| {
        let store = builder(&server.url()).connect_lazy().unwrap();
        charge(&store, hour(10)).unwrap();
    });
}

#[test]
fn a_kill_with_a_hundred_calls_under_way_ends_each_in_time_and_those_after_it_at_once() {
    with_servers(&[], |mut server| {
        let store = up(&server.url());
        charge(&store, hour(1_000_000)).unwrap();
        server.signal("STOP");
        let calls: Vec<_> = (0..100).map(|_| store.charge(&call(hour(1_000_000)))).collect();
        let killer = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(10));
            server.kill();
            server
        });
        let (answers, took) = timed(|| block_on(join_all(calls)));
        assert!(answers.iter().all(Result::is_err));
        assert!(took < TIMEOUT + SLACK, "{took:?}");
        let mut server = killer.join().unwrap();
        assert!(eventually(Duration::from_secs(1), || store.state() != LinkState::Up));
        let median = time_to_fail_while_down(&store);
        assert!(median < Duration::from_micros(50), "{median:?}");
        server.run();
        let (came, took) = timed(|| comes_up(&store));
        assert!(came && took < Duration::from_secs(1) + SLACK, "{took:?}");
        charge(&store, hour(1_000_000)).unwrap();
    });
}

#[test]
fn connections_that_are_killed_or_closed_for_idling_come_back_by_themselves() {
    with_servers(&[], |server| {
        let store = up(&server.url());
        let mut admin = server.connect();
        let connected = store.stats().connected;
        redis::cmd("CLIENT").arg(&["KILL", "TYPE", "normal", "SKIPME", "yes"]).exec(&mut admin).unwrap();
        assert!(eventually(Duration::from_secs(2), || store.stats().connected > connected));
        charge(&store, hour(10)).unwrap();
        redis::cmd("CONFIG").arg(&["SET", "timeout", "1"]).exec(&mut admin).unwrap();
        assert!(eventually(Duration::from_secs(5), || store.stats().connected > connected + 1));
        charge(&store, hour(10)).unwrap();
    });
}
