//! What has come of a limit's calls.

mod tallies;

use self::tallies::Tallies;

/// What has come of the calls of one limit since the program started. All but `tracked_keys` only grow, except
/// that a call of several limits may count as allowed for the moment until a later one denies it.
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
    /// Keys that have a budget of their own now, in this process.
    pub tracked_keys: u64,
    /// Calls that the limit's store did not decide: its policy did. Those that the policy denied for that reason alone are
    /// not in `denied`.
    pub store_failures: u64,
}

/// What is counted of calls.
#[derive(Clone, Copy)]
enum Event {
    Allowed,
    Withdrawn,
    Denied,
    ShadowDenied,
    Waited,
    Refunded,
    StoreFailure,
}

/// Each is a statistic of its own and guards nothing.
#[derive(Default)]
pub(crate) struct Counters {
    tallies: Tallies<7>,
}

impl Counters {
    #[inline]
    pub(crate) fn allowed(&self) {
        self.count(Event::Allowed, 1);
    }

    /// So many calls that the budgets have counted as admitted were not, or were counted by another claim as well.
    pub(crate) fn withdrawn(&self, calls: u64) {
        if calls > 0 {
            self.count(Event::Withdrawn, calls);
        }
    }

    #[inline]
    pub(crate) fn denied(&self) {
        self.count(Event::Denied, 1);
    }

    pub(crate) fn shadow_denied(&self) {
        self.count(Event::ShadowDenied, 1);
    }

    pub(crate) fn waited(&self) {
        self.count(Event::Waited, 1);
    }

    pub(crate) fn refunded(&self) {
        self.count(Event::Refunded, 1);
    }

    pub(crate) fn store_failed(&self) {
        self.count(Event::StoreFailure, 1);
    }

    #[inline]
    fn count(&self, event: Event, calls: u64) {
        self.tallies.add(event as usize, calls);
    }

    /// `admitted` are the calls that the budgets have counted themselves.
    pub(crate) fn read(&self, admitted: u64, overflowed: u64, tracked_keys: u64) -> Stats {
        let count = |event: Event| self.tallies.sum(event as usize);
        Stats {
            allowed: (count(Event::Allowed) + admitted).saturating_sub(count(Event::Withdrawn)),
            denied: count(Event::Denied),
            shadow_denied: count(Event::ShadowDenied),
            waited: count(Event::Waited),
            refunded: count(Event::Refunded),
            overflowed,
            tracked_keys,
            store_failures: count(Event::StoreFailure),
        }
    }
}
