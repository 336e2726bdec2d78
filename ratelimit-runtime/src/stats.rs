//! What has come of a limit's calls.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// What has come of the calls of one limit since the program started. All but `tracked_keys` only grow.
///
/// Calls whose `when` was `false`, and those made while the limit was [`Mode::Off`](crate::Mode::Off), are not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Calls admitted by this limit and by those stacked with it, those in `shadow_denied` not among them.
    pub allowed: u64,
    /// Calls denied because of this limit.
    pub denied: u64,
    /// Calls admitted that it would have denied were it not in [`Mode::Shadow`](crate::Mode::Shadow).
    pub shadow_denied: u64,
    /// Calls that stood in line for it, whatever came of them.
    pub waited: u64,
    /// Calls whose permit was given back in time to free something.
    pub refunded: u64,
    /// Calls decided by an overflow budget, because `max_keys` keys were in use.
    pub overflowed: u64,
    /// Keys that have a budget of their own now.
    pub tracked_keys: u64,
}

/// Relaxed throughout: each is a statistic of its own and guards nothing.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    allowed: AtomicU64,
    withdrawn: AtomicU64,
    denied: AtomicU64,
    shadow_denied: AtomicU64,
    waited: AtomicU64,
    refunded: AtomicU64,
}

impl Counters {
    pub(crate) fn allowed(&self) {
        self.allowed.fetch_add(1, Relaxed);
    }

    /// So many calls that the budgets have counted as admitted were not, or were counted by another claim as well.
    pub(crate) fn withdrawn(&self, calls: u64) {
        if calls > 0 {
            self.withdrawn.fetch_add(calls, Relaxed);
        }
    }

    pub(crate) fn denied(&self) {
        self.denied.fetch_add(1, Relaxed);
    }

    pub(crate) fn shadow_denied(&self) {
        self.shadow_denied.fetch_add(1, Relaxed);
    }

    pub(crate) fn waited(&self) {
        self.waited.fetch_add(1, Relaxed);
    }

    pub(crate) fn refunded(&self) {
        self.refunded.fetch_add(1, Relaxed);
    }

    /// `admitted` are the calls that the budgets have counted themselves.
    pub(crate) fn read(&self, admitted: u64, overflowed: u64, tracked_keys: u64) -> Stats {
        Stats {
            allowed: (self.allowed.load(Relaxed) + admitted).saturating_sub(self.withdrawn.load(Relaxed)),
            denied: self.denied.load(Relaxed),
            shadow_denied: self.shadow_denied.load(Relaxed),
            waited: self.waited.load(Relaxed),
            refunded: self.refunded.load(Relaxed),
            overflowed,
            tracked_keys,
        }
    }
}
