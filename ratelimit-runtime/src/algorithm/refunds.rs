//! What a budget that refills steadily gives back of a charge.
//!
//! A refund leaves what has flowed since the charge to those who may have used it. An undo leaves only what would have been
//! lost without the charge, as its [`Trace`] tells; beyond a change of the limit nobody can tell, so there it is a refund.

use super::{
    carried::Carried,
    rate::{Rate, Refill},
    trace::{Books, Trace},
};

/// What a budget remembers in order to give charges back. Amounts are in drops.
#[derive(Clone, Debug, Default)]
pub(super) struct Refunds {
    /// Charges made before this had aged out when the algorithm was last changed.
    since: u64,
    /// When the limit last changed, if it did.
    changed_at: Option<u64>,
    books: Books,
}

impl Refunds {
    /// Those of a budget whose limit is changed.
    pub(super) fn adopt(carried: &Carried) -> Self {
        Self { since: carried.since, changed_at: Some(carried.at), books: Books::default() }
    }

    pub(super) fn since(&self) -> u64 {
        self.since
    }

    /// The budget has been charged; without that, it would have been full again at `clear_at`.
    #[inline]
    pub(super) fn charged(&mut self, clear_at: u64) -> Trace {
        self.books.charged(clear_at)
    }

    /// How much less is in use, of `in_use` at `at`, once a charge is given back.
    pub(super) fn refund(
        &mut self,
        refill: &Refill,
        (at, in_use): (u64, u128),
        charged_at: u64,
        cost: u32,
    ) -> u128 {
        let flowed = refill.flowed(charged_at, at, self.changed_at);
        let given_back = self.rest(refill.rate, in_use, charged_at, cost, flowed);
        self.books.gave_back(refill.rate, given_back);
        given_back
    }

    /// How much less is in use, of `in_use` at `at`, once a charge is as if it had not been made.
    pub(super) fn undo(
        &mut self,
        refill: &Refill,
        (at, in_use): (u64, u128),
        charged_at: u64,
        trace: &Trace,
        cost: u32,
    ) -> u128 {
        if self.changed_at.is_some_and(|changed_at| charged_at <= changed_at) {
            return self.refund(refill, (at, in_use), charged_at, cost);
        }
        let flowed = refill.flowed(charged_at, at, self.changed_at);
        let lost = self.books.lost(trace, refill.rate, at, flowed);
        let given_back = self.rest(refill.rate, in_use, charged_at, cost, lost);
        self.books.undid(trace, refill.rate, given_back);
        given_back
    }

    /// A charge, less some of it, as far as it is still in use.
    fn rest(&self, rate: Rate, in_use: u128, charged_at: u64, cost: u32, less: u128) -> u128 {
        if charged_at < self.since {
            return 0;
        }
        rate.drops(cost).saturating_sub(less).min(in_use)
    }
}
