//! A charge counts from the instant it was made at, for a window.

use super::rule::{Charge, History, Model};

/// The instant of a charge that no refund finds.
const LOST: u64 = u64::MAX;

#[derive(Debug)]
pub(super) struct SlidingLog {
    window: u64,
    /// Made at, counts from, permits.
    charges: Vec<(u64, u64, u32)>,
    /// A refund finds the charges that count from when they were made, and no others.
    only_exact: bool,
}

impl SlidingLog {
    pub(super) fn new(window: u64, at: u64, history: History) -> Self {
        match history {
            History::Charges { list, began } => Self { window, charges: list, only_exact: began.is_none() },
            // Nobody can say any more which permits it belongs to.
            History::Amount(drops, flow) => {
                Self { window, charges: vec![(at, at, flow.permits(drops))], only_exact: true }
            }
        }
    }
}

impl Model for SlidingLog {
    fn used(&self, at: u64) -> u32 {
        self.charges.iter().filter(|charge| charge.1 + self.window > at).map(|charge| charge.2).sum()
    }

    fn ready_at(&self, at: u64, cost: u32, capacity: u32) -> Option<u64> {
        let mut instants = vec![at];
        instants.extend(self.charges.iter().map(|charge| charge.1 + self.window).filter(|end| *end > at));
        instants.sort_unstable();
        instants
            .into_iter()
            .find(|instant| u64::from(self.used(*instant)) + u64::from(cost) <= capacity.into())
    }

    fn charge(&mut self, at: u64, cost: u32) {
        self.charges.push((at, at, cost));
    }

    fn refund(&mut self, at: u64, refunded: &Charge, _undone: bool) -> u32 {
        let mut left = refunded.cost;
        for (made_at, from, permits) in &mut self.charges {
            let is_found = !self.only_exact || made_at == from;
            if *made_at == refunded.at && is_found && *from + self.window > at {
                let given_back = left.min(*permits);
                (*permits, left) = (*permits - given_back, left - given_back);
            }
        }
        refunded.cost - left
    }

    fn history(&self, at: u64) -> History {
        let live = self.charges.iter().filter(|charge| charge.2 > 0 && charge.1 + self.window > at);
        let list = live.map(|&(made_at, from, permits)| {
            // One that counts longer than from when it was made looks as if it had aged out.
            let looks_aged = made_at != LOST && made_at + self.window <= at;
            (if looks_aged { LOST } else { made_at }, from, permits)
        });
        History::Charges { list: list.collect(), began: None }
    }
}
