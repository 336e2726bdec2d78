//! Those who wait for one budget.

use std::{collections::VecDeque, sync::Arc};

use crate::{
    algorithm::State,
    budget::{Charge, Place},
    demand::Demand,
    limit::Limit,
    rules::Rules,
};

/// Which line: a limit, by its address, and one of its budgets. Those in line keep the limit alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct LineId {
    limit: usize,
    pub(super) place: Place,
}

/// Orders all tickets of the process, and so all lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Number(pub(super) u64);

pub(super) struct Line {
    limit: Arc<Limit>,
    place: Place,
    queue: VecDeque<Waiter>,
    /// Permits that those in line ask for.
    waiting: u64,
    /// How the budget will stand once all in line are admitted; `None`: to be worked out anew.
    pub(super) end: Option<Forecast>,
}

struct Waiter {
    number: Number,
    cost: u32,
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
    pub(super) fn new(limit: Arc<Limit>, place: Place, now: u64) -> Self {
        let end = Some(Forecast::of(&limit, place, now));
        Self { limit, place, queue: VecDeque::new(), waiting: 0, end }
    }

    /// Puts a ticket behind all others.
    pub(super) fn push(&mut self, number: Number, demand: &Demand) {
        self.queue.push_back(Waiter { number, cost: demand.cost });
        self.waiting += u64::from(demand.cost);
    }

    /// Takes a ticket out.
    pub(super) fn remove(&mut self, number: Number) {
        // The queue is in the order of the numbers.
        if let Ok(place) = self.queue.binary_search_by_key(&number, |waiter| waiter.number)
            && let Some(waiter) = self.queue.remove(place)
        {
            self.waiting -= u64::from(waiter.cost);
        }
    }

    pub(super) fn first(&self) -> Option<Number> {
        self.queue.front().map(|waiter| waiter.number)
    }

    /// Those in line, in their order.
    pub(super) fn numbers(&self) -> impl Iterator<Item = Number> {
        self.queue.iter().map(|waiter| waiter.number)
    }

    pub(super) fn len(&self) -> usize {
        self.queue.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Permits that those in line ask for.
    pub(super) fn waiting(&self) -> u64 {
        self.waiting
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
        self.rules.ready_at(&self.state, now.max(self.latest), demand)
    }

    /// A call joins the line, to be admitted then, its turn having come at `turn`.
    pub(super) fn append(&mut self, admitted_at: Option<u64>, turn: u64, demand: &Demand) {
        let Some(at) = admitted_at else {
            self.blocked = true;
            return;
        };
        // It was asked whether that is possible.
        _ = self.rules.charge(&mut self.state, at, turn, demand);
        self.latest = at;
    }

    /// Whether it still holds once the first in line is admitted, who was foreseen for another time perhaps.
    pub(super) fn holds_after(&self, foreseen: u64, now: u64, charge: &Charge) -> bool {
        self.rules.plan.counts_as_foreseen(foreseen, now, charge.at, &charge.trace)
    }
}
