//! Wakers that do something: no lock is held while one is called, cloned or dropped.

use std::{
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, Weak},
    task::{Context, Poll, Wake, Waker},
};

use ratelimit_runtime::{Limiter, ManualClock};

use crate::support::{LONG, Task, limiter, spec};

type Call = Pin<Box<dyn Future<Output = bool> + Send>>;

/// A task that is polled right where it is woken, and lives in its own waker.
struct Inline {
    call: Mutex<Option<Call>>,
    admitted: Arc<Mutex<Vec<usize>>>,
    id: usize,
}

impl Inline {
    fn poll(self: &Arc<Self>) {
        let Some(mut call) = self.call.lock().unwrap().take() else { return };
        match call.as_mut().poll(&mut Context::from_waker(&Waker::from(self.clone()))) {
            Poll::Ready(admitted) => {
                assert!(admitted);
                self.admitted.lock().unwrap().push(self.id);
            }
            Poll::Pending => *self.call.lock().unwrap() = Some(call),
        }
    }
}

impl Wake for Inline {
    fn wake(self: Arc<Self>) {
        self.poll();
    }
}

fn shared(max: u32) -> (Arc<Limiter>, ManualClock) {
    let (limiter, clock) = limiter(max);
    (Arc::new(limiter), clock)
}

fn inline(limiter: &Arc<Limiter>, id: usize, admitted: &Arc<Mutex<Vec<usize>>>) -> Arc<Inline> {
    let limiter = limiter.clone();
    let call: Call = Box::pin(async move { limiter.acquire().await.is_ok() });
    let task = Arc::new(Inline { call: Mutex::new(Some(call)), admitted: admitted.clone(), id });
    task.poll();
    task
}

#[test]
fn a_waker_may_poll_where_it_is_called() {
    let (limiter, clock) = shared(1);
    let permit = limiter.try_acquire().unwrap();
    let admitted = Arc::default();
    let tasks: Vec<_> = (0..4).map(|id| inline(&limiter, id, &admitted)).collect();
    permit.refund();
    assert_eq!(*admitted.lock().unwrap(), [0]);
    clock.advance(LONG);
    assert_eq!(*admitted.lock().unwrap(), [0, 1]);
    limiter.reset();
    assert_eq!(*admitted.lock().unwrap(), [0, 1, 2]);
    limiter.set_spec(spec(2)).unwrap();
    assert_eq!(*admitted.lock().unwrap(), [0, 1, 2, 3]);
    drop(tasks);
}

#[test]
fn a_waker_may_drop_its_task_where_it_is_dropped() {
    let (limiter, clock) = shared(1);
    limiter.try_acquire().unwrap();
    let admitted = Arc::default();
    // The waker in the room is the last to hold the task, and with it the future that waits.
    let first = Arc::downgrade(&inline(&limiter, 0, &admitted));
    let second = inline(&limiter, 1, &admitted);
    assert!(first.upgrade().is_some());
    clock.advance(LONG);
    assert!(first.upgrade().is_none(), "served, and gone");
    clock.advance(LONG);
    assert_eq!(*admitted.lock().unwrap(), [0, 1]);
    drop(second);
}

/// A waker whose drop, call and clone all ask the limiter.
struct Meddling {
    limiter: Weak<Limiter>,
    in_line: Mutex<Option<Call>>,
}

impl Meddling {
    fn meddle(&self) {
        if let Some(limiter) = self.limiter.upgrade() {
            _ = limiter.try_acquire();
            assert!(Task::new(limiter.acquire_n(1, Some(std::time::Duration::ZERO))).poll().is_ready());
            drop(Task::new(limiter.acquire()));
            limiter.reset();
        }
    }
}

impl Wake for Meddling {
    fn wake(self: Arc<Self>) {
        self.meddle();
    }
}

impl Drop for Meddling {
    fn drop(&mut self) {
        drop(self.in_line.lock().unwrap().take());
        self.meddle();
    }
}

#[test]
fn a_waker_may_ask_the_limiter_where_it_is_dropped() {
    let (limiter, clock) = shared(1);
    limiter.try_acquire().unwrap();
    let mut call = Box::pin(limiter.acquire());
    let meddling = || {
        let held = limiter.clone();
        let mut other: Call = Box::pin(async move { held.acquire().await.is_ok() });
        _ = other.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        Waker::from(Arc::new(Meddling {
            limiter: Arc::downgrade(&limiter),
            in_line: Mutex::new(Some(other)),
        }))
    };
    // Each poll replaces, and so drops, the waker of the one before; the last one finds that it is served.
    for _ in 0..10 {
        if call.as_mut().poll(&mut Context::from_waker(&meddling())).is_ready() {
            return;
        }
    }
    clock.advance(LONG);
    assert!(call.as_mut().poll(&mut Context::from_waker(&meddling())).is_ready());
}

struct Panics;

impl Wake for Panics {
    fn wake(self: Arc<Self>) {
        panic!("this waker is of no use");
    }
}

#[test]
fn a_waker_that_panics_is_no_matter_of_others() {
    let (limiter, _) = limiter(2);
    limiter.try_acquire_n(2).unwrap();
    let mut unlucky = Box::pin(limiter.acquire());
    let waker = Waker::from(Arc::new(Panics));
    assert!(unlucky.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    let mut other = Task::waiting(limiter.acquire());
    limiter.reset();
    other.admitted();
    drop(unlucky);
}
