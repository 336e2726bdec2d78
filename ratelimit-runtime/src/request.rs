//! What a call asks of its limits, as the expansion hands it over, and the decision where that is plain.

use std::sync::Arc;

use crate::{
    claim::Claim, demand::Demand, denied::RateLimited, key::Key, limit::Limit, store::decide,
    verdict::Verdict,
};

/// What a call asks of one limit, as the expansion hands it over.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    limit: &'a Arc<Limit>,
    /// `None`: the limit has no keys.
    key: Option<Key>,
    /// `None`: the limit does not look at the call.
    demand: Option<Demand>,
}

impl<'a> Request<'a> {
    #[inline]
    pub(crate) fn new(limit: &'a Arc<Limit>, key: Option<Key>, demand: Option<Demand>) -> Self {
        Self { limit, key, demand }
    }

    /// A store decides, and not the budgets here.
    pub(crate) fn is_stored(&self) -> bool {
        self.demand.is_some() && self.limit.stored().is_some()
    }

    /// It asks for one permit, and says nothing else.
    #[inline]
    pub(crate) fn is_for_one_permit(&self) -> bool {
        self.demand.is_some_and(Demand::is_for_one_permit)
    }
}

impl<'a> From<Request<'a>> for Claim<'a> {
    fn from(request: Request<'a>) -> Self {
        let Request { limit, key, demand } = request;
        demand.map_or_else(|| Self::free(limit), |demand| Self::new(limit, key.unwrap_or(Key::NONE), demand))
    }
}

/// Decides about several limits: where each has a permit at hand, each gives it, and the call is admitted. Says whether it
/// was; else nothing is charged, and it has to be looked into.
pub(crate) fn admit_plainly(requests: &[Request<'_>]) -> bool {
    let is_plain = |request: &Request<'_>| request.is_for_one_permit() && request.limit.is_enforced();
    requests.iter().all(is_plain) && are_of_different_limits(requests) && take_all(requests)
}

/// Else a call would be counted more than once at a limit.
fn are_of_different_limits(requests: &[Request<'_>]) -> bool {
    let is_new = |(number, request): (usize, &Request<'_>)| {
        !requests[..number].iter().any(|earlier| Arc::ptr_eq(earlier.limit, request.limit))
    };
    requests.iter().enumerate().all(is_new)
}

fn take_all(requests: &[Request<'_>]) -> bool {
    let Some((Request { limit, key, .. }, others)) = requests.split_first() else { return true };
    let Some(taken) = limit.take_at_hand(key.as_ref()) else { return false };
    let all = take_all(others);
    if !all {
        limit.put_back(key.as_ref(), taken);
    }
    all
}

impl Request<'static> {
    /// Decides about one permit.
    #[inline]
    pub(crate) fn check(&self) -> Result<(), RateLimited> {
        let verdict = match self.key {
            None => self.limit.check(),
            Some(key) => {
                let [first, second, third] = key.words();
                self.limit.check_key(first, second, third)
            }
        };
        match verdict {
            Verdict::Admitted => Ok(()),
            Verdict::Denied { wait } => Err(self.limit.denial(wait)),
            Verdict::Open => check_further(self.limit, self.key),
        }
    }
}

/// Decides about one permit, where that is not plain.
#[inline(never)]
fn check_further(limit: &'static Arc<Limit>, key: Option<Key>) -> Result<(), RateLimited> {
    if limit.is_in_shadow() && limit.take_at_hand(key.as_ref()).is_some() {
        return Ok(());
    }
    let changes = limit.changes();
    let decision = match &key {
        Some(key) => limit.decide_by_key(key),
        None => limit.decide_without_key(),
    };
    let limited = match decision {
        Verdict::Admitted => return Ok(()),
        // Unless the limit is changed meanwhile: then another might have denied.
        Verdict::Denied { wait } => limit.deny_if_still(wait, changes),
        Verdict::Open => None,
    };
    limited.map_or_else(|| decide(&mut [Claim::new(limit, key.unwrap_or(Key::NONE), Demand::new(1))]), Err)
}
