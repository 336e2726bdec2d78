//! Locks and atomics: the standard ones, or those of a model checker under `--cfg ratelimit_loom`.

#[cfg(not(all(test, ratelimit_loom)))]
pub(crate) use std::{
    hint::spin_loop,
    sync::{Mutex, MutexGuard, atomic},
    thread::yield_now,
};

#[cfg(all(test, ratelimit_loom))]
pub(crate) use loom::{
    hint::spin_loop,
    sync::{Mutex, MutexGuard, atomic},
    thread::yield_now,
};

use std::sync::{LockResult, PoisonError};

/// Marks a point at which it matters who comes first. Stress tests give the others a turn there, at random.
#[inline]
pub(crate) fn race_point() {
    #[cfg(all(test, not(ratelimit_loom)))]
    crate::stress::let_others_run();
}

/// Lets a thread finish that is about to.
#[inline]
pub(crate) fn spin() {
    #[cfg(not(all(test, ratelimit_loom)))]
    std::hint::spin_loop();
    #[cfg(all(test, ratelimit_loom))]
    loom::thread::yield_now();
}

/// Locks `mutex`, poisoned or not.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    unpoisoned(mutex.lock())
}

/// What a lock guards, poisoned or not.
///
/// No user code runs under our locks, so a poisoned one only says that a thread died of something that is not ours.
pub(crate) fn unpoisoned<T>(locked: LockResult<T>) -> T {
    locked.unwrap_or_else(PoisonError::into_inner)
}
