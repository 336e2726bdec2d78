//! What has come of the calls to a store.

use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Duration,
};

use ratelimit_runtime::OnFailure;

use crate::link::Failure;

/// What has come of the calls to a store since it was made, latencies too: for those of a minute, look at your own calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreStats {
    /// Calls that the store has decided, one way or the other.
    pub decided: u64,
    /// Calls not answered in time.
    pub timeouts: u64,
    /// Calls made while there was no connection, or that lost it.
    pub disconnected: u64,
    /// Calls that the server has answered with an error.
    pub refused: u64,
    /// Calls that found too many others waiting to be sent: decided by the policy for a timeout.
    pub overloaded: u64,
    /// Calls made while the store was switched off.
    pub off: u64,
    /// Failed calls that were admitted, because the policy is [`OnFailure::Open`].
    pub failed_open: u64,
    /// Failed calls that were denied, because the policy is [`OnFailure::Closed`].
    pub failed_closed: u64,
    /// Failed calls that were left to this process, because the policy is [`OnFailure::Local`].
    pub failed_local: u64,
    /// Times that the link came up.
    pub connected: u64,
    /// Processes that use the store, this one among them, as last seen; 0 before the first connection.
    ///
    /// One that starts is counted by the others within five seconds, or within one if they start together; one that has
    /// ended up to 16 seconds longer: an installed store is never dropped, so it cannot take its leave. While a deployment
    /// replaces processes, both are counted, and shares are smaller. Two stores of one process count as two. When a server
    /// comes back that has forgotten them, no fewer are counted for five seconds than before.
    pub nodes: u32,
    /// How long decided calls took on average.
    pub mean_latency: Duration,
    /// How long the slowest of them took. That may be more than the timeout, if the process stood still meanwhile: an answer
    /// that is there counts.
    pub max_latency: Duration,
}

/// Relaxed: each is a statistic of its own.
#[derive(Default)]
pub(crate) struct Counters {
    decided: AtomicU64,
    latency: AtomicU64,
    max_latency: AtomicU64,
    timeouts: AtomicU64,
    disconnected: AtomicU64,
    refused: AtomicU64,
    overloaded: AtomicU64,
    off: AtomicU64,
    open: AtomicU64,
    closed: AtomicU64,
    local: AtomicU64,
}

impl Counters {
    pub(crate) fn decided(&self, latency: Duration) {
        let nanos = u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX);
        self.decided.fetch_add(1, Relaxed);
        self.latency.fetch_add(nanos, Relaxed);
        self.max_latency.fetch_max(nanos, Relaxed);
    }

    pub(crate) fn failed(&self, failure: &Failure, policy: OnFailure) {
        let kind = match failure {
            Failure::Timeout => &self.timeouts,
            Failure::Disconnected | Failure::Moved(_) | Failure::Ask(_) => &self.disconnected,
            Failure::Refused(_) => &self.refused,
            Failure::Overloaded => &self.overloaded,
            Failure::Off => &self.off,
        };
        kind.fetch_add(1, Relaxed);
        let decided_by = match policy {
            OnFailure::Open => &self.open,
            OnFailure::Closed => &self.closed,
            _ => &self.local,
        };
        decided_by.fetch_add(1, Relaxed);
    }

    pub(crate) fn read(&self, connected: u32, nodes: u32) -> StoreStats {
        let read = |count: &AtomicU64| count.load(Relaxed);
        let decided = read(&self.decided);
        StoreStats {
            decided,
            timeouts: read(&self.timeouts),
            disconnected: read(&self.disconnected),
            refused: read(&self.refused),
            overloaded: read(&self.overloaded),
            off: read(&self.off),
            failed_open: read(&self.open),
            failed_closed: read(&self.closed),
            failed_local: read(&self.local),
            connected: connected.into(),
            nodes,
            mean_latency: Duration::from_nanos(read(&self.latency).checked_div(decided).unwrap_or(0)),
            max_latency: Duration::from_nanos(read(&self.max_latency)),
        }
    }
}
