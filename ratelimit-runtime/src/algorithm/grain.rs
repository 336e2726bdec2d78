//! How finely a budget resolves time.

#[cfg(test)]
mod tests;

use super::grid::Grid;

/// How finely a budget may resolve time, and how exactly it is told the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Grain {
    /// How many times finer than declared the buckets are.
    fineness: u32,
    /// How far the clock at hand lags: it never shows an instant ahead, and always one less than this behind.
    lag: u64,
}

/// What a sliding window makes of a clock that lags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lag {
    /// So far may the clock lag that decides. 0: only a precise one does.
    pub(crate) by: u64,
    /// What stands against a call may have been released for as long as the clock lags, and that is too long.
    doubtful: bool,
}

impl Lag {
    pub(crate) const NONE: Self = Self { by: 0, doubtful: false };

    /// By the clock that lags, a call is denied only if its release is further ahead.
    #[inline]
    pub(crate) fn doubt(self) -> u64 {
        if self.doubtful { self.by } else { 0 }
    }

    /// So much later than it is, a release may be seen.
    #[inline]
    pub(crate) fn delay(self) -> u64 {
        if self.doubtful { 0 } else { self.by }
    }

    pub(crate) fn to_word(self) -> u64 {
        self.by << 1 | u64::from(self.doubtful)
    }

    #[inline]
    pub(crate) fn of_word(word: u64) -> Self {
        Self { by: word >> 1, doubtful: word & 1 != 0 }
    }
}

impl Grain {
    /// Finer than declared, for a budget that stands alone: memory is no matter, and a paced caller loses less.
    pub(crate) const FINE: Self = Self { fineness: 8, lag: 0 };

    /// As declared, where there is a budget for every key.
    pub(crate) const DECLARED: Self = Self { fineness: 1, lag: 0 };

    /// The same where a clock is at hand that lags, for those who can do with it.
    pub(crate) fn with_lag(self, lag: u64) -> Self {
        Self { lag, ..self }
    }

    /// The buckets of a sliding window, and what lag they allow for.
    pub(super) fn grid(self, window: u64, declared: u32) -> (Grid, Lag) {
        let Self { lag, .. } = self;
        let buckets = declared.saturating_mul(self.fineness);
        if lag == 0 || lag > window / 100 {
            return (Grid::new(window, buckets), Lag::NONE);
        }
        if let Some(grid) = self.lagging(window, declared, buckets, 2 * lag) {
            (grid, Lag { by: lag, doubtful: false })
        } else if let Some(grid) = self.lagging(window, declared, buckets, lag) {
            (grid, Lag { by: lag, doubtful: true })
        } else {
            (Grid::new(window, buckets), Lag::NONE)
        }
    }

    /// Buckets that span the lag besides the window.
    ///
    /// A charge dated at `c` was made before `c + lag`. It is released when the clock shows `c + window + lag` or later,
    /// and then it is that late at least; so a whole window has passed, however the clock lagged. At the other end, a
    /// charge made at `c` is released once the clock shows the end of its bucket, so much longer: a lag, and another one
    /// until a clock shows it that lags itself; `late` in all. With that it counts for no longer than
    /// `window + window / declared`, and one part in a hundred of the window for the clock. Where that takes finer buckets,
    /// twice as many at most, they are made so; where it cannot be, there are none.
    fn lagging(self, window: u64, declared: u32, buckets: u32, late: u64) -> Option<Grid> {
        let most = buckets.checked_mul(2)?;
        // Window and lag are rounded up to whole nanoseconds in each bucket, so that their starts are plain multiples.
        let rounding = u64::from(most);
        let overtime = window / u64::from(declared.max(1)) + window / 100;
        let widest = overtime.checked_sub(late + rounding).filter(|&widest| widest > 0)?;
        let span = window.checked_add(self.lag)?;
        let buckets = buckets.max(u32::try_from(span.div_ceil(widest)).ok()?);
        if buckets > most {
            return None;
        }
        Some(Grid::new(span.next_multiple_of(u64::from(buckets)), buckets))
    }
}
