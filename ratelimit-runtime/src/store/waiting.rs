//! Waiting for a budget in a store.

use std::{
    future::poll_fn,
    sync::Arc,
    task::Poll,
    time::{Duration, Instant},
};

use ratelimit_spec::Algorithm;

use super::{
    StoreCall,
    call::call,
    decision::{Standing, attempt, decide_async, denial, is_queue},
    exclusive::Exclusive,
    line::{Place, hasten, waiting},
};
use crate::{
    claim::{Claim, Role},
    clock::nanos,
    decision::count,
    denied::{RateLimited, Reason},
    key::Key,
    limit::Limit,
    lines::Terms,
    park::block_on_future,
    permit::Permit,
    timer::Alarm,
    wait::{Waiting, block_on},
};

/// Waits for a call's turn, wherever its budgets are.
pub(crate) async fn acquire<const N: usize>(
    claims: [Claim<'_>; N],
    terms: Terms,
) -> Result<Permit<'_>, RateLimited> {
    if claims.iter().any(Claim::is_stored) {
        Exclusive::new(wait(claims, terms)).await
    } else {
        Waiting::new(claims, terms).await
    }
}

/// Waits for a call's turn, and blocks the thread until then.
pub(crate) fn acquire_blocking<const N: usize>(
    claims: [Claim<'_>; N],
    terms: Terms,
) -> Result<Permit<'_>, RateLimited> {
    if claims.iter().any(Claim::is_stored) {
        block_on_future(wait(claims, terms))
    } else {
        block_on(Waiting::new(claims, terms))
    }
}

async fn wait<const N: usize>(mut claims: [Claim<'_>; N], terms: Terms) -> Result<Permit<'_>, RateLimited> {
    for claim in &mut claims {
        claim.demand.waits = true;
    }
    let began = Instant::now();
    let left = || terms.at_most.map(|at_most| at_most.saturating_sub(began.elapsed()));
    let nobody_waits = in_line(&claims).all(|(limit, key, _)| waiting(limit, key).is_none());
    if nobody_waits {
        let decision = attempt(&mut claims, Standing::Passing).await;
        match decision {
            Err(limited) if may_wait(&limited, left()) => claims.iter_mut().for_each(Claim::renew),
            decision => return finish(&claims, bounded(decision, left())),
        }
    }
    let Some(place) = Place::take(in_line(&claims), terms.max_waiters) else {
        return match decide_async(&mut claims).await {
            Ok(()) => Ok(Permit::of(&claims)),
            Err(limited) if limited.reason == Reason::Exceeded => {
                Err(RateLimited { reason: Reason::QueueFull, ..limited })
            }
            Err(limited) => Err(limited),
        };
    };
    for claim in claims.iter().filter(|claim| claim.role == Role::Stored) {
        claim.limit.counters.waited();
    }
    if let Some(limited) = hopeless(&claims, &place, left()).await {
        claims.iter_mut().filter(|claim| claim.role == Role::Stored).for_each(|claim| claim.refuses = true);
        return finish(&claims, Err(limited));
    }
    loop {
        first(&place, left()).await;
        claims.iter_mut().for_each(Claim::renew);
        // Asked for before the store is: what changes meanwhile is not missed.
        place.was_hastened();
        let decision = attempt(&mut claims, Standing::FirstInLine).await;
        match decision {
            Err(limited) if may_wait(&limited, left()) => {
                let retry_after = Duration::from_nanos(limited.retry_after.unwrap_or(0));
                pause(&place, retry_after).await;
            }
            decision => return finish(&claims, bounded(decision, left())),
        }
    }
}

/// The budgets in stores that a call may have to wait for.
fn in_line<'a, 'c>(
    claims: &'c [Claim<'a>],
) -> impl Iterator<Item = (&'a Arc<Limit>, Key, u32)> + Clone + use<'a, 'c> {
    let waits = |claim: &&Claim<'_>| claim.role == Role::Stored && claim.demand.cost > 0;
    claims.iter().filter(waits).map(|claim| (claim.limit, claim.key, claim.demand.cost))
}

fn may_wait(limited: &RateLimited, left: Option<Duration>) -> bool {
    let retry_after = limited.retry_after.filter(|_| limited.reason == Reason::Exceeded);
    retry_after.is_some_and(|retry_after| left.is_none_or(|left| retry_after <= nanos(left)))
}

/// A denial that time would mend was one for want of time.
fn bounded(decision: Result<(), RateLimited>, left: Option<Duration>) -> Result<(), RateLimited> {
    decision.map_err(|limited| match limited {
        RateLimited { reason: Reason::Exceeded, retry_after: Some(_), .. } if left.is_some() => {
            RateLimited { reason: Reason::WaitTooLong, ..limited }
        }
        limited => limited,
    })
}

fn finish<'a>(claims: &[Claim<'a>], decision: Result<(), RateLimited>) -> Result<Permit<'a>, RateLimited> {
    count(claims, &decision);
    decision.map(|()| Permit::of(claims))
}

/// Whether those before it leave a call no chance to be admitted in time, or no room in a queue.
async fn hopeless(claims: &[Claim<'_>], place: &Place<'_>, left: Option<Duration>) -> Option<RateLimited> {
    let ahead = place.ahead();
    for claim in claims.iter().filter(|claim| claim.role == Role::Stored) {
        let spec = claim.limit.spec();
        let (key, length) = claim.key.bytes();
        let call = call(claim.limit, &spec, &key[..length], &claim.demand);
        let queues = is_queue(claim);
        let left = if queues { Some(Duration::ZERO) } else { left.filter(|_| ahead > 0) };
        let Some(left) = left else { continue };
        let (cost, later) = if queues {
            (call.cost.saturating_add(ahead).min(call.capacity.saturating_add(1)), Duration::ZERO)
        } else {
            behind(&call, claim.demand.is_for_whole_budget(), ahead)
        };
        let Ok(store) = claim.limit.stored()?.store() else { continue };
        let Ok(outlook) = store.look(&call.with_cost(cost)).await else {
            hasten(claim.limit, claim.key);
            continue;
        };
        let ready_in = outlook.ready_in.saturating_add(later);
        if ready_in > left {
            let remaining = call.capacity.saturating_sub(outlook.used);
            let reason = if queues { Reason::Exceeded } else { Reason::WaitTooLong };
            return Some(denial(claim.limit, call.spec, reason, Some(ready_in), remaining));
        }
    }
    None
}

/// What has to be free for a call behind so many permits, and by how much later than that its turn comes at least: a whole
/// budget is used up once in a window.
fn behind(call: &StoreCall<'_>, is_for_whole_budget: bool, ahead: u32) -> (u32, Duration) {
    let StoreCall { spec, capacity, .. } = *call;
    let total = call.cost.saturating_add(ahead);
    // Those before it may use another part of the budget, and come sooner.
    if total <= capacity || capacity == 0 || !is_for_whole_budget {
        return (total.min(capacity), Duration::ZERO);
    }
    let (rounds, rest) = ((total - 1) / capacity, (total - 1) % capacity + 1);
    match spec.algorithm() {
        Algorithm::SlidingWindow | Algorithm::SlidingLog => (rest, spec.window().saturating_mul(rounds)),
        // Two of its windows may touch.
        Algorithm::FixedWindow => (rest, spec.window().saturating_mul(rounds - 1)),
        Algorithm::TokenBucket | Algorithm::LeakyBucket | Algorithm::Gcra => {
            (capacity, spec.window().saturating_mul(total - capacity) / spec.max().max(1))
        }
    }
}

/// Until the call is first in its lines, or its time is over.
async fn first(place: &Place<'_>, left: Option<Duration>) {
    let end = left.map(|left| Instant::now() + left);
    let mut alarm = None;
    poll_fn(|context| {
        if place.is_first(context.waker()) || end.is_some_and(|end| Instant::now() >= end) {
            return Poll::Ready(());
        }
        alarm = end.map(|end| Alarm::new(end.saturating_duration_since(Instant::now()), context.waker()));
        Poll::Pending
    })
    .await;
    drop(alarm);
}

/// Until so much time has passed, or something has changed.
async fn pause(place: &Place<'_>, time: Duration) {
    let end = Instant::now().checked_add(time);
    let mut alarm = None;
    poll_fn(|context| {
        place.is_first(context.waker());
        if place.was_hastened() || end.is_some_and(|end| Instant::now() >= end) {
            return Poll::Ready(());
        }
        alarm = end.map(|end| Alarm::new(end.saturating_duration_since(Instant::now()), context.waker()));
        Poll::Pending
    })
    .await;
    drop(alarm);
}
