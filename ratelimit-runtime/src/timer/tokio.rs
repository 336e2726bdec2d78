//! Alarms on tokio's timer.

use std::{
    cell::Cell,
    future::Future,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    task::{Context, Poll, Waker},
    time::Duration,
};

use tokio::{
    runtime::{Handle, Id},
    time::Sleep,
};

thread_local! {
    /// The runtime last met on this thread that has no timer.
    static WITHOUT_TIMER: Cell<Option<Id>> = const { Cell::new(None) };
}

pub(super) struct Alarm {
    _sleep: Pin<Box<Sleep>>,
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
            let mut sleep = Box::pin(tokio::time::sleep(after));
            if let Poll::Ready(()) = sleep.as_mut().poll(&mut Context::from_waker(waker)) {
                waker.wake_by_ref();
            }
            Alarm { _sleep: sleep }
        }));
        if started.is_err() {
            WITHOUT_TIMER.set(Some(runtime));
        }
        started.ok()
    }
}
