//! The thread that all links of a store run on: whatever executor the callers have, and however busy it is.

use std::{future::Future, thread};

use tokio::{
    runtime::{Builder, Handle},
    sync::oneshot,
};

pub(crate) struct Hub {
    /// `None` if the system gives no thread.
    runtime: Option<Handle>,
    /// The thread ends when this is dropped.
    _running: Option<oneshot::Sender<()>>,
}

impl Hub {
    pub(crate) fn start() -> Self {
        let started = Builder::new_current_thread().enable_all().build().ok().and_then(|runtime| {
            let (running, stopped) = oneshot::channel::<()>();
            let handle = runtime.handle().clone();
            let thread = thread::Builder::new().name("ratelimit-redis".into());
            thread.spawn(move || runtime.block_on(async { _ = stopped.await })).ok()?;
            Some((handle, running))
        });
        let (runtime, running) = started.unzip();
        Self { runtime, _running: running }
    }

    /// Says whether it will run.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> bool {
        self.runtime.as_ref().is_some_and(|runtime| {
            runtime.spawn(task);
            true
        })
    }
}
