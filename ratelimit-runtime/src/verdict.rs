//! What a limit answers where nothing need be looked into.

use crate::budget::Take;

/// What came of a request that was not looked into further: two words, to be returned in registers.
#[derive(Clone, Copy)]
pub(crate) enum Verdict {
    Admitted,
    /// It would be admitted after so long.
    Denied {
        wait: u64,
    },
    /// It is not that plain.
    Open,
}

impl Verdict {
    /// `now` may be so much later in truth.
    #[inline]
    pub(crate) fn of(take: Take<()>, now: u64, doubt: u64) -> Self {
        match take {
            Take::Taken(()) => Self::Admitted,
            Take::Denied { ready_at } if ready_at > now.saturating_add(doubt) => {
                Self::Denied { wait: ready_at - now }
            }
            Take::Denied { .. } | Take::Ask => Self::Open,
        }
    }
}
