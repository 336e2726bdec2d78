//! The threads that all links of a store run on: whatever executor the callers have, and however busy it is.
//!
//! One looks after the links, and one reads what servers answer. So an answer passes no timers, which a runtime looks through
//! before it sleeps and afterwards, and which the system keeps for it meanwhile.

use std::{future::Future, io, thread};

use tokio::{
    runtime::{Builder, Handle},
    sync::oneshot,
    task::JoinHandle,
};

pub(crate) struct Hub {
    /// `None` if the system gives no threads.
    threads: Option<(Thread, Thread)>,
}

/// It ends when this is dropped.
struct Thread {
    runtime: Handle,
    _running: oneshot::Sender<()>,
}

/// Where connections are read.
#[derive(Clone)]
pub(crate) struct Network(Handle);

impl Hub {
    pub(crate) fn start() -> Self {
        let upkeep = Thread::start("ratelimit-redis", Builder::new_current_thread().enable_all());
        let reading = Thread::start("ratelimit-reads", Builder::new_current_thread().enable_io());
        Self { threads: upkeep.zip(reading) }
    }

    /// Says whether it will run.
    pub(crate) fn spawn<F: Future<Output = ()> + Send + 'static>(
        &self,
        task: impl FnOnce(Network) -> F,
    ) -> bool {
        self.threads.as_ref().is_some_and(|(upkeep, reading)| {
            upkeep.runtime.spawn(task(Network(reading.runtime.clone())));
            true
        })
    }
}

impl Thread {
    fn start(name: &str, runtime: &mut Builder) -> Option<Self> {
        let runtime = runtime.build().ok()?;
        let (running, stopped) = oneshot::channel::<()>();
        let handle = runtime.handle().clone();
        let thread = thread::Builder::new().name(name.into());
        thread.spawn(move || runtime.block_on(async { _ = stopped.await })).ok()?;
        Some(Self { runtime: handle, _running: running })
    }
}

impl Network {
    /// Has a stream wake that thread, whichever runtime has made it.
    pub(super) fn take<Native, Stream>(
        &self,
        native: io::Result<Native>,
        register: impl FnOnce(Native) -> io::Result<Stream>,
    ) -> io::Result<Stream> {
        let _context = self.0.enter();
        register(native?)
    }

    pub(super) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> JoinHandle<()> {
        self.0.spawn(task)
    }
}
