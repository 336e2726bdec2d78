//! Those who wait for one budget.

use std::{collections::VecDeque, sync::Arc};

use super::ticket::{Number, Stand};
use crate::{
    algorithm::State,
    budget::{Demand, Place},
    limit::Limit,
    rules::Rules,
};

/// Which line: a limit, by its address, and one of its budgets. Those in line keep the limit alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct LineId {
    limit: usize,
    pub(super) place: Place,
}

pub(super) struct Line {
    limit: Arc<Limit>,
    place: Place,
    pub(super) queue: VecDeque<Number>,
    /// How the budget will stand once all in line are admitted; `None`: to be worked out anew.
    pub(super) end: Option<Forecast>,
}

/// A copy of a budget in which what is to come has been charged already.
pub(super) struct Forecast {
    rules: Arc<Rules>,
    state: State,
    /// The last admission in it: the next one cannot be earlier.
    latest: u64,
    /// Somebody in line cannot be admitted before something changes, nor can those behind.
    blocked: bool,
    /// What has happened since can only have brought all admissions nearer.
    sooner: bool,
}

impl LineId {
    pub(super) fn of(limit: &Limit, place: Place) -> Self {
        Self { limit: std::ptr::from_ref(limit).addr(), place }
    }

    pub(super) fn belongs_to(&self, limit: &Limit) -> bool {
        self.limit == std::ptr::from_ref(limit).addr()
    }
}

impl Line {
    pub(super) fn new(stand: &Stand, now: u64) -> Self {
        let (limit, place) = (stand.limit.clone(), stand.line.place);
        let end = Some(Forecast::of(&limit, place, now));
        Self { limit, place, queue: VecDeque::new(), end }
    }

    /// Takes a ticket out.
    pub(super) fn remove(&mut self, number: Number) {
        // The queue is in the order of the numbers.
        if let Ok(place) = self.queue.binary_search(&number) {
            self.queue.remove(place);
        }
    }

    /// Begins with the budget as it is now, and nobody in line.
    pub(super) fn restart_forecast(&mut self, now: u64) {
        self.end = Some(Forecast::of(&self.limit, self.place, now));
    }

    /// What was foreseen is exact.
    pub(super) fn is_up_to_date(&self) -> bool {
        self.end.as_ref().is_some_and(|end| !end.sooner)
    }

    /// What was foreseen can only come sooner. Says whether that is new.
    pub(super) fn hasten(&mut self) -> bool {
        self.end.as_mut().is_some_and(|end| !std::mem::replace(&mut end.sooner, true))
    }

    /// What was foreseen holds no more. Says whether that is new.
    pub(super) fn upset(&mut self) -> bool {
        self.end.take().is_some()
    }

    /// Opens the budget to everybody again.
    pub(super) fn close(&self, now: u64) {
        self.limit.budgets.close_line(self.place, now);
    }
}

impl Forecast {
    fn of(limit: &Limit, place: Place, now: u64) -> Self {
        let (rules, state) = limit.budgets.copy(place, now);
        Self { rules, state, latest: 0, blocked: false, sooner: false }
    }

    /// When a call would be admitted behind all in line, and not before `now`.
    pub(super) fn ready_at(&self, now: u64, demand: &Demand) -> Option<u64> {
        if self.blocked {
            return None;
        }
        let capacity = demand.capacity(&self.rules.spec);
        self.rules.plan.ready_at(&self.state, now.max(self.latest), demand.cost, capacity)
    }

    /// A call joins the line, to be admitted then.
    pub(super) fn append(&mut self, admitted_at: Option<u64>, demand: &Demand) {
        let Some(at) = admitted_at else {
            self.blocked = true;
            return;
        };
        let capacity = demand.capacity(&self.rules.spec);
        // It was asked whether that is possible.
        _ = self.rules.plan.charge(&mut self.state, at, demand.cost, capacity);
        self.latest = at;
    }

    /// Whether a charge at one instant counts as long as one at the other.
    pub(super) fn counts_alike(&self, at: u64, other: u64) -> bool {
        self.rules.plan.counts_alike(at, other)
    }
}
