//! The decision about a call where a store has a say: the limits of this process first, since their denial costs no
//! round trip, then those in stores, one by one.

use std::{sync::Arc, time::Duration};

use ratelimit_spec::{Algorithm, LimitSpec};

use super::{OnFailure, StoreDoubt, StoreFailure, StoreReceipt, StoreVerdict, call::call, line};
use crate::{
    budget::Charge,
    claim::{Claim, Role},
    clock::nanos,
    decision::{count, decide_alone, decide_here, decide_together, outlook_here},
    denied::{RateLimited, Reason},
    limit::Limit,
    park::block_on_future,
};

/// Decides about a call, wherever its budgets are: every limit admits it and is charged, or none is charged. Blocks the
/// thread for a store.
pub(crate) fn decide(claims: &mut [Claim<'_>]) -> Result<(), RateLimited> {
    match claims {
        [claim] if claim.role == Role::Enforced => decide_alone(claim),
        _ if claims.iter().any(Claim::is_stored) => block_on_future(decide_async(claims)),
        _ => decide_together(claims),
    }
}

/// Decides about a call where a store has a say. Dropped in the middle, nothing is charged.
pub(crate) async fn decide_async(claims: &mut [Claim<'_>]) -> Result<(), RateLimited> {
    let decision = attempt(claims, Standing::Passing).await;
    count(claims, &decision);
    decision
}

/// How a call stands to those in line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// It does not wait, and passes nobody who does.
    Passing,
    FirstInLine,
}

/// Decides about a call. Nothing is counted.
pub(super) async fn attempt(claims: &mut [Claim<'_>], standing: Standing) -> Result<(), RateLimited> {
    let mut charging = Charging { claims, doubts: Vec::new(), admitted: false };
    let Charging { claims, doubts, admitted } = &mut charging;
    decide_here(claims)?;
    for number in 0..claims.len() {
        let claim = &mut claims[number];
        if !claim.is_stored() {
            continue;
        }
        if let Err(limited) = charge(claim, standing, doubts).await
            && claim.role == Role::Stored
        {
            doubts.clear();
            claims.iter_mut().for_each(Claim::undo);
            return Err(last_to_free(claims, number, limited).await);
        }
    }
    for doubt in doubts.iter() {
        doubt.stands();
    }
    *admitted = true;
    Ok(())
}

/// Takes back what has been charged unless the call is admitted: it may be denied, or dropped.
struct Charging<'c, 'a> {
    claims: &'c mut [Claim<'a>],
    /// What stores may have charged that have not answered.
    doubts: Vec<Arc<dyn StoreDoubt>>,
    admitted: bool,
}

impl Drop for Charging<'_, '_> {
    fn drop(&mut self) {
        if !self.admitted {
            self.claims.iter_mut().for_each(Claim::undo);
        }
    }
}

async fn charge(
    claim: &mut Claim<'_>,
    standing: Standing,
    doubts: &mut Vec<Arc<dyn StoreDoubt>>,
) -> Result<(), RateLimited> {
    let (limit, demand) = (claim.limit, claim.demand);
    let spec = limit.spec();
    let (key, length) = claim.key.bytes();
    let call = call(limit, &spec, &key[..length], &demand);
    let (spec, capacity) = (call.spec, call.capacity);
    let limited = |reason, retry_after, remaining| denial(limit, spec, reason, retry_after, remaining);
    if demand.cost > capacity {
        claim.refuses = true;
        return Err(limited(Reason::CostExceedsCapacity, None, 0));
    }
    let store = match limit.stored().map(|stored| stored.store()) {
        Some(Ok(store)) => store,
        Some(Err(failure)) => return by_policy(claim, &failure, spec),
        None => return Ok(()),
    };
    if demand.cost == 0 {
        // A cost of 0 only looks, and is always admitted.
        let outlook = store.look(&call).await;
        claim.store_failed = outlook.is_err();
        claim.charge = outlook.ok().map(|outlook| {
            let remaining = capacity.saturating_sub(outlook.used);
            Charge::in_store(claim.key, 0, remaining, StoreReceipt::default())
        });
        return Ok(());
    }
    if standing == Standing::Passing
        && let Some(ahead) = line::waiting(limit, claim.key)
    {
        claim.refuses = true;
        let behind = call.with_cost(ahead.saturating_add(demand.cost).min(capacity));
        return match store.look(&behind).await {
            Ok(outlook) => {
                // Whoever is first there is about to be admitted, if not later.
                let retry_after = outlook.ready_in.max(Duration::from_micros(1));
                Err(limited(Reason::Exceeded, Some(retry_after), 0))
            }
            Err(failure) => {
                // Those in line go by the policy too, now rather than when they were told to ask again.
                line::hasten(limit, claim.key);
                claim.refuses = false;
                by_policy(claim, &failure, spec)
            }
        };
    }
    // A queue lets a call through once all before it has leaked.
    let in_turn = is_queue(claim).then(|| call.with_capacity(demand.cost));
    match store.charge(in_turn.as_ref().unwrap_or(&call)).await {
        Ok(StoreVerdict::Admitted { remaining, receipt }) => {
            let remaining = if in_turn.is_some() { capacity - demand.cost } else { remaining };
            claim.charge = Some(Charge::in_store(claim.key, demand.cost, remaining, receipt));
            Ok(())
        }
        Ok(StoreVerdict::Denied { remaining, retry_after }) => {
            claim.refuses = true;
            Err(limited(Reason::Exceeded, Some(retry_after), remaining))
        }
        Err(failure) => {
            if failure.on_failure() == OnFailure::Open {
                doubts.extend(failure.doubt.clone());
            }
            by_policy(claim, &failure, spec)
        }
    }
}

/// A leaky bucket is one to calls that wait.
pub(super) fn is_queue(claim: &Claim<'_>) -> bool {
    claim.demand.waits && claim.limit.spec().algorithm() == Algorithm::LeakyBucket
}

/// The store has not decided.
fn by_policy(claim: &mut Claim<'_>, failure: &StoreFailure, spec: LimitSpec) -> Result<(), RateLimited> {
    claim.store_failed = true;
    match failure.on_failure() {
        OnFailure::Open => Ok(()),
        OnFailure::Closed => Err(denial(claim.limit, spec, Reason::StoreUnavailable, None, 0)),
        OnFailure::Local => {
            let decided = claim.charge_share(failure.share());
            if decided.as_ref().is_err_and(|limited| limited.reason == Reason::CostExceedsCapacity) {
                // Too much for a share, and not for the limit, when its store decides again.
                return Err(denial(claim.limit, spec, Reason::StoreUnavailable, None, 0));
            }
            claim.refuses = decided.is_err();
            decided
        }
    }
}

pub(super) fn denial(
    limit: &Limit,
    spec: LimitSpec,
    reason: Reason,
    retry_after: Option<Duration>,
    remaining: u32,
) -> RateLimited {
    RateLimited { subject: limit.subject(spec), reason, retry_after: retry_after.map(nanos), remaining }
}

/// Of all limits that stand against a call that one has denied, the last to free: so that its time holds for all.
async fn last_to_free(claims: &mut [Claim<'_>], denied: usize, limited: RateLimited) -> RateLimited {
    let mut last = limited;
    for number in (0..claims.len()).filter(|number| *number != denied) {
        let other = match claims[number].role {
            Role::Enforced => outlook_here(claims, number),
            Role::Stored => outlook_there(&claims[number]).await,
            Role::Free | Role::Shadow | Role::StoredShadow => None,
        };
        let Some(other) = other else { continue };
        claims[number].refuses = true;
        // Never is later than any time.
        if last.retry_after.is_some() && other.retry_after.is_none_or(|other| Some(other) > last.retry_after)
        {
            last = other;
        }
    }
    last
}

/// How a limit in a store stands towards the call, if it would deny it.
async fn outlook_there(claim: &Claim<'_>) -> Option<RateLimited> {
    let spec = claim.limit.spec();
    let (key, length) = claim.key.bytes();
    let call = call(claim.limit, &spec, &key[..length], &claim.demand);
    if call.cost > call.capacity {
        return Some(denial(claim.limit, call.spec, Reason::CostExceedsCapacity, None, 0));
    }
    let outlook = claim.limit.stored()?.store().ok()?.look(&call).await.ok()?;
    let remaining = call.capacity.saturating_sub(outlook.used);
    let waits = !outlook.ready_in.is_zero();
    waits.then(|| denial(claim.limit, call.spec, Reason::Exceeded, Some(outlook.ready_in), remaining))
}
