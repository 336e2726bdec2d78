//! Servers that are there, and do not answer in time.

use super::*;

/// Calls time out until the link is dropped, and then fail at once.
fn times_out_then_breaks(store: &RedisStore) {
    let mut timeouts = 0;
    while store.state() == LinkState::Up {
        let (answer, took) = timed(|| charge(store, hour(1_000_000)));
        assert!(took < TIMEOUT + SLACK, "{took:?}");
        timeouts += usize::from(answer.unwrap_err().on_failure() == OnFailure::Open);
        assert!(timeouts < 10, "the link is not dropped");
    }
    assert!(timeouts > 0);
    let median = time_to_fail_while_down(store);
    assert!(median < Duration::from_micros(50), "{median:?}");
}

#[test]
fn a_stopped_server_trips_the_breaker_and_one_probe_closes_it() {
    with_servers(&[], |server| {
        let store = up(&server.url());
        server.signal("STOP");
        times_out_then_breaks(&store);
        std::thread::sleep(Duration::from_millis(600));
        assert_ne!(store.state(), LinkState::Up);
        server.signal("CONT");
        let (came, took) = timed(|| comes_up(&store));
        assert!(came && took < Duration::from_secs(2), "{took:?}");
        charge(&store, hour(1_000_000)).unwrap();
    });
}

#[test]
fn a_paused_server_trips_the_breaker_though_it_still_reads() {
    with_servers(&[], |server| {
        let store = up(&server.url());
        for what in ["WRITE", "ALL"] {
            let mut admin = server.connect();
            redis::cmd("CLIENT").arg(&["PAUSE", "600", what]).exec(&mut admin).unwrap();
            times_out_then_breaks(&store);
            assert!(comes_up(&store));
            charge(&store, hour(1_000_000)).unwrap();
        }
    });
}

#[test]
fn a_sleeping_server_trips_the_breaker() {
    with_servers(&[], |server| {
        let store = up(&server.url());
        let mut admin = server.connect();
        let sleeper = std::thread::spawn(move || redis::cmd("DEBUG").arg(&["SLEEP", "0.6"]).exec(&mut admin));
        std::thread::sleep(Duration::from_millis(50));
        times_out_then_breaks(&store);
        sleeper.join().unwrap().unwrap();
        assert!(comes_up(&store));
    });
}

#[test]
fn a_script_that_never_ends_trips_the_breaker_until_it_is_killed() {
    with_servers(&["--lua-time-limit", "30"], |server| {
        let store = up(&server.url());
        let mut busy = server.connect();
        let script =
            std::thread::spawn(move || redis::cmd("EVAL").arg(&["while true do end", "0"]).exec(&mut busy));
        std::thread::sleep(Duration::from_millis(100));
        assert!(eventually(Duration::from_secs(1), || charge(&store, hour(10)).is_err()));
        assert!(eventually(Duration::from_secs(1), || store.state() != LinkState::Up));
        redis::cmd("SCRIPT").arg("KILL").exec(&mut server.connect()).unwrap();
        script.join().unwrap().unwrap_err();
        assert!(comes_up(&store));
        charge(&store, hour(10)).unwrap();
    });
}

#[test]
fn a_call_that_is_dropped_in_the_middle_is_not_charged() {
    with_servers(&[], |server| {
        let store = up(&server.url());
        for algorithm in ratelimit_runtime::Algorithm::ALL {
            let spec = hour(10).with_algorithm(algorithm);
            let call = StoreCall::new(algorithm.name(), spec, b"").with_cost(7);
            charge(&store, hour(10)).unwrap();
            for _ in 0..5 {
                let mut answer = store.charge(&call);
                assert!(futures::FutureExt::now_or_never(&mut answer).is_none());
                drop(answer);
            }
            let is_free = || block_on(store.look(&call)).unwrap().used <= 1;
            assert!(eventually(Duration::from_secs(1), is_free), "{algorithm}");
        }
    });
}

#[test]
fn a_call_denied_by_its_timeout_is_not_charged_when_the_answer_comes_late() {
    with_servers(&[], |server| {
        let closed = builder(&server.url()).on_timeout(OnFailure::Closed).connect_lazy().unwrap();
        let open = up(&server.url());
        assert!(comes_up(&closed));
        let mut admin = server.connect();
        for (store, expected) in [(&closed, 0), (&open, 1)] {
            redis::cmd("FLUSHALL").exec(&mut admin).unwrap();
            redis::cmd("CLIENT").arg(&["PAUSE", "120", "WRITE"]).exec(&mut admin).unwrap();
            assert!(charge(store, hour(10)).is_err());
            std::thread::sleep(Duration::from_millis(300));
            assert!(eventually(Duration::from_secs(1), || used(&open, hour(10)) == expected));
        }
    });
}
