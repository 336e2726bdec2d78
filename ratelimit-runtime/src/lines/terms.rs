//! What a call will wait for.

use std::time::Duration;

use crate::{algorithm::END_OF_TIME, clock::nanos};

/// How a call waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    /// The longest wait; `None`: as long as it takes.
    pub(crate) at_most: Option<Duration>,
    /// With so many in a line, the next is denied.
    pub(crate) max_waiters: usize,
    /// The call cannot be denied: what would be a denial waits until the limit is changed.
    pub(crate) surely: bool,
}

impl Terms {
    /// How many may stand in one line, unless said otherwise.
    pub(crate) const DEFAULT_MAX_WAITERS: usize = 1024;

    pub(super) fn deadline(&self, now: u64) -> Option<u64> {
        self.at_most.map(|at_most| now.saturating_add(nanos(at_most)).min(END_OF_TIME))
    }
}
