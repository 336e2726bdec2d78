//! A window begins with the first charge, and all in it count until it ends.

use super::rule::{Charge, History, Model};

#[derive(Debug)]
pub(super) struct FixedWindow {
    window: u64,
    began: u64,
    /// Made at, and permits.
    charges: Vec<(u64, u32)>,
}

impl FixedWindow {
    pub(super) fn new(window: u64, at: u64, history: History) -> Self {
        match history {
            History::Charges { list, began } => {
                let live: Vec<_> =
                    list.into_iter().filter(|charge| began.is_some() || charge.1 + window > at).collect();
                let oldest = live.iter().map(|charge| charge.1).min();
                let charges = live.iter().map(|&(made_at, _, permits)| (made_at, permits)).collect();
                Self { window, began: began.or(oldest).unwrap_or(0), charges }
            }
            History::Amount(drops, flow) => {
                Self { window, began: at, charges: vec![(at, flow.permits(drops))] }
            }
        }
    }
}

impl Model for FixedWindow {
    fn used(&self, at: u64) -> u32 {
        let sum = self.charges.iter().map(|charge| charge.1).sum();
        if at < self.began + self.window { sum } else { 0 }
    }

    fn ready_at(&self, at: u64, cost: u32, capacity: u32) -> Option<u64> {
        let fits = u64::from(self.used(at)) + u64::from(cost) <= capacity.into();
        Some(if fits { at } else { self.began + self.window })
    }

    fn charge(&mut self, at: u64, cost: u32) {
        if self.used(at) == 0 {
            (self.began, self.charges) = (at, Vec::new());
        }
        self.charges.push((at, cost));
    }

    fn refund(&mut self, at: u64, refunded: &Charge, _undone: bool) -> u32 {
        if self.used(at) == 0 {
            return 0;
        }
        let mut left = refunded.cost;
        for (made_at, permits) in &mut self.charges {
            if *made_at == refunded.at {
                let given_back = left.min(*permits);
                (*permits, left) = (*permits - given_back, left - given_back);
            }
        }
        refunded.cost - left
    }

    fn history(&self, at: u64) -> History {
        if self.used(at) == 0 {
            return History::Charges { list: Vec::new(), began: None };
        }
        let counts = |charge: &&(u64, u32)| charge.1 > 0;
        let list = self.charges.iter().filter(counts).map(|&(made_at, permits)| (made_at, at, permits));
        History::Charges { list: list.collect(), began: Some(self.began) }
    }
}
