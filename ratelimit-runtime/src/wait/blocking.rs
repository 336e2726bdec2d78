//! Waiting in a sync function: the thread sleeps, in real time, and needs no other thread to go on.

use std::{
    future::Future,
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Wake, Waker},
    thread::{self, Thread},
    time::Duration,
};

use super::{Turn, Waiting};
use crate::{denied::RateLimited, permit::Permit};

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.unpark();
    }
}

/// Blocks this thread until the future is ready.
pub(crate) fn block_on_future<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

/// Blocks this thread until the call is decided.
pub(crate) fn block_on<const N: usize>(mut waiting: Waiting<'_, N>) -> Result<Permit<'_>, RateLimited> {
    // Most calls are admitted at once, and then there is nobody to wake.
    if let Some(permit) = waiting.admitted_at_once() {
        return Ok(permit);
    }
    waiting.blocks = true;
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    loop {
        match waiting.turn(&waker) {
            Turn::Over(decided) => return decided,
            Turn::Waits { now, at: Some(at) } if !waiting.wake_at(at, &waker) => {
                thread::park_timeout(Duration::from_nanos(at.saturating_sub(now)));
            }
            Turn::Waits { .. } => thread::park(),
        }
    }
}
