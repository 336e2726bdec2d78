//! Alarms on tokio's timer.

use std::{
    cell::Cell,
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    task::{Context, Waker},
    time::Duration,
};

use tokio::{
    runtime::{Handle, Id},
    task::{Unconstrained, unconstrained},
    time::{Sleep, sleep},
};

thread_local! {
    /// The runtime last met on this thread that has no timer.
    static WITHOUT_TIMER: Cell<Option<Id>> = const { Cell::new(None) };
}

pub(super) struct Alarm {
    _sleep: Pin<Box<Unconstrained<Sleep>>>,
}

impl Alarm {
    /// `None` outside a runtime, and in one that has no timer or is going down.
    pub(super) fn new(after: Duration, waker: &Waker) -> Option<Self> {
        // Tokio answers "no timer here" only by a panic, which a build that aborts on panics could not survive.
        if cfg!(panic = "abort") {
            return None;
        }
        let runtime = Handle::try_current().ok()?.id();
        if WITHOUT_TIMER.get() == Some(runtime) {
            return None;
        }
        let started = catch_unwind(AssertUnwindSafe(|| {
            // Unconstrained: a task that has used up its turn would be woken at once instead of by the timer.
            let mut sleep = Box::pin(unconstrained(sleep(after)));
            let rings_now = sleep.as_mut().poll(&mut Context::from_waker(waker)).is_ready();
            (Alarm { _sleep: sleep }, rings_now)
        }));
        let Ok((alarm, rings_now)) = started else {
            WITHOUT_TIMER.set(Some(runtime));
            return None;
        };
        if rings_now {
            waker.wake_by_ref();
        }
        Some(alarm)
    }
}
