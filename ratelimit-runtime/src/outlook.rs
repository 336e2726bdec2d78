//! How a limit stands towards a call that it, or another one, has refused.

use std::sync::Arc;

use crate::{
    budget::{Cause, Refusal},
    claim::{Claim, Refused},
    demand::Demand,
    denied::{RateLimited, Reason},
    key::Key,
    limit::Limit,
    lines,
};

/// How a limit stands towards a call that it, or another one, has refused.
pub(crate) struct Outlook {
    refusal: Refusal,
    /// How long until it would admit the call, behind those in line; `None`: no time can be given.
    pub(crate) retry_after: Option<u64>,
}

impl Outlook {
    fn new(limit: &Limit, refusal: Refusal, now: u64, ready_at: Option<u64>) -> Self {
        let wait = ready_at.map(|ready_at| ready_at.saturating_sub(now));
        Self { refusal, retry_after: wait.map(|wait| limit.retry_after(wait)) }
    }

    pub(crate) fn of_refusal(claim: &Claim<'_>, refused: &Refused) -> Self {
        let Refused { refusal, mut now, .. } = *refused;
        let ready_at = match refusal.cause {
            Cause::CostExceedsCapacity => None,
            Cause::Exceeded { ready_at } => Some(ready_at),
            Cause::Queued { at } => {
                now = claim.limit.precise_now();
                lines::ready_behind(claim.limit, at, &claim.demand, now)
            }
        };
        Self::new(claim.limit, refusal, now, ready_at)
    }

    pub(crate) fn of_claim(claims: &[Claim<'_>], number: usize) -> Self {
        let Claim { limit, key, .. } = &claims[number];
        Self::look(limit, key, &demand_behind_others(claims, number))
    }

    /// Looks without charging anything.
    fn look(limit: &Arc<Limit>, key: &Key, demand: &Demand) -> Self {
        let now = limit.precise_now();
        let (refusal, mut ready_at) = limit.budgets.look(key, now, |rules, state, now_there| {
            let ready_at = rules.ready_at(state, now_there, demand);
            let cause = match ready_at {
                Some(ready_at) => Cause::Exceeded { ready_at },
                None => Cause::CostExceedsCapacity,
            };
            let remaining = rules.remaining(state, now_there, demand);
            // A clock that lags behind what the budget has seen waits no longer than it takes to be admitted.
            let ready_at = ready_at.map(|at| if at <= now_there { now } else { at });
            (Refusal { cause, spec: demand.spec(&rules.spec), remaining }, ready_at)
        });
        // A cost of 0 passes those in line.
        if demand.cost > 0
            && ready_at.is_some()
            && let Some(place) = limit.budgets.line_of(key, now)
        {
            ready_at = lines::ready_behind(limit, place, demand, now);
        }
        Self::new(limit, refusal, now, ready_at)
    }

    /// Never is later than any time.
    pub(crate) fn is_later_than(&self, other: &Self) -> bool {
        match (self.retry_after, other.retry_after) {
            (_, None) => false,
            (None, Some(_)) => true,
            (Some(this), Some(other)) => this > other,
        }
    }

    /// The denial that this comes to.
    pub(crate) fn limited(&self, limit: &Limit) -> RateLimited {
        let reason = match self.refusal.cause {
            Cause::CostExceedsCapacity => Reason::CostExceedsCapacity,
            Cause::Exceeded { .. } | Cause::Queued { .. } => Reason::Exceeded,
        };
        RateLimited {
            subject: limit.subject(self.refusal.spec),
            reason,
            retry_after: self.retry_after,
            remaining: self.refusal.remaining,
        }
    }
}

/// What a claim asks of its budget once the claims of the same call before it have been charged there.
fn demand_behind_others(claims: &[Claim<'_>], number: usize) -> Demand {
    let claim = &claims[number];
    let mut demand = claim.demand;
    if demand.cost > 0 {
        for earlier in claims[..number].iter().filter(|earlier| claim.meets(earlier)) {
            demand.cost = demand.cost.saturating_add(earlier.demand.cost);
        }
    }
    demand
}
