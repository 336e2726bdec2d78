//! What decides when the store does not, and how that is told.

use super::*;

#[test]
fn each_kind_of_failure_has_its_policy_and_its_count() {
    with_servers(&[], |mut server| {
        let store = RedisStore::builder(&server.url())
            .timeout(Duration::from_millis(300))
            .on_timeout(OnFailure::Closed)
            .on_disconnect(OnFailure::Local)
            .local_share(0.25)
            .connect_lazy()
            .unwrap();
        assert!(comes_up(&store));
        charge(&store, hour(10)).unwrap();
        server.signal("STOP");
        let timeout = charge(&store, hour(10)).unwrap_err();
        assert_eq!(timeout.on_failure(), OnFailure::Closed);
        server.kill();
        assert!(eventually(LIVELY, || store.state() != LinkState::Up));
        let disconnect = charge(&store, hour(10)).unwrap_err();
        assert_eq!(disconnect.on_failure(), OnFailure::Local);
        assert!((disconnect.share() - 0.25).abs() < f64::EPSILON);
        let stats = store.stats();
        assert_eq!((stats.decided, stats.timeouts, stats.disconnected), (1, 1, 1));
        assert_eq!((stats.failed_open, stats.failed_closed, stats.failed_local), (0, 1, 1));
        assert!(stats.mean_latency > Duration::ZERO && stats.mean_latency <= stats.max_latency);
    });
}

#[test]
fn a_denial_is_no_failure() {
    with_servers(&[], |server| {
        let store = patient(&server.url());
        charge(&store, hour(1)).unwrap();
        assert!(matches!(charge(&store, hour(1)), Ok(StoreVerdict::Denied { .. })));
        let stats = store.stats();
        assert_eq!((stats.decided, stats.failed_open + stats.failed_closed + stats.failed_local), (2, 0));
    });
}

#[test]
fn a_store_is_switched_off_and_on_by_hand() {
    with_servers(&[], |server| {
        let store = patient(&server.url());
        charge(&store, hour(10)).unwrap();
        store.set_enabled(false);
        assert_eq!(store.state(), LinkState::Off);
        assert_eq!(charge(&store, hour(10)).unwrap_err().on_failure(), OnFailure::Closed);
        assert_eq!(store.stats().off, 1);
        store.clone().set_enabled(true);
        charge(&store, hour(10)).unwrap();
        assert_eq!(used(&store, hour(10)), 2);
    });
}

#[test]
fn an_address_that_cannot_be_read_is_an_error() {
    let error = RedisStore::builder("no address").connect_lazy().unwrap_err();
    assert!(error.to_string().starts_with("`no address`: "), "{error}");
}
