//! What a call asks.

use ratelimit_spec::LimitSpec;

/// What one call asks of one limit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Demand {
    pub(crate) cost: u32,
    /// The call's own `max`, where the limit leaves it to the call.
    pub(crate) max: Option<u32>,
    /// How much of the budget this call may use, from 0 to 1.
    pub(crate) share: f64,
    /// The call waits for its turn, where it cannot be charged at once.
    pub(crate) waits: bool,
}

impl Demand {
    #[inline]
    pub(crate) const fn new(cost: u32) -> Self {
        Self { cost, max: None, share: 1.0, waits: false }
    }

    /// What two calls ask together.
    pub(crate) fn and(&self, other: &Self) -> Self {
        Self {
            cost: self.cost.saturating_add(other.cost),
            max: self.max.into_iter().chain(other.max).min(),
            share: self.share.min(other.share),
            waits: self.waits || other.waits,
        }
    }

    /// One permit of the whole budget: what nearly all calls ask.
    #[inline]
    pub(crate) fn is_for_one_permit(self) -> bool {
        self.cost == 1 && self.is_for_whole_budget()
    }

    /// The call may use all that there is, and brings no limit of its own.
    #[inline]
    pub(crate) fn is_for_whole_budget(self) -> bool {
        self.max.is_none() && self.share >= 1.0
    }

    /// The limit as it is in force for this call.
    pub(crate) fn spec(&self, spec: &LimitSpec) -> LimitSpec {
        match self.max {
            Some(max) if spec.max() == u32::MAX => spec.with_max(max),
            _ => *spec,
        }
    }

    /// The most permits that may be in use once this call is charged.
    pub(crate) fn capacity(&self, spec: &LimitSpec) -> u32 {
        let whole = match spec.max() {
            // Nothing ever refills, so nothing is admitted, whatever `burst` is.
            0 => 0,
            // As declared, this says "each call brings its own"; any other was set since, and wins.
            u32::MAX => self.max.unwrap_or_else(|| spec.burst()),
            // Which is `max` where the algorithm takes no burst.
            _ => spec.burst(),
        };
        if self.share >= 1.0 {
            return whole;
        }
        // The cast saturates: a negative share and NaN are 0.
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "saturates, as it should"
        )]
        let part = (f64::from(whole) * self.share).round() as u32;
        part.min(whole)
    }
}
