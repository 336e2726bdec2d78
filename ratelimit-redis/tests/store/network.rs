//! Networks that swallow, cut and delay.

use super::*;

use proxy::Proxy;

#[test]
fn a_black_hole_is_no_connection() {
    with_servers(&[], |server| {
        let proxy = Proxy::before(server.port);
        proxy.swallow(true);
        let store = builder(&proxy.url()).connect_lazy().unwrap();
        let (answer, took) = timed(|| charge(&store, hour(10)));
        assert!(answer.is_err());
        in_time(took, TIMEOUT);
        fails_at_once(&store);
        proxy.swallow(false);
        assert!(comes_up(&store));
        proxy.swallow(true);
        for _ in 0..4 {
            let (answer, took) = timed(|| charge(&store, hour(10)));
            assert!(answer.is_err());
            in_time(took, TIMEOUT);
        }
        assert_ne!(store.state(), LinkState::Up);
    });
}

#[test]
fn a_black_hole_that_is_gone_is_noticed_within_a_second_though_an_attempt_hangs_in_it() {
    at_each_engine(|engine| {
        let server = Server::start(engine);
        let proxy = Proxy::before(server.port);
        let store = up(&proxy.url());
        for _ in 0..3 {
            proxy.swallow(true);
            assert!(eventually(LIVELY, || {
                _ = charge(&store, hour(1_000_000));
                store.state() != LinkState::Up
            }));
            // The pauses have become long, and an attempt has just begun.
            let attempts = proxy.times_opened().len() + 6;
            assert!(eventually(LIVELY, || proxy.times_opened().len() >= attempts));
            std::thread::sleep(Duration::from_millis(50));
            proxy.swallow(false);
            let (came, took) = timed(|| comes_up(&store));
            assert!(came);
            in_time(took, Duration::from_secs(1));
        }
    });
}

#[test]
fn a_reply_that_breaks_off_is_no_answer() {
    with_servers(&[], |server| {
        let proxy = Proxy::before(server.port);
        let store = up(&proxy.url());
        for bytes in [1, 3, 9] {
            proxy.cut_after(bytes);
            let failure = charge(&store, hour(1000)).unwrap_err();
            assert_eq!(failure.on_failure(), OnFailure::Closed, "{failure}");
            assert!(comes_up(&store));
        }
    });
}

#[test]
fn a_delay_around_the_timeout_loses_no_more_than_was_asked() {
    with_servers(&[], |server| {
        let proxy = Proxy::before(server.port);
        let store = up(&proxy.url());
        let mut asked = 0;
        for delay in [40, 48, 50, 52, 60] {
            proxy.delay(Duration::from_millis(delay));
            for _ in 0..3 {
                let (answer, took) = timed(|| charge(&store, hour(1000)));
                in_time(took, TIMEOUT);
                assert!(answer.is_ok() || answer.is_err_and(|failure| failure.share() > 0.0));
                asked += 1;
            }
            proxy.delay(Duration::ZERO);
            assert!(comes_up(&store));
        }
        assert!(eventually(LIVELY, || block_on(store.look(&call(hour(1000)))).is_ok()));
        assert!(used(&store, hour(1000)) <= asked);
    });
}
