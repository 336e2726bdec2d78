//! Budgets shared by keys that have none of their own.

use crate::{algorithm::State, budget::Budget, rules::Rules};

pub(super) const OVERFLOW_PER_SHARD: usize = 16;

/// The overflow budgets of one shard; none until the first key has to share.
#[derive(Default)]
pub(super) struct Overflow {
    budgets: Vec<Budget>,
}

impl Overflow {
    /// Which of them serves keys of this hash: by other bits than those that choose shard and entry.
    pub(super) fn place_of(hash: u64) -> usize {
        (hash >> 40) as usize % OVERFLOW_PER_SHARD
    }

    pub(super) fn get(&self, place: usize) -> Option<&Budget> {
        self.budgets.get(place)
    }

    pub(super) fn get_or_make(&mut self, place: usize, mut make: impl FnMut() -> Budget) -> &mut Budget {
        if self.budgets.is_empty() {
            self.budgets.extend((0..OVERFLOW_PER_SHARD).map(|_| make()));
        }
        &mut self.budgets[place % OVERFLOW_PER_SHARD]
    }

    pub(super) fn state(&self, place: usize) -> Option<&State> {
        self.get(place).map(Budget::state)
    }

    pub(super) fn is_queued(&self, place: usize) -> bool {
        self.get(place).is_some_and(Budget::is_queued)
    }

    pub(super) fn is_idle(&self, place: usize, rules: &Rules, now: u64) -> bool {
        self.get(place).is_none_or(|budget| budget.is_idle(rules, now))
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Budget> {
        self.budgets.iter_mut()
    }
}
