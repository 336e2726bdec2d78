//! Every interleaving of two or three threads, by the model checker `loom`, on the shipped code.
//!
//! `cargo xtask interleavings` runs them.

mod front;
mod meter;
mod unkeyed;

use std::{
    future::Future,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll, Wake, Waker},
    time::Duration,
};

use crate::{
    __private::{Ask, check, claim},
    Clock, KeyedLimiter, LimitSpec, Limiter, RateLimited,
    spec_cell::SpecCell,
};
use loom::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
    thread,
};

const WINDOW: Duration = Duration::from_secs(1);

fn spec(max: u32) -> LimitSpec {
    LimitSpec::new(max, WINDOW).with_buckets(1)
}

/// A clock that another thread moves.
#[derive(Clone)]
struct Steps(Arc<AtomicU64>);

impl Steps {
    fn new() -> Self {
        Self(Arc::new(AtomicU64::new(0)))
    }

    fn set(&self, millis: u64) {
        self.0.store(millis, SeqCst);
    }
}

impl Clock for Steps {
    fn now(&self) -> Duration {
        Duration::from_millis(self.0.load(SeqCst))
    }

    fn wake_at(&self, _: Duration, _: &Waker) -> bool {
        true
    }
}

struct Noted(AtomicBool);

impl Wake for Noted {
    fn wake(self: Arc<Self>) {
        self.0.store(true, SeqCst);
    }
}

/// Every interleaving with up to two forced changes of thread: more take hours, and nearly all races need no more.
fn model(check: impl Fn() + Sync + Send + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound.get_or_insert(2);
    model.check(check);
}

fn limiter(max: u32) -> Arc<Limiter> {
    Arc::new(Limiter::with_clock(spec(max), Steps::new()).unwrap())
}

fn poll<F: Future>(future: Pin<&mut F>, waker: &Waker) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(waker))
}

/// Waits in line while `other` runs beside it, and must be let in by what that does.
fn is_let_in_by(limiter: &Arc<Limiter>, other: impl FnOnce() + 'static) {
    let noted = Arc::new(Noted(AtomicBool::new(false)));
    let waker = Waker::from(noted.clone());
    let mut waits = pin!(limiter.acquire());
    let other = thread::spawn(other);
    let first = poll(waits.as_mut(), &waker);
    other.join().unwrap();
    if first.is_pending() {
        assert!(noted.0.load(SeqCst), "it is woken");
        assert!(matches!(poll(waits, &waker), Poll::Ready(Ok(_))), "it is let in");
    }
}

#[test]
fn no_window_admits_more_while_the_ring_turns() {
    model(|| {
        let clock = Steps::new();
        let limiter = Arc::new(Limiter::with_clock(spec(1), clock.clone()).unwrap());
        limiter.try_acquire().unwrap();
        let beside = limiter.clone();
        let other = thread::spawn(move || beside.try_acquire().is_ok());
        clock.set(2_500);
        let this = limiter.try_acquire().is_ok();
        assert!(this != other.join().unwrap(), "one of them, at the new time");
    });
}

#[test]
fn three_calls_take_what_was_set_out_and_no_more() {
    model(|| {
        let limiter = limiter(3);
        // Sets out the two that are left.
        limiter.try_acquire().unwrap();
        let others = [(); 2].map(|()| {
            let beside = limiter.clone();
            thread::spawn(move || u32::from(beside.try_acquire().is_ok()))
        });
        let this = u32::from(limiter.try_acquire().is_ok());
        let admitted = others.into_iter().map(|other| other.join().unwrap()).sum::<u32>() + this;
        assert_eq!((admitted, limiter.used()), (2, 3));
    });
}

#[test]
fn nothing_set_out_before_the_ring_turns_is_taken_after() {
    model(|| {
        let clock = Steps::new();
        let limiter = Arc::new(Limiter::with_clock(spec(2), clock.clone()).unwrap());
        limiter.try_acquire().unwrap();
        let (beside, moved) = (limiter.clone(), clock.clone());
        let other = thread::spawn(move || {
            moved.set(2_500);
            (0..3).filter(|_| beside.try_acquire().is_ok()).count()
        });
        let this = usize::from(limiter.try_acquire().is_ok());
        // This call comes before the turn, and then has no part in the new window, or after it, and then shares it.
        let admitted = other.join().unwrap() + this;
        assert!(admitted == 2 || admitted == 3);
        assert!(limiter.try_acquire().is_err());
    });
}

#[test]
fn a_refund_after_a_reset_gives_nothing_back() {
    model(|| {
        let limiter = limiter(2);
        let permit = limiter.try_acquire().unwrap();
        let beside = limiter.clone();
        let other = thread::spawn(move || {
            beside.reset();
            (0..3).filter(|_| beside.try_acquire().is_ok()).count()
        });
        permit.refund();
        assert_eq!(other.join().unwrap(), 2);
    });
}

#[test]
fn a_changed_limit_keeps_what_was_used() {
    model(|| {
        let limiter = limiter(1);
        let beside = limiter.clone();
        let other = thread::spawn(move || u32::from(beside.try_acquire().is_ok()));
        limiter.set_spec(spec(2)).unwrap();
        let this = (0..3).filter(|_| limiter.try_acquire().is_ok()).count();
        assert_eq!(u32::try_from(this).unwrap() + other.join().unwrap(), 2);
    });
}

#[test]
fn a_call_beside_a_change_counts_a_window_from_when_it_was_made() {
    model(|| {
        let clock = Steps::new();
        let limiter = Arc::new(Limiter::with_clock(spec(2), clock.clone()).unwrap());
        limiter.try_acquire().unwrap();
        let (beside, moved) = (limiter.clone(), clock.clone());
        let other = thread::spawn(move || {
            moved.set(120);
            assert!(beside.try_acquire().is_ok());
        });
        limiter.set_spec(LimitSpec::new(2, Duration::from_millis(400)).with_buckets(1)).unwrap();
        other.join().unwrap();
        clock.set(500);
        assert!(limiter.used() >= 1, "what was charged at 120 counts until 520");
    });
}

#[test]
fn a_denial_tells_of_the_limit_that_denied() {
    model(|| {
        let limiter: &'static Limiter =
            Box::leak(Box::new(Limiter::with_clock(spec(1), Steps::new()).unwrap()));
        limiter.try_acquire().unwrap();
        let other = thread::spawn(move || limiter.set_spec(spec(3)).unwrap());
        if let Err(limited) = check([claim(limiter, Ask::new())]) {
            assert_eq!(limited.limit().max(), 1, "by the other it is admitted");
        }
        other.join().unwrap();
    });
}

#[test]
fn a_limit_that_is_read_while_it_changes_is_one_or_the_other() {
    model(|| {
        let [before, after] =
            ["1/1s buckets=2", "7/1m algorithm=gcra burst=3"].map(|spec| spec.parse().unwrap());
        let cell = Arc::new(SpecCell::new(spec(9)));
        cell.set(before);
        let beside = cell.clone();
        let other = thread::spawn(move || beside.set(after));
        let read = cell.get();
        assert!(read == before || read == after, "{read}");
        other.join().unwrap();
        assert_eq!(cell.get(), after);
    });
}

#[test]
fn a_waiter_is_let_in_by_a_refund() {
    model(|| {
        // Leaked, so that the permit may go to another thread.
        let limiter: &'static Arc<Limiter> = Box::leak(Box::new(limiter(1)));
        let permit = limiter.try_acquire().unwrap();
        is_let_in_by(limiter, move || permit.refund());
    });
}

#[test]
fn a_waiter_is_let_in_by_a_reset() {
    model(|| {
        let limiter = limiter(1);
        limiter.try_acquire().unwrap();
        let beside = limiter.clone();
        is_let_in_by(&limiter, move || beside.reset());
    });
}

#[test]
fn a_waiter_is_let_in_by_a_raised_limit() {
    model(|| {
        let limiter = limiter(1);
        limiter.try_acquire().unwrap();
        let beside = limiter.clone();
        is_let_in_by(&limiter, move || beside.set_spec(spec(2)).unwrap());
    });
}

#[test]
fn a_waiter_is_let_in_when_the_one_before_it_leaves() {
    model(|| {
        let limiter = limiter(3);
        limiter.try_acquire_n(2).unwrap();
        let before = limiter.clone();
        is_let_in_by(&limiter, move || {
            let mut leaves = Box::pin(before.acquire_n(2, None));
            _ = poll(leaves.as_mut(), Waker::noop());
        });
    });
}

#[test]
fn two_new_keys_for_one_place_are_limited_apart_or_together() {
    model(|| {
        let keyed = KeyedLimiter::with_clock(spec(1), Steps::new()).unwrap().with_max_keys(1);
        let keyed = Arc::new(keyed);
        let beside = keyed.clone();
        let other = thread::spawn(move || (beside.try_acquire(&1).is_ok(), beside.try_acquire(&1).is_ok()));
        assert!(keyed.try_acquire(&2).is_ok());
        assert!(keyed.try_acquire(&2).is_err());
        assert_eq!(other.join().unwrap(), (true, false));
        assert_eq!(keyed.tracked_keys(), 1);
    });
}

#[test]
fn two_stacks_in_opposite_order_charge_all_or_nothing() {
    fn call(first: &'static Limiter, second: &'static Limiter) -> Result<(), RateLimited> {
        check([claim(first, Ask::new()), claim(second, Ask::new())])
    }

    model(|| {
        let [one, two] = [(); 2].map(|()| {
            let limiter = Limiter::with_clock(spec(1), Steps::new()).unwrap();
            &*Box::leak(Box::new(limiter))
        });
        let other = thread::spawn(move || u32::from(call(two, one).is_ok()));
        let this = u32::from(call(one, two).is_ok());
        let admitted = this + other.join().unwrap();
        assert!(admitted <= 1);
        assert_eq!((one.used(), two.used()), (admitted, admitted));
    });
}
