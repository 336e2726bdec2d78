//! Several limits that a call waits for at once.

use std::sync::{
    LazyLock,
    atomic::{AtomicUsize, Ordering::SeqCst},
};

use ratelimit_runtime::{
    LazyKeyedLimiter, LazyLimiter, Mode, RateLimited, Reason, limit, limiter, rate_limit,
};

use crate::support::Task;

/// Limits of one test, which no time frees.
macro_rules! limits {
    ($($Name:ident: $max:literal, $name:literal;)*) => {
        $(static $Name: LazyLimiter = limiter!(max = $max, window = "1day", name = $name);)*
    };
}

#[test]
fn a_call_holds_nothing_while_it_waits() {
    limits! { A: 1, "holds_nothing.a"; B: 1, "holds_nothing.b"; }
    #[rate_limit(limiter = A, wait)]
    #[rate_limit(limiter = B)]
    async fn call() -> Result<(), RateLimited> {
        Ok(())
    }

    let permit = B.try_acquire().unwrap();
    let mut waits = Task::waiting(call());
    assert_eq!((A.used(), B.used()), (0, 1));
    permit.refund();
    assert!(!waits.is_pending());
    assert_eq!((A.used(), B.used()), (1, 1));
}

#[test]
fn a_call_stands_in_line_at_all_of_its_budgets() {
    limits! { A: 1, "all_lines.a"; B: 1, "all_lines.b"; }
    #[rate_limit(limiter = A, wait)]
    #[rate_limit(limiter = B)]
    async fn both() -> Result<(), RateLimited> {
        Ok(())
    }
    #[rate_limit(limiter = A, wait)]
    async fn only_a() -> Result<(), RateLimited> {
        Ok(())
    }

    let permit = B.try_acquire().unwrap();
    let both = Task::waiting(both());
    let mut behind = Task::waiting(only_a());
    assert!(A.try_acquire().is_err(), "nobody passes");
    drop(both);
    assert_eq!(behind.wakes(), 1);
    assert!(!behind.is_pending());
    permit.refund();
    B.try_acquire().unwrap();
}

#[test]
fn crossed_stacks_do_not_wait_for_each_other() {
    limits! { A: 1, "crossed.a"; B: 1, "crossed.b"; }
    #[rate_limit(limiter = A, wait)]
    #[rate_limit(limiter = B)]
    async fn ab() -> Result<(), RateLimited> {
        Ok(())
    }
    #[rate_limit(limiter = B, wait)]
    #[rate_limit(limiter = A)]
    async fn ba() -> Result<(), RateLimited> {
        Ok(())
    }

    A.try_acquire().unwrap();
    B.try_acquire().unwrap();
    let mut first = Task::waiting(ab());
    let mut second = Task::waiting(ba());
    A.reset();
    assert!(first.is_pending() && second.is_pending());
    B.reset();
    assert!(!first.is_pending());
    assert!(second.is_pending());
    A.reset();
    B.reset();
    assert!(!second.is_pending());
}

#[test]
fn a_permit_granted_and_not_taken_goes_back_to_all() {
    limits! { A: 1, "given_back.a"; B: 1, "given_back.b"; }
    #[rate_limit(limiter = A, wait)]
    #[rate_limit(limiter = B)]
    async fn call() -> Result<(), RateLimited> {
        Ok(())
    }

    let permit = B.try_acquire().unwrap();
    let waits = Task::waiting(call());
    permit.refund();
    assert_eq!((A.used(), B.used()), (1, 1));
    drop(waits);
    assert_eq!((A.used(), B.used()), (0, 0));
}

#[test]
fn a_full_line_is_named() {
    limits! { A: 1, "full.a"; B: 5, "full.b"; }
    #[rate_limit(limiter = A, wait, max_waiters = 1)]
    #[rate_limit(limiter = B)]
    async fn call() -> Result<(), RateLimited> {
        Ok(())
    }

    A.try_acquire().unwrap();
    let _waits = Task::waiting(call());
    let mut refused = Task::new(call());
    let std::task::Poll::Ready(Err(denial)) = refused.poll() else { panic!("refused at once") };
    assert_eq!((denial.reason(), denial.name()), (Reason::QueueFull, "full.a"));
}

#[test]
fn switching_a_limit_off_lets_go_of_all_who_wait_for_it() {
    limits! { A: 1, "off.a"; B: 1, "off.b"; }
    #[rate_limit(limiter = A, wait)]
    #[rate_limit(limiter = B)]
    async fn both() -> Result<(), RateLimited> {
        Ok(())
    }
    #[rate_limit(limiter = A, wait)]
    async fn only_a() -> Result<(), RateLimited> {
        Ok(())
    }

    A.try_acquire().unwrap();
    let mut both = Task::waiting(both());
    let mut alone = Task::waiting(only_a());
    limit("off.a").unwrap().set_mode(Mode::Off);
    assert_eq!((both.wakes(), alone.wakes()), (1, 1));
    assert!(!both.is_pending() && !alone.is_pending());
    assert_eq!((A.used(), B.used()), (1, 1), "nothing more is counted at the one that is off");
}

#[test]
fn a_limit_put_in_the_shadow_counts_what_it_would_have_denied() {
    limits! { A: 1, "shadow.a"; }
    #[rate_limit(limiter = A, wait)]
    async fn call() -> Result<(), RateLimited> {
        Ok(())
    }

    A.try_acquire().unwrap();
    let mut waits = Task::waiting(call());
    let handle = limit("shadow.a").unwrap();
    handle.set_mode(Mode::Shadow);
    assert!(!waits.is_pending());
    assert_eq!(handle.stats().shadow_denied, 1);
    assert!(!Task::new(call()).is_pending(), "and never waits");
    assert_eq!((handle.stats().shadow_denied, A.used()), (2, 1));
}

#[test]
fn a_change_of_mode_holds_for_calls_that_were_made_and_not_polled() {
    static KEYED: LazyKeyedLimiter = limiter!(keyed, max = 1, window = "1day", name = "unpolled");
    KEYED.try_acquire("a").unwrap();
    let call = KEYED.acquire("a");
    limit("unpolled").unwrap().set_mode(Mode::Off);
    assert!(!Task::new(call).is_pending());
}

#[test]
fn a_call_that_cannot_be_denied_waits_out_a_limit_of_nothing_without_being_busy() {
    static BODIES: AtomicUsize = AtomicUsize::new(0);
    #[rate_limit(max = 1, window = "1day", name = "never_denied", wait)]
    async fn call() {
        BODIES.fetch_add(1, SeqCst);
    }

    let handle = LazyLock::new(|| limit("never_denied").unwrap());
    let spec = handle.spec();
    handle.set_spec(ratelimit_runtime::LimitSpec::new(0, spec.window())).unwrap();
    let mut waits = Task::waiting(call());
    let mut behind = Task::waiting(call());
    for _ in 0..10 {
        assert!(waits.is_pending() && behind.is_pending());
    }
    assert_eq!(waits.wakes() + behind.wakes(), 0, "there is nothing to be woken for");
    handle.set_spec(spec).unwrap();
    assert!(!waits.is_pending());
    assert!(behind.is_pending());
    handle.reset();
    assert!(!behind.is_pending());
    assert_eq!(BODIES.load(SeqCst), 2);
}

#[test]
fn a_cost_of_0_beside_others_waits_for_nobody() {
    limits! { A: 1, "looks.a"; B: 1, "looks.b"; }
    #[rate_limit(limiter = A, cost = 0, wait)]
    #[rate_limit(limiter = B)]
    async fn looks() -> Result<(), RateLimited> {
        Ok(())
    }

    let permit = B.try_acquire().unwrap();
    let mut waits = Task::waiting(looks());
    A.try_acquire().unwrap();
    permit.refund();
    assert!(!waits.is_pending());
    assert_eq!((A.used(), B.used()), (1, 1));
}

#[test]
fn calls_that_are_turned_away_bar_nothing_for_others_meanwhile() {
    limits! { FULL: 1, "turned_away.full"; FREE: 1_000_000, "turned_away.free"; }
    #[rate_limit(limiter = FULL, wait, max_waiters = 0)]
    #[rate_limit(limiter = FREE)]
    fn turned_away() -> Result<(), RateLimited> {
        Ok(())
    }

    FULL.try_acquire().unwrap();
    let over = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while over.load(SeqCst) == 0 {
                    assert_eq!(turned_away().unwrap_err().reason(), Reason::QueueFull);
                }
            });
        }
        let denied = (0..200_000).filter(|_| FREE.try_acquire().is_err()).count();
        over.store(1, SeqCst);
        assert_eq!(denied, 0);
    });
    assert_eq!(FREE.used(), 200_000);
}
