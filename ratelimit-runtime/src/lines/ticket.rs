//! A call that waits: one ticket, in line at every budget that it needs.

use std::{sync::Arc, task::Waker};

use smallvec::SmallVec;

use super::{
    afterwards::Afterwards,
    bell::{Bell, Setting},
    line::{LineId, Number},
};
use crate::{
    budget::{Cause, Charge, Place},
    claim::{Claim, Role},
    demand::Demand,
    denied::{RateLimited, Reason},
    key::Key,
    limit::Limit,
};

pub(super) struct Ticket {
    /// When it came.
    since: u64,
    legs: SmallVec<[Leg; 1]>,
    stands: SmallVec<[Stand; 1]>,
    /// It cannot be denied.
    pub(super) surely: bool,
    /// It is of no use after this instant.
    pub(super) deadline: Option<u64>,
    /// When it will be admitted, as it looked when that was last worked out; `None`: no time can be given.
    pub(super) forecast: Option<u64>,
    /// When its budgets admit it, once it is first in line; `None`: not before something changes.
    pub(super) ready_at: Option<u64>,
    /// When its alarm rings, or its thread looks again by itself; `None`: not at all.
    pub(super) alarm: Option<u64>,
    /// `None` for a thread that is blocked.
    pub(super) bell: Option<Arc<Bell>>,
    decisions: u64,
    pub(super) waker: Option<Waker>,
    pub(super) outcome: Option<Result<(), RateLimited>>,
}

/// One limit of the call, as [`Claim`] has it.
struct Leg {
    limit: Arc<Limit>,
    key: Key,
    demand: Demand,
    role: Role,
    /// Where it stands in line: if it is enforced, and takes something.
    place: Option<Place>,
    charge: Option<Charge>,
}

/// One line in which the ticket stands, and what all of its legs ask there.
pub(super) struct Stand {
    pub(super) limit: Arc<Limit>,
    pub(super) key: Key,
    pub(super) line: LineId,
    pub(super) demand: Demand,
}

impl Ticket {
    /// Opens a line at every budget that it charges, so that nobody passes the ticket from now on.
    pub(super) fn new(claims: &[Claim<'_>], surely: bool, deadline: Option<u64>, now: u64) -> Self {
        let mut legs: SmallVec<[Leg; 1]> = claims.iter().map(|claim| Leg::new(claim, now)).collect();
        let mut stands = SmallVec::<[Stand; 1]>::new();
        for leg in &mut legs {
            let Some(place) = leg.place else { continue };
            let line = LineId::of(&leg.limit, place);
            match stands.iter_mut().find(|stand| stand.line == line) {
                Some(stand) => {
                    stand.demand = stand.demand.and(&leg.demand);
                    // It goes with the first one, and waits for no turn of its own.
                    leg.demand.waits = false;
                }
                None => {
                    stands.push(Stand { limit: leg.limit.clone(), key: leg.key, line, demand: leg.demand });
                }
            }
        }
        Self {
            since: now,
            legs,
            stands,
            surely,
            deadline,
            forecast: None,
            ready_at: None,
            alarm: None,
            bell: None,
            decisions: 0,
            waker: None,
            outcome: None,
        }
    }

    pub(super) fn stands(&self) -> &[Stand] {
        &self.stands
    }

    pub(super) fn lines(&self) -> Vec<LineId> {
        self.stands.iter().map(|stand| stand.line).collect()
    }

    /// Leaves all lines, and gives those it stood in.
    pub(super) fn leave(&mut self) -> Vec<LineId> {
        let lines = self.lines();
        self.stands.clear();
        lines
    }

    /// Why it is of no use to wait until the forecast, if it is not.
    pub(super) fn waits_in_vain(&self, forecast: Option<u64>, now: u64) -> Option<Reason> {
        if self.surely {
            return None;
        }
        if self.stands.iter().any(Stand::can_never_be_admitted) {
            return Some(Reason::CostExceedsCapacity);
        }
        // What is due now is not late because its alarm is.
        let in_time = self.deadline.is_none_or(|deadline| forecast.is_some_and(|at| at <= deadline.max(now)));
        (!in_time).then_some(Reason::WaitTooLong)
    }

    /// The denial that it comes to, by the limit that frees last.
    pub(super) fn denial(&self, reason: Reason, ready_at: Option<u64>, now: u64) -> Option<RateLimited> {
        let ready_at_of = |stand: &Stand| stand.limit.budgets.ready_at(stand.line.place, now, &stand.demand);
        // Never is later than any time.
        let last = self.stands.iter().max_by_key(|stand| ready_at_of(stand).unwrap_or(u64::MAX))?;
        Some(last.denial(reason, ready_at, now))
    }

    /// Charges every budget at which it is first in line, or none.
    pub(super) fn charge(&mut self, now: u64) -> Result<(), Cause> {
        let turn = self.foreseen_turn().min(now);
        for number in 0..self.legs.len() {
            if let Err(cause) = self.legs[number].charge(now, turn) {
                self.legs[..number].iter_mut().for_each(|leg| _ = leg.undo(now));
                return Err(cause);
            }
        }
        for leg in self.legs.iter_mut().filter(|leg| leg.role == Role::Shadow) {
            // Nobody waits for it.
            let demand = Demand { waits: false, ..leg.demand };
            leg.charge = leg.limit.budgets.charge(&leg.key, now, &demand).ok();
        }
        Ok(())
    }

    /// Since when it has waited for nothing but those before it. In one line that is since it came; in several it may have
    /// been held up in another one, up to when it is admitted.
    pub(super) fn foreseen_turn(&self) -> u64 {
        if self.stands.len() == 1 { self.since } else { self.forecast.unwrap_or(u64::MAX) }
    }

    /// What it was charged in one of its lines: the first charge, if there are several.
    pub(super) fn charge_in(&self, line: LineId) -> Option<&Charge> {
        self.legs.iter().find(|leg| leg.line() == Some(line))?.charge.as_ref()
    }

    /// Takes back what was charged, and gives the lines that may move on by that.
    pub(super) fn undo(&mut self, now: u64) -> Vec<LineId> {
        self.legs.iter_mut().flat_map(|leg| leg.undo(now)).collect()
    }

    /// The first instant at which every budget admits it; `None`: not before something changes.
    pub(super) fn admissible_at(&self, now: u64) -> Option<u64> {
        self.stands.iter().try_fold(now, |latest, stand| {
            let ready_at = stand.limit.budgets.ready_at(stand.line.place, now, &stand.demand)?;
            Some(latest.max(ready_at))
        })
    }

    /// Its turn comes before its alarm rings.
    pub(super) fn must_look_earlier(&self) -> bool {
        self.ready_at.is_some_and(|ready_at| self.alarm.is_none_or(|alarm| ready_at < alarm))
    }

    /// Gives it a bell, which goes by the clock of its first limit.
    pub(super) fn hang_bell(&mut self, number: Number) {
        self.bell = self.legs.first().map(|leg| Bell::new(&leg.limit, number));
    }

    /// Has its alarm ring at `at`, but never without the time having moved; `None`: not at all.
    pub(super) fn set_alarm(&mut self, now: u64, at: Option<u64>, later: &mut Afterwards) {
        self.alarm = at.map(|at| at.max(now + 1));
        self.decisions += 1;
        if let (Some(at), Some(bell)) = (self.alarm, &self.bell) {
            later.set(Setting { bell: bell.clone(), decision: self.decisions, now, at });
        }
    }

    /// The limit of a line is enforced no more: the ticket is not in it any longer.
    pub(super) fn release(&mut self, line: LineId, role: Role) {
        self.stands.retain(|stand| stand.line != line);
        for leg in self.legs.iter_mut().filter(|leg| leg.line() == Some(line)) {
            (leg.role, leg.place) = (role, None);
        }
    }

    /// Tells the call how each of its limits took part, and what it was charged.
    pub(super) fn hand_over(&self, claims: &mut [Claim<'_>]) {
        for (claim, leg) in claims.iter_mut().zip(&self.legs) {
            claim.role = leg.role;
            claim.charge = leg.charge;
        }
    }
}

impl Stand {
    pub(super) fn can_never_be_admitted(&self) -> bool {
        self.demand.cost > self.demand.capacity(&self.limit.spec())
    }

    pub(super) fn denial(&self, reason: Reason, ready_at: Option<u64>, now: u64) -> RateLimited {
        self.limit.counters.denied();
        let (limit, remaining) = self.limit.budgets.look(&self.key, now, |rules, state, now| {
            (self.demand.spec(&rules.spec), rules.remaining(state, now, &self.demand))
        });
        let retry_after = match reason {
            Reason::CostExceedsCapacity => None,
            _ => ready_at.map(|ready_at| self.limit.retry_after(ready_at.saturating_sub(now))),
        };
        RateLimited { subject: self.limit.subject(limit), reason, retry_after, remaining }
    }
}

impl Leg {
    fn new(claim: &Claim<'_>, now: u64) -> Self {
        let Claim { limit, key, demand, .. } = claim;
        // A change of mode finds a ticket that is in the room. It may have come before that.
        let role = claim.role_now();
        // A cost of 0 only looks, and waits for nobody.
        let stands = role == Role::Enforced && demand.cost > 0;
        let place = stands.then(|| limit.budgets.open_line(key, now));
        Self { limit: Arc::clone(limit), key: *key, demand: *demand, role, place, charge: None }
    }

    fn line(&self) -> Option<LineId> {
        self.place.map(|place| LineId::of(&self.limit, place))
    }

    fn charge(&mut self, now: u64, turn: u64) -> Result<(), Cause> {
        let Self { limit, key, demand, .. } = self;
        let charged = match self.place {
            Some(place) => limit.budgets.charge_first(place, now, turn, demand),
            None if self.role == Role::Enforced => Some(limit.budgets.charge(key, now, demand)),
            None => None,
        };
        let charge = charged.transpose().map_err(|refusal| refusal.cause)?;
        self.charge = charge.map(|charge| charge.of_key(*key));
        Ok(())
    }

    fn undo(&mut self, now: u64) -> Vec<LineId> {
        let Some(charge) = self.charge.take() else { return Vec::new() };
        if charge.counted {
            self.limit.counters.withdrawn(1);
        }
        let refunded = self.limit.budgets.undo(&charge, now);
        refunded.queued.iter().map(|place| LineId::of(&self.limit, *place)).collect()
    }
}
