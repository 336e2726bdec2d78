//! Declared limits are known before their first call, and can be watched and changed.

use axum::http::StatusCode;
use ratelimit_runtime::{LimitSpec, Mode, RateLimited, limits, rate_limit, verify};

use crate::{handle, stats};

#[rate_limit(max = 3, window = "1h")]
fn never_called() -> Result<(), RateLimited> {
    Ok(())
}

struct Orders;

impl Orders {
    #[rate_limit(max = 3, window = "1h")]
    #[rate_limit(max = 30, window = "1h")]
    fn create(&self) -> Result<(), RateLimited> {
        Ok(())
    }
}

#[test]
fn a_limit_is_listed_by_its_path_before_its_first_call() {
    let limit = handle("end_to_end::registry::never_called");
    assert_eq!(limit.spec(), LimitSpec::new(3, std::time::Duration::from_secs(3600)));
    assert!(limit.file().ends_with("registry.rs"));
    assert!((1..30).contains(&limit.line()));
    assert!(limits().any(|listed| listed.name() == limit.name()));
    let _ = never_called();
}

#[test]
fn a_method_is_listed_with_its_type_and_a_stacks_second_limit_with_its_number() {
    assert_eq!(handle("end_to_end::registry::Orders::create").spec().max(), 3);
    assert_eq!(handle("end_to_end::registry::Orders::create#2").spec().max(), 30);
    let _ = Orders.create();
}

#[test]
fn stats_count_calls_and_not_permits() {
    #[rate_limit(max = 10, window = "1h", cost = 5, name = "registry.stats")]
    fn call() -> Result<(), RateLimited> {
        Ok(())
    }

    let admitted = (0..5).filter(|_| call().is_ok()).count();
    assert_eq!(admitted, 2);
    let stats = stats("registry.stats");
    assert_eq!((stats.allowed, stats.denied, stats.waited), (2, 3, 0));
}

#[test]
fn a_changed_limit_holds_at_once_and_keeps_what_was_used() {
    #[rate_limit(max = 2, window = "1h", name = "registry.change")]
    fn call() -> Result<(), RateLimited> {
        Ok(())
    }

    let limit = handle("registry.change");
    let set_max = |max| limit.set_spec(LimitSpec::new(max, limit.spec().window())).unwrap();
    let admitted = || (0..10).filter(|_| call().is_ok()).count();
    assert_eq!(admitted(), 2);
    set_max(5);
    assert_eq!(admitted(), 3);
    set_max(1);
    assert_eq!(admitted(), 0);
    set_max(6);
    assert_eq!(admitted(), 1);
    set_max(0);
    assert_eq!(admitted(), 0);
}

#[test]
fn a_limit_can_be_switched_off_and_to_shadow() {
    #[rate_limit(max = 1, window = "1h", name = "registry.mode")]
    fn call() -> Result<(), RateLimited> {
        Ok(())
    }

    let limit = handle("registry.mode");
    assert_eq!(limit.mode(), Mode::Enforce);

    limit.set_mode(Mode::Off);
    assert!((0..5).all(|_| call().is_ok()));
    limit.set_mode(Mode::Enforce);
    assert!(call().is_ok(), "off counts nothing");
    assert!(call().is_err());

    limit.set_mode(Mode::Shadow);
    assert!((0..5).all(|_| call().is_ok()));
    assert_eq!(limit.stats().shadow_denied, 5);
    limit.set_mode(Mode::Enforce);
    assert!(call().is_err());
}

#[test]
fn an_attribute_in_shadow_mode_denies_nothing() {
    #[rate_limit(max = 1, window = "1h", mode = "shadow", name = "registry.shadow")]
    fn call() -> Result<(), RateLimited> {
        Ok(())
    }

    assert!((0..5).all(|_| call().is_ok()));
    let stats = stats("registry.shadow");
    assert_eq!((stats.denied, stats.shadow_denied), (0, 4));
}

#[test]
fn support_unlocks_one_customer() {
    #[rate_limit(key = customer, max = 1, window = "1h", name = "registry.unlock")]
    fn call(customer: &str) -> Result<(), RateLimited> {
        Ok(())
    }

    call("ada").unwrap();
    call("bob").unwrap();
    let limit = handle("registry.unlock");
    assert_eq!(limit.used("ada"), 1);
    limit.reset_key("ada");
    assert_eq!(limit.used("ada"), 0);
    assert!(call("ada").is_ok());
    assert!(call("bob").is_err());

    limit.reset();
    assert!(call("ada").is_ok());
    assert!(call("bob").is_ok());
}

struct Busy;

impl From<RateLimited> for Busy {
    fn from(_: RateLimited) -> Self {
        Self
    }
}

impl axum::response::IntoResponse for Busy {
    fn into_response(self) -> axum::response::Response {
        StatusCode::TOO_MANY_REQUESTS.into_response()
    }
}

#[axum::debug_handler]
#[rate_limit(max = 1, window = "1h", name = "registry.debug_handler_above")]
async fn debug_handler_above() -> Result<(), Busy> {
    Ok(())
}

#[rate_limit(max = 1, window = "1h", name = "registry.debug_handler_below")]
#[axum::debug_handler]
async fn debug_handler_below() -> Result<(), Busy> {
    Ok(())
}

/// It compiles a copy of the handler, with all of its attributes, to check that.
#[tokio::test]
async fn a_handler_that_debug_handler_checks_is_one_limit() {
    verify().unwrap();
    for name in ["registry.debug_handler_above", "registry.debug_handler_below"] {
        assert_eq!(limits().filter(|limit| limit.name() == name).count(), 1, "{name}");
        let stats = stats(name);
        assert_eq!((stats.allowed, stats.denied), (0, 0), "{name}");
    }
    for admitted in [true, false] {
        assert_eq!(debug_handler_above().await.is_ok(), admitted);
        assert_eq!(debug_handler_below().await.is_ok(), admitted);
    }
    for name in ["registry.debug_handler_above", "registry.debug_handler_below"] {
        let stats = stats(name);
        assert_eq!((stats.allowed, stats.denied), (1, 1), "{name}");
    }
}
