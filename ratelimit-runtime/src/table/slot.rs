//! Where a shard keeps the budget of a key that is not packed.

/// The number of an entry.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Slot(u32);

impl Slot {
    #[inline]
    pub(super) fn of(number: usize) -> Self {
        // A shard of 2^32 entries would take more memory than there is.
        Slot(u32::try_from(number).unwrap_or(u32::MAX))
    }

    #[inline]
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}
