//! The one decision about a call, at all of its limits in this process.

use std::slice;

use crate::{
    claim::{Claim, Refused, Role},
    demand::Demand,
    denied::RateLimited,
    lines,
    outlook::Outlook,
    store,
};

/// Decides about a call at the limits of this process: every one admits it and is charged, or none is charged.
///
/// Limits are charged one by one, and given back if a later one refuses: in between, others see less room, never more.
pub(crate) fn decide_together(claims: &mut [Claim<'_>]) -> Result<(), RateLimited> {
    let first = charge_enforced(claims);
    conclude(claims, first)
}

/// Decides about a call at one limit, which needs nothing of what several do. Expects it to be enforced.
pub(crate) fn decide_alone(claim: &mut Claim<'_>) -> Result<(), RateLimited> {
    match claim.charge_alone() {
        Ok(()) => {
            claim.count_admission();
            Ok(())
        }
        refused => conclude(slice::from_mut(claim), refused),
    }
}

fn conclude(claims: &mut [Claim<'_>], first: Result<(), Refused>) -> Result<(), RateLimited> {
    let decision = settle(claims, first);
    count(claims, &decision);
    decision
}

/// [`decide_together`], but nothing is counted.
pub(crate) fn decide_here(claims: &mut [Claim<'_>]) -> Result<(), RateLimited> {
    let first = charge_enforced(claims);
    settle(claims, first)
}

/// How a limit of this process stands towards the call, if it could deny it.
pub(crate) fn outlook_here(claims: &[Claim<'_>], number: usize) -> Option<RateLimited> {
    let claim = &claims[number];
    let outlook = (claim.role == Role::Enforced).then(|| Outlook::of_claim(claims, number))?;
    (outlook.retry_after != Some(0)).then(|| outlook.limited(claim.limit))
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
        if lines::charge_if_nobody_waits(claims) {
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
    last.limited(claims[denying].limit)
}

/// Counts a decision at each limit that it concerns.
pub(crate) fn count(claims: &[Claim<'_>], decision: &Result<(), RateLimited>) {
    match decision {
        Ok(()) => count_admission(claims),
        Err(_) => count_denial(claims),
    }
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
fn count_denial(claims: &[Claim<'_>]) {
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

impl Claim<'_> {
    pub(crate) fn undo(&mut self) {
        if let Some(charge) = self.charge.take() {
            self.limit.withdraw(&charge);
        }
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
                Err(Outlook::of_refusal(self, &refused).limited(self.limit))
            }
        }
    }
}
