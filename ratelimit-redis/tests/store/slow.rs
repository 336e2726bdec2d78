//! Servers that are there, and do not answer in time.

use super::*;

use futures::FutureExt as _;
use ratelimit_runtime::StoreAnswer;

/// Calls time out until the link is dropped, and then fail at once.
fn times_out_then_breaks(store: &RedisStore) {
    let mut timeouts = 0;
    while store.state() == LinkState::Up {
        let (answer, took) = timed(|| charge(store, hour(1_000_000)));
        in_time(took, TIMEOUT);
        timeouts += usize::from(answer.unwrap_err().on_failure() == OnFailure::Open);
        assert!(timeouts < 10, "the link is not dropped");
    }
    assert!(timeouts > 0);
    fails_at_once(store);
}

#[test]
fn a_server_that_is_stopped_for_four_seconds_trips_the_breaker_and_is_back_soon_after() {
    at_each_engine(|engine| {
        let server = Server::start(engine);
        let store = up(&server.url());
        server.signal("STOP");
        times_out_then_breaks(&store);
        let end = Instant::now() + Duration::from_secs(4);
        while Instant::now() < end {
            fails_at_once(&store);
            assert_ne!(store.state(), LinkState::Up);
            std::thread::sleep(Duration::from_millis(100));
        }
        server.signal("CONT");
        let (came, took) = timed(|| comes_up(&store));
        assert!(came);
        in_time(took, Duration::from_secs(1));
        assert!(decides(&store));
    });
}

#[test]
fn while_the_breaker_is_open_the_server_gets_one_probe_at_a_time_and_the_first_in_time_closes_it() {
    with_servers(&[], |server| {
        let proxy = proxy::Proxy::before(server.port);
        let store = up(&proxy.url());
        // In time to connect, and too late to decide.
        proxy.delay(TIMEOUT * 2);
        times_out_then_breaks(&store);
        let (scripts, attempts) = (scripts_run(&server), proxy.times_opened().len());
        let mut failed = 0;
        while proxy.times_opened().len() < attempts + 5 {
            failed += usize::from(charge(&store, hour(1_000_000)).is_err());
            std::thread::sleep(Duration::from_millis(1));
        }
        let (scripts, attempts) = (scripts_run(&server) - scripts, proxy.times_opened().len() - attempts);
        assert!(failed > 100, "{failed}");
        // When counting began, a probe may have been under way, and the three calls that timed out.
        assert!((1..=attempts + 4).contains(&scripts), "{scripts} scripts by {attempts} attempts");
        assert_eq!(store.stats().connected, 1);
        proxy.delay(Duration::ZERO);
        assert!(comes_up(&store));
        assert!(decides(&store));
    });
}

/// How many calls of scripts the server has seen.
fn scripts_run(server: &Server) -> usize {
    let stats: String = redis::cmd("INFO").arg("commandstats").query(&mut server.connect()).unwrap();
    let of_scripts = stats.lines().filter_map(|line| line.strip_prefix("cmdstat_eval"));
    let calls = of_scripts.filter_map(|line| line.split_once("calls=")?.1.split(',').next());
    calls.map(|calls| calls.parse::<usize>().unwrap()).sum()
}

#[test]
fn a_paused_server_trips_the_breaker_though_it_still_reads() {
    with_servers(&[], |server| {
        let store = up(&server.url());
        for what in ["WRITE", "ALL"] {
            let mut admin = server.connect();
            redis::cmd("CLIENT").arg(&["PAUSE", "1500", what]).exec(&mut admin).unwrap();
            times_out_then_breaks(&store);
            assert!(comes_up(&store));
            assert!(decides(&store));
        }
    });
}

#[test]
fn a_sleeping_server_trips_the_breaker() {
    with_servers(&[], |server| {
        let store = up(&server.url());
        let mut admin = server.connect();
        let sleeper = std::thread::spawn(move || redis::cmd("DEBUG").arg(&["SLEEP", "1.5"]).exec(&mut admin));
        assert!(eventually(LIVELY, || charge(&store, hour(1_000_000)).is_err()));
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
        assert!(eventually(LIVELY, || charge(&store, hour(10)).is_err()));
        assert!(eventually(LIVELY, || store.state() != LinkState::Up));
        redis::cmd("SCRIPT").arg("KILL").exec(&mut server.connect()).unwrap();
        script.join().unwrap().unwrap_err();
        assert!(comes_up(&store));
        assert!(decides(&store));
    });
}

#[test]
fn a_call_may_be_told_to_wait_for_ever() {
    with_servers(&[], |server| {
        for url in [server.url(), "redis://127.0.0.1:1".to_owned()] {
            let of_one = || RedisStore::builder(&url);
            for builder in [of_one(), RedisStore::cluster([&url]), RedisStore::sentinel([&url], "mymaster")] {
                let store =
                    builder.timeout(Duration::MAX).on_disconnect(OnFailure::Closed).connect_lazy().unwrap();
                // By whoever there is that decides, or by the policy.
                let is_decided = charge(&store, hour(10)).is_ok();
                assert_eq!(is_decided, store.state() == LinkState::Up, "{:?}", store.last_error());
            }
        }
    });
}

#[test]
fn a_call_that_is_dropped_in_the_middle_is_not_charged() {
    with_servers(&[], |server| {
        let store = up(&server.url());
        for algorithm in ratelimit_runtime::Algorithm::ALL {
            let spec = hour(10).with_algorithm(algorithm);
            let call = StoreCall::new(algorithm.name(), spec, b"").with_cost(7);
            assert!(decides(&store));
            for _ in 0..5 {
                let mut answer = store.charge(&call);
                // It may have been answered already; then it was charged, or denied while the one before was in the way.
                if let Some(Ok(StoreVerdict::Admitted { receipt, .. })) = (&mut answer).now_or_never() {
                    store.undo(&call, receipt);
                }
            }
            drop(store.charge(&call));
            let is_free = || block_on(store.look(&call)).is_ok_and(|outlook| outlook.used <= 1);
            assert!(eventually(LIVELY, is_free), "{algorithm}");
        }
    });
}

/// A charge that was asked for, and not answered while it was.
fn begun(store: &RedisStore, call: &StoreCall<'_>) -> StoreAnswer<StoreVerdict> {
    loop {
        let mut answer = store.charge(call);
        match (&mut answer).now_or_never() {
            None => return answer,
            Some(Ok(StoreVerdict::Admitted { receipt, .. })) => store.undo(call, receipt),
            Some(answer) => panic!("{answer:?}"),
        }
    }
}

#[test]
fn a_call_that_is_dropped_when_its_answer_is_there_is_not_charged() {
    with_servers(&[], |server| {
        let store = patient(&server.url());
        for algorithm in ratelimit_runtime::Algorithm::ALL {
            let spec = hour(10).with_algorithm(algorithm);
            let call = StoreCall::new(algorithm.name(), spec, b"at hand").with_cost(7);
            let used = || block_on(store.look(&call)).unwrap().used;
            let answer = begun(&store, &call);
            // Answered after it on the same connection.
            assert_eq!(used(), 7, "{algorithm}");
            drop(answer);
            assert_eq!(used(), 0, "{algorithm}");
        }
    });
}

#[test]
fn callers_that_are_late_themselves_are_told_of_a_timeout_and_the_link_stays_up() {
    with_servers(&[], |server| {
        let store = up(&server.url());
        let calls: Vec<_> = (0..5).map(|_| store.charge(&call(hour(10)))).collect();
        std::thread::sleep(TIMEOUT * 2);
        for call in calls {
            assert_eq!(block_on(call).unwrap_err().on_failure(), OnFailure::Open);
        }
        assert_eq!((store.state(), store.stats().connected), (LinkState::Up, 1));
        assert_eq!(used(&store, hour(10)), 0);
    });
}

/// Whatever is asked of the server by writing, it does so much later.
fn hold_back(server: &Server, time: Duration) {
    let time = time.as_millis().to_string();
    redis::cmd("CLIENT").arg(&["PAUSE", &time, "WRITE"]).exec(&mut server.connect()).unwrap();
}

#[test]
fn a_dropped_call_is_not_charged_though_the_server_decides_after_the_timeout() {
    with_servers(&[], |server| {
        // For those who stay, the policy admits, and the charge stands.
        let store = up(&server.url());
        for held_back in [TIMEOUT / 2, TIMEOUT * 2] {
            hold_back(&server, held_back);
            let mut answer = store.charge(&call(hour(10)).with_cost(7));
            assert!((&mut answer).now_or_never().is_none());
            drop(answer);
            // Behind it on the same connection.
            std::thread::sleep(held_back + TIMEOUT);
            let is_free = || block_on(store.look(&call(hour(10)))).is_ok_and(|outlook| outlook.used == 0);
            assert!(eventually(LIVELY, is_free), "{held_back:?}");
        }
    });
}

#[test]
fn a_call_that_timed_out_is_charged_late_for_as_long_as_it_may_be_admitted() {
    with_servers(&[], |server| {
        let store = up(&server.url());
        let is = |expected| {
            eventually(LIVELY, || {
                block_on(store.look(&call(hour(10)))).is_ok_and(|outlook| outlook.used == expected)
            })
        };
        // Which makes the script known.
        assert!(is(0));
        hold_back(&server, TIMEOUT * 3);
        let failure = charge(&store, hour(10)).unwrap_err();
        assert!(is(1));
        drop(failure);
        assert!(is(0));
        // Also if it is known before the server decides that it is not.
        hold_back(&server, TIMEOUT * 3);
        drop(charge(&store, hour(10)).unwrap_err());
        std::thread::sleep(TIMEOUT * 3);
        assert!(is(0));
    });
}

#[test]
fn a_timeout_that_its_caller_never_learns_of_is_not_charged() {
    with_servers(&[], |server| {
        let store = up(&server.url());
        // Dropped before the server decides, and after.
        for waits in [TIMEOUT * 2, TIMEOUT * 5] {
            hold_back(&server, TIMEOUT * 3);
            let mut answer = store.charge(&call(hour(10)).with_cost(7));
            assert!((&mut answer).now_or_never().is_none());
            std::thread::sleep(waits);
            drop(answer);
            std::thread::sleep((TIMEOUT * 4).saturating_sub(waits));
            let is_free = || block_on(store.look(&call(hour(10)))).is_ok_and(|outlook| outlook.used == 0);
            assert!(eventually(LIVELY, is_free), "{waits:?}");
        }
        assert_eq!(store.stats().connected, 1);
    });
}

#[test]
fn calls_denied_by_their_timeouts_are_not_charged_though_several_connections_were_given_up_for_them() {
    at_each_engine(|engine| {
        let server = Server::start(engine);
        let proxy = proxy::Proxy::before(server.port);
        let store = builder(&proxy.url()).on_timeout(OnFailure::Closed).connect_lazy().unwrap();
        assert!(comes_up(&store));
        assert_eq!(used(&store, hour(100)), 0);
        for connections in 1..=3 {
            // What is answered now comes when another connection is there, and on that one too.
            proxy.delay(Duration::from_secs(2));
            let calls = (0..5).map(|_| store.charge(&call(hour(100)).with_cost(2)));
            let answers = block_on(futures::future::join_all(calls));
            assert!(answers.iter().all(Result::is_err));
            assert!(eventually(LIVELY, || store.state() != LinkState::Up));
            proxy.delay(Duration::ZERO);
            assert!(eventually(LIVELY, || store.stats().connected == connections + 1
                && store.state() == LinkState::Up));
        }
        let is_free = || block_on(store.look(&call(hour(100)))).is_ok_and(|outlook| outlook.used == 0);
        assert!(eventually(LIVELY, is_free));
    });
}

#[test]
fn calls_denied_by_their_timeouts_are_not_charged_though_these_break_the_link() {
    with_servers(&[], |server| {
        let store = builder(&server.url()).on_timeout(OnFailure::Closed).connect_lazy().unwrap();
        assert!(comes_up(&store));
        assert_eq!(used(&store, hour(100)), 0);
        server.signal("STOP");
        let calls = (0..50).map(|_| store.charge(&call(hour(100)).with_cost(2)));
        let answers = block_on(futures::future::join_all(calls));
        assert!(answers.iter().all(Result::is_err));
        drop(answers);
        assert_ne!(store.state(), LinkState::Up);
        server.signal("CONT");
        assert!(comes_up(&store));
        let is_free = || block_on(store.look(&call(hour(100)))).is_ok_and(|outlook| outlook.used == 0);
        assert!(eventually(LIVELY, is_free));
    });
}
