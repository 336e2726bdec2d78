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

impl Grain {
    /// Finer than declared, for a budget that stands alone: memory is no matter, and a paced caller loses less.
    pub(crate) const FINE: Self = Self { fineness: 8, lag: 0 };

    /// As declared, where there is a budget for every key.
    pub(crate) const DECLARED: Self = Self { fineness: 1, lag: 0 };

    /// The same where a clock is at hand that lags, for those who can do with it.
    pub(crate) fn with_lag(self, lag: u64) -> Self {
        Self { lag, ..self }
    }

    /// The buckets of a sliding window, and the lag that they allow for: that of the clock, where they can, or none.
    pub(super) fn grid(self, window: u64, declared: u32) -> (Grid, u64) {
        let buckets = declared.saturating_mul(self.fineness);
        match self.lagging(window, declared, buckets) {
            Some(grid) => (grid, self.lag),
            None => (Grid::new(window, buckets), 0),
        }
    }

    /// Buckets that span the lag besides the window.
    ///
    /// A charge dated at `c` was made before `c + lag`. It is released when the clock shows `c + window + lag` or later,
    /// and then it is that late at least; so a whole window has passed, however the clock lagged. At the other end, a
    /// charge made at `c` is released once the clock shows the end of its bucket, so much longer, which is seen up to a lag
    /// after. With all that it counts for no longer than `window + window / declared`, and one part in a hundred of the
    /// window for the clock. Where that takes finer buckets, twice as many at most, they are made so; where it cannot be,
    /// there are none.
    fn lagging(self, window: u64, declared: u32, buckets: u32) -> Option<Grid> {
        let Self { lag, .. } = self;
        if lag == 0 || lag > window / 100 {
            return None;
        }
        let most = buckets.checked_mul(2)?;
        // Window and lag are rounded up to whole nanoseconds in each bucket, so that their starts are plain multiples.
        let rounding = u64::from(most);
        let overtime = window / u64::from(declared.max(1)) + window / 100;
        let widest = overtime.checked_sub(2 * lag + rounding).filter(|&widest| widest > 0)?;
        let span = window.checked_add(lag)?;
        let buckets = buckets.max(u32::try_from(span.div_ceil(widest)).ok()?);
        if buckets > most {
            return None;
        }
        Some(Grid::new(span.next_multiple_of(u64::from(buckets)), buckets))
    }
}
