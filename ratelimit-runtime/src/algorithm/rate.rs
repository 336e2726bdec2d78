//! A steady flow of permits, counted without rounding.

/// `max` permits in `window` nanoseconds, evenly.
///
/// Amounts are counted in *drops*: `window` of them are a permit, and `max` of them flow in a nanosecond. So a permit and
/// a nanosecond are both whole numbers of drops, at any rate, and nothing drifts. All permits there can be are fewer than
/// 2^94 drops, and all time there can be fewer than 2^96.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rate {
    max: u32,
    /// In nanoseconds, above 0.
    window: u64,
}

impl Rate {
    pub(super) fn new(max: u32, window: u64) -> Self {
        Self { max, window: window.max(1) }
    }

    /// `max`, and the window in nanoseconds.
    pub(super) fn parts(self) -> (u32, u64) {
        (self.max, self.window)
    }

    pub(super) fn drops(self, permits: impl Into<u64>) -> u128 {
        u128::from(permits.into()) * u128::from(self.window)
    }

    /// The permits that so many drops make or begin.
    pub(super) fn permits(self, drops: u128) -> u32 {
        u32::try_from(drops.div_ceil(u128::from(self.window))).unwrap_or(u32::MAX)
    }

    /// What flows in so many nanoseconds.
    pub(super) fn flow(self, nanoseconds: u64) -> u128 {
        u128::from(nanoseconds) * u128::from(self.max)
    }

    /// The nanoseconds in which so much has flowed; `None` if it never does.
    pub(super) fn time(self, drops: u128) -> Option<u64> {
        if drops == 0 {
            return Some(0);
        }
        (self.max > 0).then(|| saturate(drops.div_ceil(u128::from(self.max))))
    }

    /// The nanoseconds in which no more than so much flows.
    pub(super) fn time_within(self, drops: u128) -> u64 {
        drops.checked_div(u128::from(self.max)).map_or(u64::MAX, saturate)
    }

    /// Drops of another rate as drops of this one, rounded up. Whole permits stay so, and what fits under some also does
    /// afterwards.
    pub(super) fn convert(self, drops: u128, from: Self) -> u128 {
        let (old, new) = (u128::from(from.window), u128::from(self.window));
        if old == new {
            return drops;
        }
        (drops / old).saturating_mul(new).saturating_add((drops % old * new).div_ceil(old))
    }

    fn is_faster_than(self, other: Self) -> bool {
        u128::from(self.max) * u128::from(other.window) > u128::from(other.max) * u128::from(self.window)
    }
}

/// The rate in force, and what a refund must know of those before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Refill {
    pub(super) rate: Rate,
    /// The fastest before it; `None`: nothing flowed.
    before: Option<Rate>,
}

impl Refill {
    pub(super) fn new(rate: Rate) -> Self {
        Self { rate, before: None }
    }

    pub(super) fn followed_by(self, rate: Rate) -> Self {
        let before = self.before.filter(|before| before.is_faster_than(self.rate)).unwrap_or(self.rate);
        Self { rate, before: Some(before) }
    }

    /// What has flowed between two instants, in a budget whose limit last changed at `changed_at`: exact since then,
    /// and no less than the truth before.
    pub(super) fn flowed(&self, from: u64, to: u64, changed_at: Option<u64>) -> u128 {
        let changed_at = changed_at.unwrap_or(0);
        let since = self.rate.flow(to.saturating_sub(from.max(changed_at)));
        let earlier = changed_at.min(to).saturating_sub(from);
        let before = self.before.map_or(0, |before| self.rate.convert(before.flow(earlier), before));
        before.saturating_add(since)
    }
}

fn saturate(number: u128) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
