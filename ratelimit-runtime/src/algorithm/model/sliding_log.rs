//! A charge counts from the instant it was made at, for a window.

use super::exact::{Charge, History, Model};

/// The instant of a charge that no refund finds.
const LOST: u64 = u64::MAX;

#[derive(Debug)]
pub(super) struct SlidingLog {
    window: u64,
    /// Made at, counts from, permits.
    charges: Vec<(u64, u64, u32)>,
}

impl SlidingLog {
    pub(super) fn new(window: u64, at: u64, history: History) -> Self {
        let charges = match history {
            History::Charges { list, began: Some(_) } => list,
            History::Charges { list, began: None } => {
                // Found by the instant that it was made at, or not at all.
                let lost = |charge: (u64, u64, u32)| {
                    if charge.0 == charge.1 { charge } else { (LOST, charge.1, charge.2) }
                };
                list.into_iter().map(lost).collect()
            }
            // Nobody can say any more which permits it belongs to.
            History::Amount(drops, flow) => vec![(at, at, flow.permits(drops))],
        };
        Self { window, charges }
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
            if *made_at == refunded.at && *from + self.window > at {
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
