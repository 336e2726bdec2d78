//! A limit that is enforced, only watched, or off.

use std::time::Duration;

use ratelimit_runtime::{
    LimitHandle, Mode, Permit, RateLimited, Stats, limit, limits, rate_limit, test_util::isolate,
};

const SECOND: Duration = Duration::from_secs(1);

/// Calls counted as allowed, denied and denied in shadow.
fn counts(limit: &LimitHandle) -> (u64, u64, u64) {
    let Stats { allowed, denied, shadow_denied, .. } = limit.stats();
    (allowed, denied, shadow_denied)
}

#[rate_limit(max = 2, window = "1s", cost = "cost", name = "plain", permit = permit)]
fn plain(cost: u32) -> Result<Permit<'static>, RateLimited> {
    Ok(permit)
}

#[rate_limit(key = "user", max = 1, window = "1s", name = "keyed")]
fn keyed(user: u32) -> Result<(), RateLimited> {
    let _ = user;
    Ok(())
}

#[rate_limit(max = 1, window = "1s", mode = "shadow", name = "born.shadow")]
fn born_in_shadow() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(key = "user", max = 1, window = "1s", mode = "off", name = "born.off")]
fn born_off(user: u32) -> Result<(), RateLimited> {
    let _ = user;
    Ok(())
}

#[test]
fn an_enforced_limit_counts_what_it_admits_and_denies() {
    let _time = isolate();
    let limit = limit("plain").unwrap();
    assert_eq!(limit.mode(), Mode::Enforce);
    assert_eq!(limit.stats(), Stats::default());
    plain(1).unwrap();
    plain(0).unwrap();
    plain(1).unwrap();
    plain(1).unwrap_err();
    plain(3).unwrap_err();
    assert_eq!(counts(&limit), (3, 2, 0));
}

#[test]
fn a_shadow_limit_charges_as_if_enforced_and_denies_nothing() {
    let time = isolate();
    let limit = limit("plain").unwrap();
    limit.set_mode(Mode::Shadow);
    plain(1).unwrap();
    assert_eq!(plain(1).unwrap().remaining(), 0);
    plain(1).unwrap();
    plain(3).unwrap();
    assert_eq!(limit.used(&()), 2);
    assert_eq!(counts(&limit), (2, 0, 2));
    // What it would have denied was not charged, so it frees when an enforced one would.
    time.advance(2 * SECOND);
    plain(2).unwrap();
    assert_eq!(counts(&limit), (3, 0, 2));
}

#[test]
fn a_permit_that_a_shadow_limit_would_have_denied_holds_nothing() {
    let _time = isolate();
    limit("plain").unwrap().set_mode(Mode::Shadow);
    let charged = plain(2).unwrap();
    let would_be_denied = plain(1).unwrap();
    assert_eq!((charged.remaining(), would_be_denied.remaining()), (0, u32::MAX));
    would_be_denied.refund();
    assert_eq!((limit("plain").unwrap().used(&()), limit("plain").unwrap().stats().refunded), (2, 0));
    charged.refund();
    assert_eq!((limit("plain").unwrap().used(&()), limit("plain").unwrap().stats().refunded), (0, 1));
}

#[test]
fn a_limit_that_is_off_admits_all_and_counts_nothing() {
    let _time = isolate();
    let limit = limit("keyed").unwrap();
    limit.set_mode(Mode::Off);
    for _ in 0..10 {
        keyed(1).unwrap();
    }
    assert_eq!(limit.stats(), Stats::default());
    assert_eq!(limit.used(&1), 0);
}

#[test]
fn a_permit_of_a_limit_that_is_off_is_not_limited() {
    let _time = isolate();
    limit("plain").unwrap().set_mode(Mode::Off);
    let permit = plain(1).unwrap();
    assert_eq!(permit.remaining(), u32::MAX);
    permit.refund();
    assert_eq!(limit("plain").unwrap().stats().refunded, 0);
}

#[test]
fn a_limit_switched_back_goes_on_from_what_was_charged() {
    let _time = isolate();
    let limit = limit("keyed").unwrap();
    limit.set_mode(Mode::Shadow);
    keyed(1).unwrap();
    limit.set_mode(Mode::Off);
    keyed(1).unwrap();
    keyed(2).unwrap();
    limit.set_mode(Mode::Enforce);
    keyed(1).unwrap_err();
    keyed(2).unwrap();
    assert_eq!(counts(&limit), (2, 1, 0));
    assert_eq!(limit.stats().tracked_keys, 2);
}

#[test]
fn a_permit_is_refunded_whatever_the_mode_is_by_then() {
    for mode in [Mode::Shadow, Mode::Off, Mode::Enforce] {
        let _time = isolate();
        let limit = limit("plain").unwrap();
        let permit = plain(2).unwrap();
        limit.set_mode(mode);
        permit.refund();
        assert_eq!((limit.used(&()), limit.stats().refunded), (0, 1));
    }
}

#[test]
fn a_refund_that_gives_nothing_back_is_not_counted() {
    let time = isolate();
    let limit = limit("plain").unwrap();
    let aged = plain(1).unwrap();
    time.advance(2 * SECOND);
    aged.refund();
    let forgotten = plain(1).unwrap();
    limit.reset();
    forgotten.refund();
    plain(0).unwrap().refund();
    assert_eq!(limit.stats().refunded, 0);
    assert_eq!(counts(&limit), (3, 0, 0));
}

#[test]
fn a_limit_begins_in_the_mode_it_declares() {
    let _time = isolate();
    let [shadow, off] = ["born.shadow", "born.off"].map(|name| limit(name).unwrap());
    assert_eq!((shadow.mode(), off.mode()), (Mode::Shadow, Mode::Off));
    for _ in 0..3 {
        born_in_shadow().unwrap();
        born_off(1).unwrap();
    }
    assert_eq!(counts(&shadow), (1, 0, 2));
    assert_eq!(counts(&off), (0, 0, 0));
    shadow.set_mode(Mode::Enforce);
    born_in_shadow().unwrap_err();
}

#[rate_limit(key = "key", max = 1, window = "1s", max_keys = 2, name = "crowded")]
fn crowded(key: u32) -> Result<(), RateLimited> {
    let _ = key;
    Ok(())
}

#[test]
fn calls_that_an_overflow_budget_decides_are_counted() {
    let time = isolate();
    let limit = limit("crowded").unwrap();
    crowded(1).unwrap();
    crowded(2).unwrap();
    crowded(1).unwrap_err();
    assert_eq!((limit.stats().overflowed, limit.stats().tracked_keys), (0, 2));
    crowded(3).unwrap();
    crowded(3).unwrap_err();
    assert_eq!((limit.stats().overflowed, limit.stats().tracked_keys), (2, 2));
    time.advance(2 * SECOND);
    crowded(3).unwrap();
    assert_eq!((limit.stats().overflowed, limit.stats().tracked_keys), (2, 1));
}

#[test]
fn every_declared_limit_is_there_before_its_first_call() {
    let names: Vec<_> = limits().map(|limit| limit.name().to_owned()).collect();
    assert_eq!(names, ["born.off", "born.shadow", "crowded", "keyed", "plain"]);
}
