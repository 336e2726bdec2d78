//! Every shape of function that the attribute carries, a theme a module. A shape that compiles is not yet limited: each
//! test counts the bodies that run, and looks at what a denied call returns.
//!
//! Windows are an hour where nothing waits, so that nothing returns while a test runs.

#![expect(
    clippy::needless_pass_by_value,
    clippy::unused_async,
    clippy::unused_self,
    reason = "the functions are no more than the shape that is limited"
)]

mod async_functions;
mod async_trait;
mod bodies;
mod boxed_futures;
mod expressions;
mod generics;
mod impl_trait;
mod made_by_macros;
mod names;
mod other_attributes;
mod other_crates;
mod patterns;
mod qualifiers;
mod receivers;

use std::cell::Cell;
use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::FutureExt as _;
use ratelimit_runtime::{LimitHandle, LimitSpec};

/// Counts the bodies that run.
struct Bodies(AtomicUsize);

impl Bodies {
    const fn new() -> Self {
        Self(AtomicUsize::new(0))
    }

    /// Stands in a body.
    fn run(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

fn handle(name: &str) -> LimitHandle {
    ratelimit_runtime::limit(name).unwrap_or_else(|| panic!("no limit is called `{name}`"))
}

/// Makes room for one call more.
fn admit_one_more(name: &str) {
    let limit = handle(name);
    limit.set_spec(LimitSpec::new(limit.spec().max() + 1, limit.spec().window())).unwrap();
}

/// What a future yields that has nothing to wait for.
fn at_once<T>(future: impl Future<Output = T>) -> T {
    future.now_or_never().expect("the future is ready at its first poll")
}

/// The window of limits on which a call waits: no test waits so long, unless a call blocks its thread, and then the test
/// fails instead of hanging.
const WINDOW: Duration = Duration::from_secs(10);

/// Makes a call over its limit, whose `max` is 1, and awaits it beside a task that makes room: both on this one thread,
/// which a call that blocked it would keep from the other.
async fn waits_without_its_thread<T, F: Future<Output = T>>(name: &str, call: impl FnOnce() -> F) -> T {
    assert_eq!(handle(name).spec(), LimitSpec::new(1, WINDOW));
    let there_is_room = Cell::new(false);
    let waiting = call();
    let waits = async {
        let returned = waiting.await;
        assert!(there_is_room.get(), "`{name}` blocked the thread, or did not wait");
        returned
    };
    let makes_room = async {
        there_is_room.set(true);
        admit_one_more(name);
    };
    futures::join!(waits, makes_room).0
}

/// Fails to compile where a future is not `Send`.
fn is_send<F: Future + Send>(future: F) -> F {
    future
}
