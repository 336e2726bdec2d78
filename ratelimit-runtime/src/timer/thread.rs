//! Alarms on one thread of our own, for executors that have no timer we know.

use std::{
    collections::BTreeMap,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Condvar, Mutex, OnceLock},
    task::Waker,
    thread,
    time::{Duration, Instant},
};

use crate::sync::unpoisoned;

/// When, and a number that tells apart two alarms of one instant.
type Slot = (Instant, u64);

#[derive(Default)]
struct Clockwork {
    alarms: Mutex<Alarms>,
    earlier: Condvar,
}

#[derive(Default)]
struct Alarms {
    next: u64,
    waiting: BTreeMap<Slot, Waker>,
}

pub(super) struct Alarm {
    slot: Option<Slot>,
}

/// Further off than any wait, and still an `Instant` everywhere.
const FAR: Duration = Duration::from_secs(60 * 60 * 24 * 365);

impl Alarm {
    pub(super) fn new(after: Duration, waker: &Waker) -> Self {
        let Some(clockwork) = running() else {
            // No thread to be had. Polling without pause is slow, hanging would be worse.
            waker.wake_by_ref();
            return Alarm { slot: None };
        };
        let (at, waker) = (Instant::now() + after.min(FAR), waker.clone());
        let mut alarms = unpoisoned(clockwork.alarms.lock());
        let slot = (at, alarms.next);
        alarms.next += 1;
        alarms.waiting.insert(slot, waker);
        if alarms.waiting.first_key_value().is_some_and(|(first, _)| *first == slot) {
            clockwork.earlier.notify_one();
        }
        Alarm { slot: Some(slot) }
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        if let (Some(slot), Some(clockwork)) = (self.slot, running()) {
            // Dropped after the lock is gone: a waker's drop may drop a whole task.
            let waker = unpoisoned(clockwork.alarms.lock()).waiting.remove(&slot);
            drop(waker);
        }
    }
}

/// The clockwork, with its thread started; `None` if the system gives no thread.
fn running() -> Option<&'static Clockwork> {
    static CLOCKWORK: OnceLock<Clockwork> = OnceLock::new();
    static STARTED: OnceLock<bool> = OnceLock::new();
    let clockwork = CLOCKWORK.get_or_init(Clockwork::default);
    let start = || thread::Builder::new().name("ratelimit-timer".into()).spawn(|| ring(clockwork)).is_ok();
    STARTED.get_or_init(start).then_some(clockwork)
}

fn ring(clockwork: &Clockwork) {
    let mut alarms = unpoisoned(clockwork.alarms.lock());
    loop {
        let now = Instant::now();
        if let Some(first) = alarms.waiting.first_entry().filter(|first| first.key().0 <= now) {
            let waker = first.remove();
            drop(alarms);
            // A waker that panics must not take everybody's timer with it.
            _ = catch_unwind(AssertUnwindSafe(|| waker.wake()));
            alarms = unpoisoned(clockwork.alarms.lock());
            continue;
        }
        let pause = alarms.waiting.first_key_value().map_or(FAR, |((at, _), _)| *at - now);
        (alarms, _) = unpoisoned(clockwork.earlier.wait_timeout(alarms, pause));
    }
}
