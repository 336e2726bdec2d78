//! Keys beyond `max_keys` share budgets.

use super::*;

#[test]
fn keys_without_room_share_one_of_1024_budgets() {
    let (limiter, _) = limiter(per_second(3));
    let limiter = limiter.with_max_keys(0);
    let admitted = (0..60_000).filter(|key| limiter.try_acquire(key).is_ok()).count();
    // So many keys leave none of the budgets out.
    assert_eq!(admitted, 3 * OVERFLOW_BUDGETS as usize);
    assert_eq!(limiter.tracked_keys(), 0);
}

#[test]
fn an_overflow_budget_is_as_exact_as_any() {
    let (limiter, clock, [one, two]) = with_sharing_keys(per_second(2), 0);
    clock.set(Duration::from_nanos(123_456_789));
    take(&limiter, one, 1);
    clock.advance(SECOND / 3);
    take(&limiter, two, 1);
    let wait = retry_after(limiter.try_acquire(&two));
    assert_eq!(retry_after(limiter.try_acquire(&one)), wait);
    clock.advance(just_before(wait));
    assert!(is_denied(&limiter, one));
    clock.advance(NANOSECOND);
    take(&limiter, one, 1);
    assert!(is_denied(&limiter, two));
}

#[test]
fn a_permit_from_an_overflow_budget_is_refunded_there() {
    let (limiter, _, [one, two]) = with_sharing_keys(per_second(2), 0);
    let permit = limiter.try_acquire_n(&one, 2).unwrap();
    assert!(is_denied(&limiter, two));
    permit.refund();
    take(&limiter, two, 2);
    assert!(is_denied(&limiter, one));
}

#[test]
fn a_key_that_moves_to_a_budget_of_its_own_gets_no_more() {
    let (limiter, clock, [one, two, three]) = with_sharing_keys(per_second(3), 0);
    take(&limiter, one, 2);
    take(&limiter, two, 1);
    let limiter = limiter.with_max_keys(2);
    assert!(is_denied(&limiter, one));
    assert_eq!(limiter.tracked_keys(), 0);
    let wait = retry_after(limiter.try_acquire(&one));
    clock.advance(just_before(wait));
    assert!(is_denied(&limiter, one));
    clock.advance(NANOSECOND);
    take(&limiter, one, 3);
    take(&limiter, two, 3);
    take(&limiter, three, 3);
    assert_eq!(limiter.tracked_keys(), 2);
}

#[test]
fn what_a_key_has_used_together_with_others_moves_with_it() {
    let (limiter, clock, [one, two]) = with_sharing_keys(per_second(4), 0);
    take(&limiter, one, 1);
    clock.advance(SECOND / 2);
    take(&limiter, two, 1);
    let limiter = limiter.with_max_keys(2);
    assert_eq!(limiter.try_acquire(&one).unwrap().remaining(), 1);
    assert_eq!(limiter.try_acquire(&two).unwrap().remaining(), 1);
    take(&limiter, one, 1);
    assert!(is_denied(&limiter, one));
    // It counts there for as long as it would have where it was made.
    let wait = retry_after(limiter.try_acquire(&one));
    assert_eq!(wait, SECOND / 2 + BUCKET);
}

#[test]
fn a_refund_after_the_move_gives_back_to_the_key_and_to_those_it_shared_with() {
    let (limiter, _, [one, two]) = with_sharing_keys(per_second(3), 0);
    take(&limiter, one, 1);
    let elsewhere = (0..10_000).find(|key| limiter.used(key) == 0).unwrap();
    limiter.reset();
    let limiter = limiter.with_max_keys(1);
    take(&limiter, elsewhere, 1);
    let shared = limiter.try_acquire_n(&one, 2).unwrap();
    limiter.reset_key(&elsewhere);
    assert_eq!((limiter.tracked_keys(), limiter.used(&two)), (0, 2));
    let own = limiter.try_acquire(&one);
    assert_eq!(own.unwrap().remaining(), 0);
    shared.refund();
    assert_eq!((limiter.used(&one), limiter.used(&two)), (1, 0));
}

#[test]
fn a_key_reset_while_it_shares_a_budget_starts_afresh_where_there_is_room() {
    let (limiter, _, [one, two]) = with_sharing_keys(per_second(2), 0);
    take(&limiter, one, 2);
    let limiter = limiter.with_max_keys(1);
    limiter.reset_key(&one);
    assert_eq!((limiter.used(&one), limiter.used(&two)), (0, 2));
    take(&limiter, one, 2);
    assert!(is_denied(&limiter, one) && is_denied(&limiter, two));
    limiter.reset_key(&one);
    assert_eq!((limiter.used(&one), limiter.used(&two)), (0, 2));
}

#[test]
fn a_key_reset_while_it_shares_a_budget_empties_that_where_there_is_no_room() {
    let (limiter, _, [one, two]) = with_sharing_keys(per_second(2), 0);
    let before = limiter.try_acquire_n(&one, 2).unwrap();
    limiter.reset_key(&one);
    take(&limiter, two, 2);
    before.refund();
    assert!(is_denied(&limiter, one) && is_denied(&limiter, two));
}

#[test]
fn a_reset_of_all_keys_empties_the_overflow_budgets_too() {
    let (limiter, _, [one, two, three]) = with_sharing_keys(per_second(2), 1);
    take(&limiter, one, 2);
    let before = limiter.try_acquire_n(&two, 2).unwrap();
    assert!(is_denied(&limiter, three));
    limiter.reset();
    assert_eq!([one, two, three].map(|key| limiter.used(&key)), [0; 3]);
    assert_eq!(limiter.tracked_keys(), 0);
    take(&limiter, one, 2);
    take(&limiter, two, 2);
    before.refund();
    assert!(is_denied(&limiter, three));
}

fn one_permit_and_room_for_one_key() -> KeyedLimiter {
    let spec = LimitSpec::new(1, Duration::from_secs(3600));
    KeyedLimiter::with_clock(spec, ManualClock::new()).unwrap().with_max_keys(1)
}

#[test]
fn a_refund_follows_its_key_out_of_an_overflow_budget() {
    let limiter = one_permit_and_room_for_one_key();
    let holder = limiter.try_acquire("a").unwrap();
    let shared = limiter.try_acquire("b").unwrap();
    holder.refund();
    // There is room now: `b` gets a budget of its own, in which its charge counts, and then no longer.
    limiter.try_acquire("b").unwrap_err();
    let mut waits = Box::pin(limiter.acquire("b"));
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(waits.as_mut().poll(&mut context).is_pending());
    shared.refund();
    assert!(waits.as_mut().poll(&mut context).is_ready());
}

#[test]
fn a_refund_of_a_shared_charge_gives_nothing_back_once_its_key_was_reset() {
    let limiter = one_permit_and_room_for_one_key();
    let holder = limiter.try_acquire("a").unwrap();
    let shared = limiter.try_acquire("b").unwrap();
    holder.refund();
    limiter.reset_key("b");
    limiter.try_acquire("b").unwrap();
    shared.refund();
    limiter.try_acquire("b").unwrap_err();
}
