//! A bucket as its bound reads: since any instant, no more is in use than was charged since then less what has flowed
//! since then. What is in use is the most that this says of any instant, and no level is kept.
//!
//! `token_bucket`, `leaky_bucket` and `gcra` are this.

use super::rule::{Charge, Flow, History, Model};

#[derive(Debug)]
pub(super) struct Bucket {
    flow: Flow,
    /// Instant, and permits times the window: what was charged, less what was given back.
    changes: Vec<(u64, i128)>,
    /// How many charges there were, but for those undone before the next.
    charges: u32,
    /// What was given back, but of those, as the nanoseconds in which it flows, each rounded up.
    given_back: Vec<u64>,
}

/// Permits times one window as permits times another, rounded up.
fn convert(drops: u128, from: u64, to: u64) -> u128 {
    let (from, to) = (u128::from(from), u128::from(to));
    (drops / from).saturating_mul(to).saturating_add((drops % from * to).div_ceil(from))
}

impl Bucket {
    pub(super) fn new(max: u32, window: u64, at: u64, history: History) -> Self {
        let (drops, flow) = match history {
            History::Charges { list, .. } => {
                let permits: u128 = list.iter().map(|charge| u128::from(charge.2)).sum();
                let live = Some((at, list.iter().map(|charge| charge.0).collect()));
                (permits * u128::from(window), Flow { max, window, since: at, fastest: (0, 1), live })
            }
            History::Amount(drops, old) => {
                let (old_max, old_window) = old.fastest;
                let [one, other] = [
                    u128::from(old.max) * u128::from(old_window),
                    u128::from(old_max) * u128::from(old.window),
                ];
                let fastest = if one > other { (old.max, old.window) } else { old.fastest };
                let drops = convert(drops, old.window, window);
                (drops, Flow { max, window, since: at, fastest, live: old.live })
            }
        };
        Self { flow, changes: vec![(at, i128::try_from(drops).unwrap())], charges: 0, given_back: Vec::new() }
    }

    fn flow(&self, from: u64, to: u64) -> i128 {
        i128::from(self.flow.max) * i128::from(to - from)
    }

    fn drops(&self, permits: u32) -> i128 {
        i128::from(permits) * i128::from(self.flow.window)
    }

    /// For every change: what was charged since then, and when that was.
    fn sums(&self) -> impl Iterator<Item = (u64, i128)> {
        let mut sum = 0;
        self.changes.iter().rev().map(move |&(at, drops)| {
            sum += drops;
            (at, sum)
        })
    }

    fn level(&self, at: u64) -> i128 {
        self.sums().map(|(since, sum)| sum - self.flow(since, at)).max().unwrap_or(0).max(0)
    }

    /// The most that can have been too much: what flowed and what was given back, less what was in use before the charge.
    fn overflowed(&self, charge: &Charge, at: u64) -> i128 {
        let since = self.given_back.iter().skip(charge.given_back);
        let given_back = self.flow(0, since.fold(0, |sum: u64, time| sum.wrapping_add(*time)));
        let flow = |from, to| if to > from { self.flow(from, to) } else { 0 };
        let overflowed = given_back + flow(charge.clear_at, at) - flow(at, charge.clear_at);
        overflowed.clamp(0, self.refilled(charge.at, at))
    }

    /// The most that can have flowed.
    fn refilled(&self, from: u64, to: u64) -> i128 {
        let Flow { max, window, since, fastest, .. } = self.flow;
        let before = u128::from(fastest.0) * u128::from(since.min(to).saturating_sub(from));
        let before = convert(before, fastest.1, window);
        let after = u128::from(max) * u128::from(to.saturating_sub(from.max(since)));
        i128::try_from(before.saturating_add(after)).unwrap_or(i128::MAX)
    }
}

impl Model for Bucket {
    fn used(&self, at: u64) -> u32 {
        self.flow.permits(u128::try_from(self.level(at)).unwrap())
    }

    fn ready_at(&self, at: u64, cost: u32, capacity: u32) -> Option<u64> {
        let room = self.drops(capacity) - self.drops(cost);
        self.sums().try_fold(at, |latest, (since, sum)| {
            let excess = u128::try_from(sum - room).unwrap_or(0);
            if excess <= u128::try_from(self.flow(since, latest)).unwrap() {
                return Some(latest);
            }
            let time = (self.flow.max > 0).then(|| excess.div_ceil(self.flow.max.into()))?;
            Some(u64::try_from(u128::from(since) + time).unwrap_or(u64::MAX))
        })
    }

    fn charge(&mut self, at: u64, cost: u32) {
        self.changes.push((at, self.drops(cost)));
        self.charges = self.charges.wrapping_add(u32::from(cost > 0));
    }

    fn count(&self) -> (u32, usize) {
        (self.charges, self.given_back.len())
    }

    fn refund(&mut self, at: u64, refunded: &Charge, undone: bool) -> u32 {
        if let Some((changed_at, live)) = &self.flow.live
            && refunded.at < *changed_at
            && !live.contains(&refunded.at)
        {
            return 0;
        }
        let lost = if undone { self.overflowed(refunded, at) } else { self.refilled(refunded.at, at) };
        let given_back = self.drops(refunded.cost).saturating_sub(lost).clamp(0, self.level(at));
        self.changes.push((at, -given_back));
        if undone && refunded.number == self.charges {
            self.charges = self.charges.wrapping_sub(1);
        } else if self.flow.max > 0 {
            let time = given_back.unsigned_abs().div_ceil(self.flow.max.into());
            self.given_back.push(u64::try_from(time).unwrap_or(u64::MAX));
        }
        self.flow.permits(u128::try_from(given_back).unwrap())
    }

    fn history(&self, at: u64) -> History {
        History::Amount(u128::try_from(self.level(at)).unwrap(), self.flow.clone())
    }
}
