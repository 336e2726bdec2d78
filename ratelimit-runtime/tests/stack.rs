//! Several limits on one function are one decision.
#![cfg(feature = "macros")]

use std::time::Duration;

use ratelimit_runtime::{
    LazyKeyedLimiter, LazyLimiter, LimitHandle, LimitSpec, Mode, Permit, RateLimited, Reason, limit, limiter,
    rate_limit, test_util::isolate,
};

const NANOSECOND: Duration = Duration::from_nanos(1);
const SECOND: Duration = Duration::from_secs(1);
const MINUTE: Duration = Duration::from_secs(60);

fn named(name: &str) -> LimitHandle {
    limit(name).unwrap()
}

fn used(name: &str) -> u32 {
    named(name).used(&())
}

fn just_before(time: Duration) -> Duration {
    time.saturating_sub(NANOSECOND)
}

fn retry_after<T>(denied: Result<T, RateLimited>) -> Duration {
    denied.err().unwrap().retry_after().unwrap()
}

#[rate_limit(max = 3, window = "1s", name = "login.all", permit = permit)]
#[rate_limit(key = "user", max = 2, window = "1m", name = "login.user")]
#[rate_limit(key = "client", cost = "cost", max = 5, window = "10s", name = "login.client")]
fn login(user: u32, client: u32, cost: u32) -> Result<Permit<'static>, RateLimited> {
    Ok(permit)
}

#[test]
fn all_limits_admit_and_are_charged() {
    let _time = isolate();
    login(1, 2, 3).unwrap();
    assert_eq!(used("login.all"), 1);
    assert_eq!((named("login.user").used(&1), named("login.user").used(&2)), (1, 0));
    assert_eq!(named("login.client").used(&2), 3);
}

#[test]
fn none_is_charged_if_any_denies() {
    let _time = isolate();
    login(1, 1, 4).unwrap();
    for (user, client, cost, denied_by) in [(2, 1, 2, "login.client"), (2, 2, 6, "login.client")] {
        assert_eq!(login(user, client, cost).unwrap_err().name(), denied_by);
    }
    login(1, 2, 1).unwrap();
    assert_eq!(login(1, 3, 1).unwrap_err().name(), "login.user");
    login(2, 3, 1).unwrap();
    assert_eq!(login(3, 4, 1).unwrap_err().name(), "login.all");
    assert_eq!(used("login.all"), 3);
    assert_eq!([1, 2, 3].map(|user| named("login.user").used(&user)), [2, 1, 0]);
    assert_eq!([1, 2, 3, 4].map(|client| named("login.client").used(&client)), [4, 1, 1, 0]);
    // What was charged and taken back has left no key behind.
    assert_eq!(named("login.user").stats().tracked_keys, 2);
}

#[test]
fn the_limit_that_frees_last_is_named_and_its_time_holds_for_the_whole_stack() {
    let time = isolate();
    login(1, 1, 1).unwrap();
    time.advance(SECOND / 2);
    login(1, 1, 4).unwrap();
    login(2, 2, 1).unwrap();
    // All three are full: `all` for a second, `client` for ten, `user` for a minute.
    let limited = login(1, 1, 5).unwrap_err();
    assert_eq!((limited.name(), limited.reason()), ("login.user", Reason::Exceeded));
    let wait = limited.retry_after().unwrap();
    time.advance(just_before(wait));
    assert_eq!(retry_after(login(1, 1, 5)), NANOSECOND);
    time.advance(NANOSECOND);
    login(1, 1, 5).unwrap();
}

#[test]
fn every_order_of_freeing_gives_the_last() {
    let time = isolate();
    login(1, 1, 5).unwrap();
    assert_eq!(login(2, 1, 1).unwrap_err().name(), "login.client");
    login(1, 2, 5).unwrap();
    login(2, 2, 0).unwrap();
    let limited = login(3, 2, 0).unwrap_err();
    assert_eq!(limited.name(), "login.all");
    time.advance(limited.retry_after().unwrap());
    login(3, 2, 0).unwrap();
    let limited = login(3, 2, 5).unwrap_err();
    assert_eq!(limited.name(), "login.client");
    time.advance(limited.retry_after().unwrap());
    login(3, 2, 5).unwrap();
    assert_eq!(login(3, 3, 1).unwrap_err().name(), "login.user");
}

#[test]
fn a_cost_that_one_limit_can_never_hold_has_no_time() {
    let _time = isolate();
    login(1, 1, 5).unwrap();
    login(1, 2, 5).unwrap();
    // `user` is full for a minute, and yet `client` frees last: never.
    let limited = login(1, 1, 6).unwrap_err();
    assert_eq!((limited.name(), limited.reason()), ("login.client", Reason::CostExceedsCapacity));
    assert_eq!(limited.retry_after(), None);
}

#[test]
fn every_limit_that_stood_against_a_call_counts_the_denial() {
    let _time = isolate();
    login(1, 1, 5).unwrap();
    login(1, 2, 5).unwrap();
    login(1, 1, 1).unwrap_err();
    let counts = ["login.all", "login.user", "login.client"].map(|name| {
        let stats = named(name).stats();
        (stats.allowed, stats.denied)
    });
    assert_eq!(counts, [(2, 0), (2, 1), (2, 1)]);
}

#[test]
fn a_permit_is_the_least_remaining_and_refunds_all() {
    let _time = isolate();
    assert_eq!(login(1, 1, 1).unwrap().remaining(), 1);
    let permit = login(2, 1, 4).unwrap();
    assert_eq!(permit.remaining(), 0);
    permit.refund();
    assert_eq!(used("login.all"), 1);
    assert_eq!((named("login.user").used(&1), named("login.user").used(&2)), (1, 0));
    assert_eq!(named("login.client").used(&1), 1);
    assert_eq!(["login.all", "login.user"].map(|name| named(name).stats().refunded), [1, 1]);
}

#[test]
fn a_shadow_limit_of_a_stack_denies_nothing_and_is_charged_only_with_the_rest() {
    let _time = isolate();
    named("login.user").set_mode(Mode::Shadow);
    login(1, 1, 1).unwrap();
    login(1, 1, 1).unwrap();
    assert_eq!(login(1, 1, 1).unwrap().remaining(), 0);
    assert_eq!(named("login.user").used(&1), 2);
    login(1, 1, 1).unwrap_err();
    login(2, 1, 1).unwrap_err();
    assert_eq!(named("login.user").used(&2), 0);
    let stats = named("login.user").stats();
    assert_eq!((stats.allowed, stats.denied, stats.shadow_denied), (2, 0, 1));
}

#[test]
fn a_limit_of_a_stack_that_is_off_takes_no_part() {
    let _time = isolate();
    named("login.all").set_mode(Mode::Off);
    for client in 0..10 {
        login(client, client, 5).unwrap();
    }
    assert_eq!((used("login.all"), named("login.all").stats().allowed), (0, 0));
    assert_eq!(named("login.user").stats().allowed, 10);
    named("login.all").set_mode(Mode::Enforce);
    login(10, 10, 1).unwrap();
}

#[rate_limit(max = 4, window = "1s", when = "limited", name = "when.one")]
#[rate_limit(max = 2, window = "1s", name = "when.two")]
fn limited_when(limited: bool) -> Result<(), RateLimited> {
    let _ = limited;
    Ok(())
}

#[test]
fn a_limit_whose_when_is_false_takes_no_part() {
    let _time = isolate();
    limited_when(false).unwrap();
    limited_when(true).unwrap();
    limited_when(true).unwrap_err();
    assert_eq!((used("when.one"), used("when.two")), (1, 2));
}

static BUDGET: LazyLimiter = limiter!(max = 5, window = "1s", name = "twice.budget");

#[rate_limit(limiter = BUDGET, cost = "first", permit = permit)]
#[rate_limit(limiter = BUDGET, cost = "second")]
fn charged_twice(first: u32, second: u32) -> Result<Permit<'static>, RateLimited> {
    Ok(permit)
}

#[test]
fn a_limiter_that_a_stack_has_twice_is_charged_twice_or_not_at_all() {
    let time = isolate();
    BUDGET.try_acquire().unwrap();
    let permit = charged_twice(1, 2).unwrap();
    assert_eq!((permit.remaining(), BUDGET.used()), (1, 4));
    assert_eq!(charged_twice(1, 1).unwrap_err().reason(), Reason::Exceeded);
    assert_eq!(BUDGET.used(), 4);
    let wait = retry_after(charged_twice(3, 2));
    time.advance(just_before(wait));
    assert_eq!(retry_after(charged_twice(3, 2)), NANOSECOND);
    time.advance(NANOSECOND);
    charged_twice(3, 2).unwrap();
    let never = charged_twice(3, 3).unwrap_err();
    assert_eq!((never.reason(), never.retry_after()), (Reason::CostExceedsCapacity, None));
    let never = charged_twice(u32::MAX, u32::MAX).unwrap_err();
    assert_eq!(never.reason(), Reason::CostExceedsCapacity);
}

#[test]
fn a_call_that_asks_a_limiter_twice_counts_once() {
    let _time = isolate();
    charged_twice(1, 1).unwrap().refund();
    charged_twice(2, 2).unwrap();
    charged_twice(2, 2).unwrap_err();
    named("twice.budget").set_mode(Mode::Shadow);
    charged_twice(1, 0).unwrap();
    charged_twice(1, 1).unwrap();
    let stats = named("twice.budget").stats();
    assert_eq!((stats.allowed, stats.denied), (3, 1));
    assert_eq!((stats.shadow_denied, stats.refunded), (1, 1));
}

#[rate_limit(limiter = BUDGET, share = 0.4)]
#[rate_limit(limiter = BUDGET, share = 0.8, cost = 2)]
fn twice_with_two_shares() -> Result<(), RateLimited> {
    Ok(())
}

#[test]
fn each_ask_of_a_stack_is_held_to_its_own_share() {
    let time = isolate();
    BUDGET.try_acquire().unwrap();
    // 1 + 1 of the 2 in the first share, and 2 + 2 of the 4 in the second.
    twice_with_two_shares().unwrap();
    assert_eq!(BUDGET.used(), 4);
    let wait = retry_after(twice_with_two_shares());
    time.advance(just_before(wait));
    twice_with_two_shares().unwrap_err();
    time.advance(NANOSECOND);
    twice_with_two_shares().unwrap();
}

static ACCOUNTS: LazyKeyedLimiter =
    limiter!(keyed, max = 2, window = "1s", max_keys = 0, name = "twice.accounts");

#[rate_limit(limiter = ACCOUNTS, key = "from")]
#[rate_limit(limiter = ACCOUNTS, key = "to")]
fn transfer(from: u32, to: u32) -> Result<(), RateLimited> {
    let _ = (from, to);
    Ok(())
}

#[test]
fn two_keys_that_meet_in_an_overflow_budget_are_told_a_time_that_holds() {
    let time = isolate();
    ACCOUNTS.try_acquire(&0).unwrap();
    let mut sharing = (0..).filter(|key| ACCOUNTS.used(key) == 1);
    let (from, to) = (sharing.next().unwrap(), sharing.next().unwrap());
    let wait = retry_after(transfer(from, to));
    assert!(wait >= SECOND, "one has been charged, and the two need both: {wait:?}");
    time.advance(just_before(wait));
    assert_eq!(retry_after(transfer(from, to)), NANOSECOND);
    time.advance(NANOSECOND);
    transfer(from, to).unwrap();
}

#[rate_limit(limiter = ACCOUNTS_WITH_ROOM, key = "from")]
#[rate_limit(limiter = ACCOUNTS_WITH_ROOM, key = "to")]
fn transfer_with_room(from: u32, to: u32) -> Result<(), RateLimited> {
    let _ = (from, to);
    Ok(())
}

static ACCOUNTS_WITH_ROOM: LazyKeyedLimiter = limiter!(keyed, max = 2, window = "1s");

#[test]
fn two_keys_of_one_limiter_are_charged_apart() {
    let _time = isolate();
    transfer_with_room(1, 2).unwrap();
    transfer_with_room(1, 3).unwrap();
    transfer_with_room(2, 1).unwrap_err();
    assert_eq!([1, 2, 3].map(|key| ACCOUNTS_WITH_ROOM.used(&key)), [2, 1, 1]);
    transfer_with_room(3, 3).unwrap_err();
    transfer_with_room(4, 4).unwrap();
    assert_eq!(ACCOUNTS_WITH_ROOM.used(&4), 2);
}

#[rate_limit(max = 10, window = "1s", share = "share", name = "priority", permit = permit)]
fn with_priority(share: f64) -> Result<Permit<'static>, RateLimited> {
    Ok(permit)
}

#[test]
fn a_share_leaves_what_is_above_it_to_higher_ones() {
    let time = isolate();
    for left in [4, 3, 2, 1, 0] {
        assert_eq!(with_priority(0.5).unwrap().remaining(), left);
    }
    let limited = with_priority(0.5).unwrap_err();
    assert_eq!((limited.reason(), limited.remaining()), (Reason::Exceeded, 0));
    for left in [4, 3] {
        assert_eq!(with_priority(1.0).unwrap().remaining(), left);
    }
    // 7 are in use: a low share waits until fewer than 5 are, which is until all of them have aged.
    assert_eq!(used("priority"), 7);
    let wait = retry_after(with_priority(0.5));
    time.advance(just_before(wait));
    with_priority(0.5).unwrap_err();
    time.advance(NANOSECOND);
    with_priority(0.5).unwrap();
}

#[test]
fn a_share_counts_to_the_nearest_permit() {
    for (share, capacity) in [(0.0, 0), (0.04, 0), (0.06, 1), (0.95, 10), (0.94, 9), (1.0, 10)] {
        let _time = isolate();
        let admitted = (0..20).filter(|_| with_priority(share).is_ok()).count();
        assert_eq!(admitted, capacity, "of ten by a share of {share}");
    }
}

#[test]
fn a_share_that_is_none_is_brought_within_bounds() {
    for (share, capacity) in
        [(-1.0, 0), (f64::NAN, 0), (f64::NEG_INFINITY, 0), (2.0, 10), (f64::INFINITY, 10), (1e300, 10)]
    {
        let _time = isolate();
        let admitted = (0..20).filter(|_| with_priority(share).is_ok()).count();
        assert_eq!(admitted, capacity, "of ten by a share of {share}");
    }
}

#[test]
fn a_share_that_comes_to_nothing_can_never_be_admitted() {
    let _time = isolate();
    let limited = with_priority(0.0).unwrap_err();
    assert_eq!((limited.reason(), limited.retry_after()), (Reason::CostExceedsCapacity, None));
}

#[rate_limit(max = "plan", window = "1m", name = "quota.plan")]
#[rate_limit(max = 100, window = "1s", name = "quota.all")]
fn by_plan(plan: u32) -> Result<(), RateLimited> {
    let _ = plan;
    Ok(())
}

#[test]
fn a_max_that_each_call_brings_decides_about_that_call() {
    let _time = isolate();
    assert_eq!(named("quota.plan").spec().max(), u32::MAX);
    let never = by_plan(0).unwrap_err();
    assert_eq!((never.name(), never.retry_after()), ("quota.plan", None));
    by_plan(2).unwrap();
    by_plan(2).unwrap();
    by_plan(2).unwrap_err();
    by_plan(3).unwrap();
    by_plan(u32::MAX).unwrap();
    assert_eq!((used("quota.plan"), used("quota.all")), (4, 4));
    // Set by hand, it wins over what the calls bring; set back, it does not.
    named("quota.plan").set_spec(LimitSpec::new(5, MINUTE)).unwrap();
    by_plan(1).unwrap();
    by_plan(100).unwrap_err();
    named("quota.plan").set_spec(LimitSpec::new(u32::MAX, MINUTE)).unwrap();
    by_plan(6).unwrap();
    by_plan(6).unwrap_err();
}
