//! What a model of an algorithm answers, and what it tells the next one when the limit is changed.

use crate::algorithm::Trace;

/// An algorithm as its rule reads. Instants never go back.
pub(super) trait Model: std::fmt::Debug {
    /// Permits in use, begun ones included.
    fn used(&self, at: u64) -> u32;
    /// The first instant from `at` on with room for a cost above 0 that is not above the capacity.
    fn ready_at(&self, at: u64, cost: u32, capacity: u32) -> Option<u64>;
    fn charge(&mut self, at: u64, cost: u32);
    /// The number of the last charge, but for those undone before the next, and how many were given back.
    fn count(&self) -> (u32, usize) {
        (0, 0)
    }
    /// Permits given back, begun ones included; `undone`: as if the charge had not been made.
    fn refund(&mut self, at: u64, charge: &Charge, undone: bool) -> u32;
    /// What another model must know to go on from here.
    fn history(&self, at: u64) -> History;
    /// The first instant from `at` on at which nothing is in use.
    fn clear_at(&self, at: u64) -> u64 {
        self.ready_at(at, u32::MAX, u32::MAX).unwrap_or(u64::MAX)
    }
}

#[derive(Clone, Debug)]
pub(super) struct Charge {
    pub(super) at: u64,
    pub(super) cost: u32,
    /// When the budget would have been full again without it.
    pub(super) clear_at: u64,
    /// Its number, and how many had been given back, since the last change.
    pub(super) number: u32,
    pub(super) given_back: usize,
    pub(super) trace: Trace,
}

/// What is in use at a change.
pub(super) enum History {
    /// Charges: the instant each was made at, the one it counts from, and permits.
    Charges { list: Vec<(u64, u64, u32)>, began: Option<u64> },
    /// Permits times the window, and what refunds go by.
    Amount(u128, Flow),
}

/// How a bucket has refilled.
#[derive(Clone, Debug)]
pub(super) struct Flow {
    pub(super) max: u32,
    pub(super) window: u64,
    /// Since when.
    pub(super) since: u64,
    /// The fastest before.
    pub(super) fastest: (u32, u64),
    /// When the algorithm last changed from one of charges, and the charges that counted then.
    pub(super) live: Option<(u64, Vec<u64>)>,
}

impl Flow {
    /// The permits that so much makes or begins.
    pub(super) fn permits(&self, drops: u128) -> u32 {
        u32::try_from(drops.div_ceil(self.window.into())).unwrap_or(u32::MAX)
    }
}
