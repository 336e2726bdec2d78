//! What the attribute expands to.

use std::{any::Any, time::Duration};

pub use inventory;

use crate::{LazyKeyedLimiter, LazyLimiter, Permit, RateLimitKey, RateLimited};
use crate::{
    claim::Claim,
    demand::Demand,
    keyed::KeyedLimiter,
    limiter::Limiter,
    lines::Terms,
    request::admit_plainly,
    store::{self, Exclusive, decide},
};
pub use crate::{
    declared::Declared,
    key::Key,
    registry::Registered,
    request::Request,
    returning::{Returning, call},
};

/// Encodes a key. What is left borrows nothing.
#[must_use]
#[inline]
pub fn key<K: RateLimitKey + ?Sized>(key: &K) -> Key {
    Key::of(key)
}

/// Encodes a key for a limit with a store.
#[must_use]
#[inline]
pub fn key_for_store<K: RateLimitKey + ?Sized>(key: &K) -> Key {
    Key::for_store(key)
}

/// Encodes a key for a limiter that several functions share, which may have a store or not.
#[must_use]
#[inline]
pub fn key_for<S: Any, K: RateLimitKey + ?Sized>(limiter: &'static S, key: &K) -> Key {
    // That it is a limiter with keys is checked where it is asked, with a message of its own.
    match (limiter as &dyn Any).downcast_ref::<LazyKeyedLimiter>() {
        Some(limiter) => limiter.limit().key(key),
        None => Key::of(key),
    }
}

/// What one call asks of one limit. `K` is [`Key`] or [`NoKey`].
#[derive(Clone, Copy)]
pub struct Ask<K> {
    /// `None`: `when` was `false`.
    demand: Option<(K, Demand)>,
}

/// The key of calls that have none.
#[derive(Clone, Copy)]
pub struct NoKey;

impl Ask<NoKey> {
    /// A call without a key.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "part of an expansion, not of an interface")]
    #[inline]
    pub fn new() -> Self {
        Self { demand: Some((NoKey, Demand::new(1))) }
    }
}

impl Ask<Key> {
    /// A call with a key.
    #[must_use]
    #[inline]
    pub fn of(key: Key) -> Self {
        Self { demand: Some((key, Demand::new(1))) }
    }
}

impl<K> Ask<K> {
    /// A call that is not limited.
    #[must_use]
    #[inline]
    pub fn unlimited() -> Self {
        Self { demand: None }
    }

    /// Permits that the call takes; 1 unless said otherwise.
    #[must_use]
    #[inline]
    pub fn cost(self, cost: u32) -> Self {
        self.with(|demand| demand.cost = cost)
    }

    /// The call's own `max`.
    #[must_use]
    #[inline]
    pub fn max(self, max: u32) -> Self {
        self.with(|demand| demand.max = Some(max))
    }

    /// The share of the budget that the call may use.
    #[must_use]
    #[inline]
    pub fn share(self, share: f64) -> Self {
        self.with(|demand| demand.share = share)
    }

    #[inline]
    fn with(mut self, set: impl FnOnce(&mut Demand)) -> Self {
        if let Some((_, demand)) = &mut self.demand {
            set(demand);
        }
        self
    }
}

/// A limiter for calls without a key. A trait apart from [`Keyed`], so that each has a message that is true.
#[diagnostic::on_unimplemented(
    message = "this limiter has a budget for each key, and the call has no `key`",
    label = "needs a key",
    note = "write `key = ...` beside `limiter`, or make the limiter a `LazyLimiter` by `limiter!` without `keyed`"
)]
pub trait Unkeyed {
    /// Joins the limiter and what is asked of it.
    fn claim(&'static self, ask: Ask<NoKey>) -> Request<'static>;
}

/// A limiter for calls with a key.
#[diagnostic::on_unimplemented(
    message = "this limiter has one budget for all calls, and takes no `key`",
    label = "takes no key",
    note = "leave `key` out, or make the limiter a `LazyKeyedLimiter` by `limiter!(keyed, ...)`"
)]
pub trait Keyed {
    /// Joins the limiter and what is asked of it.
    fn claim(&'static self, ask: Ask<Key>) -> Request<'static>;
}

impl Unkeyed for Limiter {
    #[inline]
    fn claim(&'static self, ask: Ask<NoKey>) -> Request<'static> {
        match ask.demand {
            Some((NoKey, demand)) => Request::new(self.limit(), None, Some(demand)),
            None => Request::new(self.limit(), None, None),
        }
    }
}

impl Keyed for KeyedLimiter {
    #[inline]
    fn claim(&'static self, ask: Ask<Key>) -> Request<'static> {
        match ask.demand {
            Some((key, demand)) => Request::new(self.limit(), Some(key), Some(demand)),
            None => Request::new(self.limit(), None, None),
        }
    }
}

impl Unkeyed for Declared<Limiter> {
    #[inline]
    fn claim(&'static self, ask: Ask<NoKey>) -> Request<'static> {
        self.limiter().claim(ask)
    }
}

impl Keyed for Declared<KeyedLimiter> {
    #[inline]
    fn claim(&'static self, ask: Ask<Key>) -> Request<'static> {
        self.limiter().claim(ask)
    }
}

impl Unkeyed for LazyLimiter {
    #[inline]
    fn claim(&'static self, ask: Ask<NoKey>) -> Request<'static> {
        (**self).claim(ask)
    }
}

impl Keyed for LazyKeyedLimiter {
    #[inline]
    fn claim(&'static self, ask: Ask<Key>) -> Request<'static> {
        (**self).claim(ask)
    }
}

/// Joins a limiter and what a call without a key asks of it.
#[must_use]
#[inline]
pub fn claim<S: Unkeyed + ?Sized>(source: &'static S, ask: Ask<NoKey>) -> Request<'static> {
    source.claim(ask)
}

/// Joins a limiter and what a call with a key asks of it.
#[must_use]
#[inline]
pub fn claim_by_key<S: Keyed + ?Sized>(source: &'static S, ask: Ask<Key>) -> Request<'static> {
    source.claim(ask)
}

/// Decides about a call.
///
/// # Errors
///
/// If a limit denies it; then none is charged.
#[inline(always)]
pub fn check<const N: usize>(requests: [Request<'static>; N]) -> Result<(), RateLimited> {
    // One limit, and one permit of it, is by far the most common.
    if let [request] = requests.as_slice()
        && request.is_for_one_permit()
    {
        return request.check();
    }
    check_all(requests)
}

/// [`check`] in an `async fn`: a store is awaited.
///
/// # Errors
///
/// If a limit denies it; then none is charged.
#[inline(always)]
pub async fn check_async<const N: usize>(requests: [Request<'static>; N]) -> Result<(), RateLimited> {
    if requests.iter().any(Request::is_stored) {
        return Exclusive::new(async move { store::decide_async(&mut requests.map(Claim::from)).await })
            .await;
    }
    check(requests)
}

#[inline(never)]
fn check_all<const N: usize>(requests: [Request<'static>; N]) -> Result<(), RateLimited> {
    if admit_plainly(&requests) {
        return Ok(());
    }
    decide(&mut requests.map(Claim::from))
}

/// Decides about a call that wants its permit.
///
/// # Errors
///
/// If a limit denies it; then none is charged.
pub fn admit<const N: usize>(requests: [Request<'static>; N]) -> Result<Permit<'static>, RateLimited> {
    let mut claims = requests.map(Claim::from);
    decide(&mut claims)?;
    Ok(Permit::of(&claims))
}

/// [`admit`] in an `async fn`: a store is awaited.
///
/// # Errors
///
/// If a limit denies it; then none is charged.
pub async fn admit_async<const N: usize>(
    requests: [Request<'static>; N],
) -> Result<Permit<'static>, RateLimited> {
    if !requests.iter().any(Request::is_stored) {
        return admit(requests);
    }
    Exclusive::new(async move {
        let mut claims = requests.map(Claim::from);
        store::decide_async(&mut claims).await?;
        Ok(Permit::of(&claims))
    })
    .await
}

/// How a call waits.
#[derive(Clone, Copy)]
pub struct Wait {
    /// `None`: not at all.
    terms: Option<Terms>,
}

impl Wait {
    /// As long as it takes, in a line of at most 1024.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "part of an expansion, not of an interface")]
    pub fn new() -> Self {
        let max_waiters = Terms::DEFAULT_MAX_WAITERS;
        Self { terms: Some(Terms { at_most: None, max_waiters, surely: false }) }
    }

    /// Now or not at all: for decisions that are awaited though the call does not wait.
    #[must_use]
    pub fn not() -> Self {
        Self { terms: None }
    }

    /// The longest wait.
    #[must_use]
    pub fn at_most(self, at_most: Duration) -> Self {
        self.with(|terms| terms.at_most = Some(at_most))
    }

    /// The longest line.
    #[must_use]
    pub fn max_waiters(self, max_waiters: u32) -> Self {
        self.with(|terms| terms.max_waiters = max_waiters as usize)
    }

    fn with(mut self, set: impl FnOnce(&mut Terms)) -> Self {
        self.terms.as_mut().map(set);
        self
    }

    /// Any line, and what would be a denial waits as well.
    fn surely() -> Self {
        Self { terms: Some(Terms { at_most: None, max_waiters: usize::MAX, surely: true }) }
    }
}

/// Waits for a call's turn.
///
/// # Errors
///
/// If it would not come in time, or the line is too long.
pub async fn wait<const N: usize>(
    requests: [Request<'static>; N],
    wait: Wait,
) -> Result<Permit<'static>, RateLimited> {
    match wait.terms {
        Some(terms) => store::acquire(requests.map(Claim::from), terms).await,
        None => admit_async(requests).await,
    }
}

/// Waits for the turn of a call that cannot be denied.
pub async fn wait_surely<const N: usize>(requests: [Request<'static>; N]) -> Permit<'static> {
    // Such a call is never denied, so the permit without a charge is never used.
    wait(requests, Wait::surely()).await.unwrap_or_else(|_| unlimited_permit())
}

/// Waits for a call's turn, and blocks the thread until then.
///
/// # Errors
///
/// If it would not come in time, or the line is too long.
pub fn wait_blocking<const N: usize>(
    requests: [Request<'static>; N],
    wait: Wait,
) -> Result<Permit<'static>, RateLimited> {
    match wait.terms {
        Some(terms) => store::acquire_blocking(requests.map(Claim::from), terms),
        None => admit(requests),
    }
}

/// Waits for the turn of a call that cannot be denied, and blocks the thread until then.
#[expect(
    clippy::must_use_candidate,
    reason = "a call waits for its turn, whether or not it wants the permit"
)]
pub fn wait_blocking_surely<const N: usize>(requests: [Request<'static>; N]) -> Permit<'static> {
    wait_blocking(requests, Wait::surely()).unwrap_or_else(|_| unlimited_permit())
}

/// A permit for a function whose attribute has errors: its body gives no second one.
#[must_use]
pub fn unlimited_permit() -> Permit<'static> {
    Permit::unlimited()
}
