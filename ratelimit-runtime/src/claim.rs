//! What one call asks of its limits, and the one decision about them all.

use std::sync::Arc;

use ratelimit_spec::Mode;

use crate::{
    budget::{Cause, Charge, Place, Refusal},
    demand::Demand,
    denied::{RateLimited, Reason},
    key::Key,
    limit::Limit,
    store,
    wait::{self, block_on_future},
};

/// A request while it is decided.
pub(crate) struct Claim<'a> {
    pub(crate) limit: &'a Arc<Limit>,
    pub(crate) key: Key,
    pub(crate) demand: Demand,
    pub(crate) role: Role,
    pub(crate) charge: Option<Charge>,
    /// The limit itself stood against the call when that was denied, or would have been.
    pub(crate) refuses: bool,
    /// The limit's store did not decide.
    pub(crate) store_failed: bool,
}

/// How a limit takes part in a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// The call is not limited here, and not counted.
    Free,
    /// Charges as if it were enforced, and denies nothing.
    Shadow,
    Enforced,
    /// A store decides, after all limits of this process have.
    Stored,
    /// A store is asked as if it decided.
    StoredShadow,
}

impl Role {
    fn under(mode: Mode) -> Self {
        match mode {
            Mode::Enforce => Role::Enforced,
            Mode::Shadow => Role::Shadow,
            Mode::Off => Role::Free,
        }
    }

    fn of(limit: &Limit) -> Self {
        match Self::under(limit.mode()) {
            Role::Enforced if limit.stored().is_some() => Role::Stored,
            Role::Shadow if limit.stored().is_some() => Role::StoredShadow,
            role => role,
        }
    }

    fn is_shadow(self) -> bool {
        matches!(self, Role::Shadow | Role::StoredShadow)
    }
}

impl<'a> Claim<'a> {
    pub(crate) fn new(limit: &'a Arc<Limit>, key: Key, demand: Demand) -> Self {
        Self { limit, key, demand, role: Role::of(limit), charge: None, refuses: false, store_failed: false }
    }

    /// One that the limit does not look at.
    pub(crate) fn free(limit: &'a Arc<Limit>) -> Self {
        Self { role: Role::Free, ..Self::new(limit, Key::NONE, Demand::new(0)) }
    }

    /// A store has a say in it.
    pub(crate) fn is_stored(&self) -> bool {
        matches!(self.role, Role::Stored | Role::StoredShadow)
    }

    /// Begins anew, by what is in force now.
    pub(crate) fn renew(&mut self) {
        if self.role != Role::Free {
            self.role = Role::of(self.limit);
        }
        (self.charge, self.refuses, self.store_failed) = (None, false, false);
    }

    /// Lets this process decide what a store does not: by its share of the limit.
    pub(crate) fn charge_share(&mut self, share: f64) -> Result<(), RateLimited> {
        self.limit.take_share(share);
        let max = self.demand.max.map(|max| store::part(max, share));
        let demand = Demand { max, waits: false, ..self.demand };
        let now = self.limit.precise_now();
        match self.limit.budgets.charge(&self.key, now, &demand) {
            Ok(charge) => {
                self.charge = Some(charge);
                Ok(())
            }
            Err(refusal) => {
                let refused = Refused { claim: 0, refusal, now };
                Err(Outlook::of_refusal(self, &refused).limited(self.limit, None))
            }
        }
    }

    fn is_of_limit(&self, other: &Self) -> bool {
        Arc::ptr_eq(self.limit, other.limit)
    }

    /// Both are charged to one budget.
    fn meets(&self, other: &Self) -> bool {
        let both_charge = self.role == Role::Enforced && other.role == Role::Enforced;
        both_charge && self.is_of_limit(other) && (self.key == other.key || self.place() == other.place())
    }

    fn place(&self) -> Place {
        self.limit.budgets.place_of(&self.key, self.limit.now())
    }

    fn charge(&mut self, number: usize) -> Result<(), Refused> {
        let now = self.limit.now();
        let charged = self.limit.budgets.charge(&self.key, now, &self.demand);
        self.take_note(charged, number, now)
    }

    fn charge_alone(&mut self) -> Result<(), Refused> {
        let now = self.limit.now();
        let charged = self.limit.budgets.charge_alone(&self.key, now, &self.demand);
        self.take_note(charged, 0, now)
    }

    fn take_note(&mut self, charged: Result<Charge, Refusal>, claim: usize, now: u64) -> Result<(), Refused> {
        let charge = charged.map_err(|refusal| Refused { claim, refusal, now })?;
        self.charge = Some(charge);
        Ok(())
    }

    fn count_admission(&self) {
        if self.charge.is_none_or(|charge| !charge.counted) {
            self.limit.counters.allowed();
        }
    }

    /// Its role, if the limit has been relaxed since it was made.
    pub(crate) fn role_now(&self) -> Role {
        match self.role {
            Role::Enforced => Role::of(self.limit),
            role => role,
        }
    }

    pub(crate) fn undo(&mut self) {
        if let Some(charge) = self.charge.take() {
            self.limit.withdraw(&charge);
        }
    }
}

/// Decides about a call: every limit admits it and is charged, or none is charged.
///
/// Limits are charged one by one, and given back if a later one refuses: in between, others see less room, never more.
pub(crate) fn decide(claims: &mut [Claim<'_>]) -> Result<(), RateLimited> {
    let first = match claims {
        // One limit needs nothing of what several do.
        [claim] if claim.role == Role::Enforced => match claim.charge_alone() {
            Ok(()) => {
                claim.count_admission();
                return Ok(());
            }
            Err(refused) => Err(refused),
        },
        _ if claims.iter().any(Claim::is_stored) => return block_on_future(store::decide(claims)),
        _ => charge_enforced(claims),
    };
    let decision = settle(claims, first);
    match decision {
        Ok(()) => count_admission(claims),
        Err(_) => count_denial(claims),
    }
    decision
}

/// Decides about a call at the limits of this process alone. Nothing is counted.
pub(crate) fn decide_here(claims: &mut [Claim<'_>]) -> Result<(), RateLimited> {
    let first = charge_enforced(claims);
    settle(claims, first)
}

/// How a limit of this process stands towards the call, if it could deny it.
pub(crate) fn outlook_here(claims: &[Claim<'_>], number: usize) -> Option<RateLimited> {
    let claim = &claims[number];
    let outlook = (claim.role == Role::Enforced).then(|| Outlook::of_claim(claims, number))?;
    (outlook.retry_after != Some(0)).then(|| outlook.limited(claim.limit, None))
}

/// Admits a call if that is plain. Nothing is counted.
pub(crate) fn charge(claims: &mut [Claim<'_>]) -> bool {
    let admitted = charge_enforced(claims).is_ok();
    if admitted {
        charge_shadows(claims);
    }
    admitted
}

fn settle(claims: &mut [Claim<'_>], mut attempt: Result<(), Refused>) -> Result<(), RateLimited> {
    const ATTEMPTS: u32 = 4;
    let mut attempts = 1;
    loop {
        let Err(refused) = attempt else {
            charge_shadows(claims);
            return Ok(());
        };
        let mut limited = explain(claims, &refused);
        if limited.retry_after != Some(0) {
            return Err(limited);
        }
        // Ready already: since the refusal somebody gave something back, or looked for a place in line and did not stay.
        if wait::charge_if_nobody_waits(claims) {
            return Ok(());
        }
        if attempts == ATTEMPTS {
            claims[refused.claim].refuses = true;
            limited.retry_after = Some(claims[refused.claim].limit.retry_after(1));
            return Err(limited);
        }
        attempts += 1;
        attempt = charge_enforced(claims);
    }
}

struct Refused {
    claim: usize,
    refusal: Refusal,
    now: u64,
}

fn charge_enforced(claims: &mut [Claim<'_>]) -> Result<(), Refused> {
    for number in 0..claims.len() {
        if claims[number].role == Role::Enforced
            && let Err(refused) = claims[number].charge(number)
        {
            claims[..number].iter_mut().for_each(Claim::undo);
            return Err(refused);
        }
    }
    Ok(())
}

fn charge_shadows(claims: &mut [Claim<'_>]) {
    for claim in claims.iter_mut().filter(|claim| claim.role == Role::Shadow) {
        // Nobody waits for it.
        let demand = Demand { waits: false, ..claim.demand };
        claim.charge = claim.limit.budgets.charge(&claim.key, claim.limit.now(), &demand).ok();
    }
}

/// Which limit denies, why, and for how long: of several, the one that frees last, so that the time holds for all.
fn explain(claims: &mut [Claim<'_>], refused: &Refused) -> RateLimited {
    let enforced = |claim: &Claim<'_>| claim.role == Role::Enforced;
    let alone = claims.iter().filter(|claim| enforced(claim)).count() == 1;
    let mut last = if alone {
        Outlook::of_refusal(&claims[refused.claim], refused)
    } else {
        Outlook::of_claim(claims, refused.claim)
    };
    let mut denying = refused.claim;
    claims[refused.claim].refuses = last.retry_after != Some(0);
    for number in 0..claims.len() {
        if number == refused.claim || !enforced(&claims[number]) {
            continue;
        }
        let outlook = Outlook::of_claim(claims, number);
        claims[number].refuses = outlook.retry_after != Some(0);
        if outlook.is_later_than(&last) {
            (denying, last) = (number, outlook);
        }
    }
    last.limited(claims[denying].limit, None)
}

/// How a limit stands towards a call that it, or another one, has refused.
pub(crate) struct Outlook {
    refusal: Refusal,
    /// How long until it would admit the call, behind those in line; `None`: no time can be given.
    retry_after: Option<u64>,
}

impl Outlook {
    fn new(limit: &Limit, refusal: Refusal, now: u64, ready_at: Option<u64>) -> Self {
        let wait = ready_at.map(|ready_at| ready_at.saturating_sub(now));
        Self { refusal, retry_after: wait.map(|wait| limit.retry_after(wait)) }
    }

    fn of_refusal(claim: &Claim<'_>, refused: &Refused) -> Self {
        let Refused { refusal, mut now, .. } = *refused;
        let ready_at = match refusal.cause {
            Cause::CostExceedsCapacity => None,
            Cause::Exceeded { ready_at } => Some(ready_at),
            Cause::Queued { at } => {
                now = claim.limit.precise_now();
                wait::ready_behind(claim.limit, at, &claim.demand, now)
            }
        };
        Self::new(claim.limit, refusal, now, ready_at)
    }

    fn of_claim(claims: &[Claim<'_>], number: usize) -> Self {
        let Claim { limit, key, .. } = &claims[number];
        Self::look(limit, key, &demand_behind_others(claims, number))
    }

    /// Looks without charging anything.
    pub(crate) fn look(limit: &Arc<Limit>, key: &Key, demand: &Demand) -> Self {
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
            ready_at = wait::ready_behind(limit, place, demand, now);
        }
        Self::new(limit, refusal, now, ready_at)
    }

    /// Never is later than any time.
    fn is_later_than(&self, other: &Self) -> bool {
        match (self.retry_after, other.retry_after) {
            (_, None) => false,
            (None, Some(_)) => true,
            (Some(this), Some(other)) => this > other,
        }
    }

    /// The denial that this comes to; for another reason than the limit's own, if one is given.
    pub(crate) fn limited(&self, limit: &Limit, reason: Option<Reason>) -> RateLimited {
        let own = match self.refusal.cause {
            Cause::CostExceedsCapacity => Reason::CostExceedsCapacity,
            Cause::Exceeded { .. } | Cause::Queued { .. } => Reason::Exceeded,
        };
        RateLimited {
            subject: limit.subject(self.refusal.spec),
            reason: reason.unwrap_or(own),
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

/// Counts an admitted call at each of its limits.
pub(crate) fn count_admission(claims: &[Claim<'_>]) {
    for claim in first_of_each_limit(claims, |claim| claim.role != Role::Free) {
        let of_limit = || claims.iter().filter(|other| other.is_of_limit(claim));
        // Those that the budget itself has counted as admitted.
        let counted =
            of_limit().filter(|other| other.charge.is_some_and(|charge| charge.counted)).count() as u64;
        if claim.store_failed {
            claim.limit.counters.store_failed();
        }
        let would_deny = |other: &Claim<'_>| match other.role {
            Role::Shadow => other.charge.is_none(),
            role => role.is_shadow() && other.refuses,
        };
        if of_limit().any(would_deny) {
            claim.limit.counters.shadow_denied();
            claim.limit.counters.withdrawn(counted);
        } else if counted == 0 {
            claim.limit.counters.allowed();
        } else {
            claim.limit.counters.withdrawn(counted - 1);
        }
    }
}

/// Counts a denied call at the limits that stood against it.
pub(crate) fn count_denial(claims: &[Claim<'_>]) {
    let denies = |claim: &Claim<'_>| claim.refuses && !claim.role.is_shadow();
    first_of_each_limit(claims, denies).for_each(|claim| claim.limit.counters.denied());
    let failed = first_of_each_limit(claims, |claim| claim.store_failed);
    failed.for_each(|claim| claim.limit.counters.store_failed());
}

/// Calls are counted, and not how often one of them asks the same limit.
fn first_of_each_limit<'s, 'a>(
    claims: &'s [Claim<'a>],
    counts: impl Fn(&Claim<'a>) -> bool,
) -> impl Iterator<Item = &'s Claim<'a>> {
    claims.iter().enumerate().filter_map(move |(number, claim)| {
        let is_repeated =
            claims[..number].iter().any(|earlier| counts(earlier) && earlier.is_of_limit(claim));
        (counts(claim) && !is_repeated).then_some(claim)
    })
}
