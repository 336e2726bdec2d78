//! A thread that sleeps until it is woken.

use std::{
    future::Future,
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Wake, Waker},
    thread::{self, Thread},
};

/// Blocks this thread until the future is ready.
pub(crate) fn block_on_future<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = waker_of_this_thread();
    let mut context = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

/// Wakes this thread from [`thread::park`].
pub(crate) fn waker_of_this_thread() -> Waker {
    Waker::from(Arc::new(Unpark(thread::current())))
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.unpark();
    }
}
