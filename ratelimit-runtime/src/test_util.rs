//! Testing a service that is limited: without sleeping, and without disturbing the tests beside it.
//!
//! ```
//! use std::time::Duration;
//! use ratelimit_runtime::{RateLimited, rate_limit, test_util::isolate};
//!
//! #[rate_limit(max = 1, window = "1m")]
//! fn report() -> Result<&'static str, RateLimited> {
//!     Ok("all is well")
//! }
//!
//! let time = isolate();
//! assert!(report().is_ok());
//! assert!(report().is_err());
//! time.advance(Duration::from_secs(62));
//! assert!(report().is_ok());
//! ```

mod clock;

use std::{
    any::Any,
    cell::RefCell,
    collections::{BTreeMap, HashMap},
    fmt,
    marker::PhantomData,
    ptr,
    sync::{Arc, Mutex},
    time::Duration,
};

use self::clock::IsolatedClock;
use crate::{clock::TimeSource, sync::unpoisoned};

/// Gives the calls of this thread fresh budgets for every declared limit, and a clock of their own, until the returned
/// value is dropped.
///
/// It holds for the calls of this thread and for the tasks that are polled on it, which are all tasks of `#[tokio::test]` as
/// it is by default, but not what `spawn_blocking` runs; tests on other threads are not touched. The clock stands still
/// until it is [advanced](Isolation::advance). Under tokio's paused clock it moves with that as well.
///
/// [`Isolation::handle`] takes it along to other threads. Those of a runtime, for blocking calls too, take it when they begin:
///
/// ```
/// use ratelimit_runtime::test_util::isolate;
///
/// let time = isolate();
/// let handle = time.handle();
/// let runtime = tokio::runtime::Builder::new_multi_thread()
///     .on_thread_start(move || std::mem::forget(handle.clone().enter())) // for as long as the thread lives
///     .enable_all()
///     .build()?;
/// # runtime.block_on(async {});
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// What [`limits`](crate::limits) gives on this thread meanwhile are the fresh limits. Limiters that are made by hand are not
/// declared, and not isolated. The fresh limits are never freed: this is for tests.
#[must_use = "the isolation ends when this is dropped"]
pub fn isolate() -> Isolation {
    IsolationHandle { shared: Arc::default() }.enter()
}

/// Fresh budgets and a clock for the calls of this thread, until it is dropped. See [`isolate`].
#[derive(Debug)]
pub struct Isolation {
    handle: IsolationHandle,
    /// Tells this one from others of the same handle.
    number: u64,
    /// It ends on the thread on which it began.
    on_one_thread: PhantomData<*const ()>,
}

/// Takes an isolation along to another thread.
#[derive(Clone)]
pub struct IsolationHandle {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    clock: IsolatedClock,
    /// By the address of the declaration.
    limiters: Mutex<HashMap<usize, &'static (dyn Any + Send + Sync)>>,
}

thread_local! {
    /// Those of this thread that have not ended, by number, which grows: the last one is in force.
    static OPEN: RefCell<BTreeMap<u64, IsolationHandle>> = const { RefCell::new(BTreeMap::new()) };
}

impl Isolation {
    /// Moves the clock on by `duration`, and wakes those whose time has come.
    pub fn advance(&self, duration: Duration) {
        self.handle.shared.clock.advance(duration);
    }

    /// To take the same budgets and the same clock along to other threads.
    ///
    /// ```
    /// # use ratelimit_runtime::{RateLimited, rate_limit, test_util::isolate};
    /// #[rate_limit(max = 1, window = "1m")]
    /// fn report() -> Result<(), RateLimited> {
    ///     Ok(())
    /// }
    ///
    /// let time = isolate();
    /// let handle = time.handle();
    /// std::thread::spawn(move || {
    ///     let _isolation = handle.enter();
    ///     assert!(report().is_ok());
    /// })
    /// .join()
    /// .unwrap();
    /// assert!(report().is_err());
    /// ```
    #[must_use]
    pub fn handle(&self) -> IsolationHandle {
        self.handle.clone()
    }
}

impl IsolationHandle {
    /// Isolates the calls of this thread as well, until the returned value is dropped.
    #[must_use = "the isolation ends when this is dropped"]
    pub fn enter(self) -> Isolation {
        let number = OPEN.with_borrow_mut(|open| {
            let number = open.last_key_value().map_or(0, |(last, _)| last + 1);
            open.insert(number, self.clone());
            number
        });
        Isolation { handle: self, number, on_one_thread: PhantomData }
    }
}

impl Drop for Isolation {
    fn drop(&mut self) {
        // A thread that is going down has none any more. What is removed is dropped after the borrow.
        _ = OPEN.try_with(|open| open.borrow_mut().remove(&self.number));
    }
}

impl fmt::Debug for IsolationHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IsolationHandle").field("clock", &self.shared.clock).finish_non_exhaustive()
    }
}

/// The limiter that stands for a declared one on this thread, if that is isolated.
pub(crate) fn isolated<D, L: Send + Sync>(
    declared: &'static D,
    make: impl FnOnce(TimeSource) -> L,
) -> Option<&'static L> {
    let last = |open: &RefCell<BTreeMap<u64, IsolationHandle>>| {
        open.borrow().last_key_value().map(|(_, handle)| handle.clone())
    };
    let current = OPEN.try_with(last).ok()??;
    let address = ptr::from_ref(declared).addr();
    let mut limiters = unpoisoned(current.shared.limiters.lock());
    let limiter = limiters.entry(address).or_insert_with(|| {
        let clock = TimeSource::custom(current.shared.clock.clone());
        // Leaked: the calls of declared limits hold them for as long as they like.
        Box::leak(Box::new(make(clock)))
    });
    limiter.downcast_ref()
}
