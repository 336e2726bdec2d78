//! A steady flow whose amounts are few enough for one word, exactly.
//!
//! A [`Rate`] counts in drops, `max` to the nanosecond and `window` to the permit. What both can be divided by is left out
//! here: a *tick* is as many drops, so a permit and a nanosecond are still whole numbers of ticks, and small ones for rates
//! that people write: of 100 a second, a nanosecond is one tick.

use super::rate::Rate;

/// How a budget that refills steadily is charged one permit at a time, by the number that [`gcra`](super::gcra) keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ticks {
    pub(crate) per_nanosecond: u64,
    pub(crate) per_permit: u64,
    /// What a full budget holds.
    pub(crate) capacity: u64,
}

impl Ticks {
    /// The most that a number may be: so that sums of three of them fit a word.
    pub(crate) const MOST: u64 = u64::MAX >> 8;

    /// `None` if the rate or the capacity is too large for it, or nothing flows.
    pub(super) fn of(rate: Rate, capacity: u32) -> Option<Self> {
        let (max, window) = rate.parts();
        if max == 0 || capacity == 0 {
            return None;
        }
        let divisor = Self::divisor(rate);
        let (per_nanosecond, per_permit) = (u64::from(max) / divisor, window / divisor);
        let capacity =
            per_permit.checked_mul(u64::from(capacity)).filter(|capacity| *capacity <= Self::MOST)?;
        Some(Self { per_nanosecond, per_permit, capacity })
    }

    /// Drops in a tick.
    pub(super) fn divisor(rate: Rate) -> u64 {
        let (max, window) = rate.parts();
        greatest_common_divisor(u64::from(max), window).max(1)
    }
}

fn greatest_common_divisor(mut one: u64, mut other: u64) -> u64 {
    while other > 0 {
        (one, other) = (other, one % other);
    }
    one
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_permit_and_a_nanosecond_are_whole_ticks() {
        let ticks = |max, window, capacity| {
            Ticks::of(Rate::new(max, window), capacity)
                .map(|ticks| (ticks.per_nanosecond, ticks.per_permit, ticks.capacity))
        };
        assert_eq!(ticks(100, 1_000_000_000, 5), Some((1, 10_000_000, 50_000_000)));
        assert_eq!(ticks(3, 1_000_000_000, 2), Some((3, 1_000_000_000, 2_000_000_000)));
        assert_eq!(ticks(4_000_000_000, 1_000_000_000, 7), Some((4, 1, 7)));
        assert_eq!(ticks(1, 3_000_000_000_000_000_000, 1), None);
        assert_eq!(ticks(0, 1, 1), None);
    }
}
