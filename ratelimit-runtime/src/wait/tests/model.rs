//! The lines as they are promised to be: a list of calls in the order of their coming, moved on whenever anything happens.

use std::sync::Arc;

use crate::{
    algorithm::{Charged, State},
    budgets::Budgets,
    demand::Demand,
    rules::Rules,
};
use ratelimit_spec::LimitSpec;

pub(super) struct Model<const N: usize> {
    budgets: [Budget; N],
    /// In the order of their coming.
    pub(super) calls: Vec<Call<N>>,
}

#[derive(Clone)]
struct Budget {
    rules: Arc<Rules>,
    state: State,
    life: u32,
    enforced: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Call<const N: usize> {
    pub(super) id: usize,
    pub(super) costs: [u32; N],
    pub(super) deadline: Option<u64>,
    /// Since when it waits; `None`: it does not.
    since: Option<u64>,
    /// Where it still waits.
    waits_at: [bool; N],
}

/// What a call was charged at each budget: how, how much, and in which life of it.
pub(super) type Charges<const N: usize> = [Option<(Charged, u32, u32)>; N];

/// What should become of a call that comes.
#[derive(Debug, PartialEq)]
pub(super) enum Outlook {
    Never,
    At(u64),
}

impl Budget {
    fn capacity(&self) -> u32 {
        Demand::new(0).capacity(&self.rules.spec)
    }
}

impl<const N: usize> Call<N> {
    fn demand(&self, number: usize) -> Demand {
        Demand { waits: self.since.is_some(), ..Demand::new(self.costs[number]) }
    }

    pub(super) fn waits_at(&self, number: usize) -> bool {
        self.waits_at[number]
    }
}

impl<const N: usize> Model<N> {
    pub(super) fn new(specs: [LimitSpec; N], kinds: [&Budgets; N]) -> Self {
        let budgets = std::array::from_fn(|number| {
            let rules = Rules::new(specs[number], kinds[number].grain(), 0);
            Budget { state: rules.plan.fresh(), rules: Arc::new(rules), life: 0, enforced: true }
        });
        Self { budgets, calls: Vec::new() }
    }

    pub(super) fn call(
        &self,
        id: usize,
        costs: [u32; N],
        since: Option<u64>,
        deadline: Option<u64>,
    ) -> Call<N> {
        let waits_at = std::array::from_fn(|number| self.budgets[number].enforced && costs[number] > 0);
        Call { id, costs, deadline, since, waits_at }
    }

    pub(super) fn can_never_be_admitted(&self, call: &Call<N>) -> bool {
        (0..N).any(|number| call.waits_at[number] && call.costs[number] > self.budgets[number].capacity())
    }

    pub(super) fn queue_at(&self, number: usize) -> usize {
        self.calls.iter().filter(|call| call.waits_at[number]).count()
    }

    /// When a call may stand in line.
    pub(super) fn joins_at(&self, call: &Call<N>, now: u64) -> u64 {
        let joins_at = |number: usize| {
            let Budget { rules, state, .. } = &self.budgets[number];
            let in_line = self.calls.iter().filter(|call| call.waits_at[number]);
            let waiting = in_line.map(|call| u64::from(call.costs[number])).sum();
            rules.joins_at(state, now, waiting, &call.demand(number)).unwrap()
        };
        (0..N).filter(|number| call.waits_at[*number]).map(joins_at).max().unwrap_or(now)
    }

    /// Admits all who are first wherever they wait and find room there, and gives what they were charged.
    pub(super) fn move_on(&mut self, now: u64) -> Vec<(usize, Charges<N>)> {
        let mut admitted = Vec::new();
        let mut index = 0;
        while index < self.calls.len() {
            let call = self.calls[index].clone();
            if self.is_first(index) && self.admits(&call, now) {
                self.calls.remove(index);
                admitted.push((call.id, self.charge(&call, now)));
                index = 0;
            } else {
                index += 1;
            }
        }
        admitted
    }

    /// When each would be admitted if nothing else happened, and those who would be too late left.
    pub(super) fn forecast(&self, now: u64, comer: Call<N>) -> (Vec<usize>, Outlook) {
        let mut world = Self { budgets: self.budgets.clone(), calls: self.calls.clone() };
        // Who finds room now is admitted, even if the clock has jumped over its deadline.
        world.move_on(now);
        let last = comer.id;
        let mut calls = world.calls.clone();
        calls.push(comer);
        let mut in_vain = Vec::new();
        loop {
            let times = world.play(now, calls.clone());
            let late = calls.iter().position(|call| {
                call.id != last
                    && (self.can_never_be_admitted(call)
                        || call.deadline.is_some_and(|deadline| {
                            times.iter().all(|(id, at)| *id != call.id || *at > deadline.max(now))
                        }))
            });
            let Some(late) = late else {
                let time = times.iter().find(|(id, _)| *id == last);
                return (in_vain, time.map_or(Outlook::Never, |(_, at)| Outlook::At(*at)));
            };
            in_vain.push(calls.remove(late).id);
        }
    }

    fn play(&self, now: u64, calls: Vec<Call<N>>) -> Vec<(usize, u64)> {
        let mut world = Self { budgets: self.budgets.clone(), calls };
        let mut now = now;
        let mut times = Vec::new();
        loop {
            times.extend(world.move_on(now).into_iter().map(|(id, _)| (id, now)));
            let firsts = (0..world.calls.len()).filter(|index| world.is_first(*index));
            let next = firsts.filter_map(|index| world.ready_at(&world.calls[index], now)).min();
            match next {
                Some(next) => now = next,
                None => return times,
            }
        }
    }

    fn is_first(&self, index: usize) -> bool {
        let (before, call) = (&self.calls[..index], &self.calls[index]);
        (0..N).all(|number| !call.waits_at[number] || before.iter().all(|other| !other.waits_at[number]))
    }

    fn admits(&self, call: &Call<N>, now: u64) -> bool {
        self.ready_at(call, now) == Some(now)
    }

    fn ready_at(&self, call: &Call<N>, now: u64) -> Option<u64> {
        (0..N).filter(|number| call.waits_at[*number]).try_fold(now, |latest, number| {
            let Budget { rules, state, .. } = &self.budgets[number];
            Some(latest.max(rules.ready_at(state, now, &call.demand(number))?))
        })
    }

    fn charge(&mut self, call: &Call<N>, now: u64) -> Charges<N> {
        std::array::from_fn(|number| {
            let Budget { rules, state, life, .. } = &mut self.budgets[number];
            call.waits_at[number].then(|| {
                let turn = call.since.unwrap_or(now);
                let charged = rules.charge(state, now, turn, &call.demand(number)).unwrap();
                (charged, call.costs[number], *life)
            })
        })
    }

    pub(super) fn refund(&mut self, charges: &Charges<N>, now: u64) {
        for (budget, charge) in self.budgets.iter_mut().zip(charges) {
            if let Some((charged, cost, life)) = *charge
                && life == budget.life
            {
                budget.rules.plan.refund(&mut budget.state, now, charged.at, cost);
            }
        }
    }

    /// A call was charged, and went through nowhere.
    pub(super) fn undo(&mut self, charges: &Charges<N>, now: u64) {
        for (budget, charge) in self.budgets.iter_mut().zip(charges) {
            if let Some((Charged { at, trace, .. }, cost, life)) = *charge
                && life == budget.life
            {
                budget.rules.plan.undo(&mut budget.state, now, at, &trace, cost);
            }
        }
    }

    pub(super) fn leave(&mut self, id: usize) {
        self.calls.retain(|call| call.id != id);
    }

    pub(super) fn reset(&mut self, number: usize) {
        let budget = &mut self.budgets[number];
        budget.state = budget.rules.plan.fresh();
        budget.life += 1;
    }

    pub(super) fn set_spec(&mut self, number: usize, spec: LimitSpec, kind: &Budgets, now: u64) {
        let budget = &mut self.budgets[number];
        let rules = budget.rules.changed(spec, kind.grain(), now);
        budget.state = rules.plan.convert(budget.state.clone(), &budget.rules.plan, now);
        budget.rules = Arc::new(rules);
    }

    pub(super) fn enforce(&mut self, number: usize, enforced: bool) {
        self.budgets[number].enforced = enforced;
        if !enforced {
            self.calls.iter_mut().for_each(|call| call.waits_at[number] = false);
        }
    }

    pub(super) fn used(&self, number: usize, now: u64) -> u32 {
        self.budgets[number].rules.plan.used(&self.budgets[number].state, now)
    }
}
