//! A limiter with one budget.

use std::{fmt, sync::Arc, time::Duration};

use ratelimit_spec::{LimitSpec, SpecError};

use crate::{
    claim::Claim,
    clock::{Clock, TimeSource},
    demand::Demand,
    denied::RateLimited,
    key::Key,
    limit::Limit,
    lines::Terms,
    name::Name,
    permit::Permit,
    store::{acquire, acquire_blocking, decide},
};

/// One budget for all calls.
///
/// For a function of your own, `#[rate_limit]` is shorter; this is what it expands to, for limits that are made while
/// running, or that guard something other than a function.
///
/// A decision takes one short lock. No clock, waker or other code of yours runs under it.
///
/// ```
/// use std::time::Duration;
/// use ratelimit_runtime::{LimitSpec, Limiter};
///
/// let limiter = Limiter::new(LimitSpec::new(100, Duration::from_secs(1)))?;
/// match limiter.try_acquire() {
///     Ok(permit) => println!("admitted, {} more", permit.remaining()),
///     Err(limited) => println!("{limited}"),
/// }
/// # Ok::<(), ratelimit_runtime::SpecError>(())
/// ```
///
/// # In a store
///
/// A limiter made by `limiter!` may have its budget in a [store](crate::install_store). Then `try_acquire`, `try_acquire_n`,
/// `remaining`, `used` and `reset` block their thread until that answers, for at most the store's time limit; `reset` so
/// long for each thousand keys that the store holds. Inside an async runtime too: nothing panics, but the other tasks of
/// that thread stand still meanwhile. What is given back or reset lets those in line go on who wait in the same process.
///
/// In async code, let an `async fn` have the limiter by `#[rate_limit(limiter = ...)]`, or call
/// [`acquire_n`](Self::acquire_n) with a `max_wait` of zero: both await the answer. (To `acquire_n`, a `leaky_bucket` is a
/// queue.) The rest can go to `tokio::task::spawn_blocking`.
pub struct Limiter {
    limit: Arc<Limit>,
    max_waiters: usize,
}

impl Limiter {
    /// A limiter on the system's monotonic clock.
    ///
    /// # Errors
    ///
    /// If the limit [breaks a rule](LimitSpec::validate).
    pub fn new(spec: LimitSpec) -> Result<Self, SpecError> {
        Self::on(spec, TimeSource::system())
    }

    /// A limiter on a clock of your own: a [`ManualClock`](crate::ManualClock) in tests, say.
    ///
    /// # Errors
    ///
    /// If the limit [breaks a rule](LimitSpec::validate).
    pub fn with_clock(spec: LimitSpec, clock: impl Clock) -> Result<Self, SpecError> {
        Self::on(spec, TimeSource::custom(clock))
    }

    fn on(spec: LimitSpec, clock: TimeSource) -> Result<Self, SpecError> {
        spec.validate()?;
        Ok(Self::from_limit(Limit::unkeyed(Name::UNNAMED, spec, clock)))
    }

    pub(crate) fn from_limit(limit: Limit) -> Self {
        Self { limit: Arc::new(limit), max_waiters: Terms::DEFAULT_MAX_WAITERS }
    }

    /// Gives the limiter a name, by which its denials tell what denied. Default: `limiter`.
    #[must_use]
    pub fn with_name(mut self, name: &str) -> Self {
        // Whatever else holds the limit borrows this limiter, and would have kept it from being moved here.
        if let Some(limit) = Arc::get_mut(&mut self.limit) {
            limit.origin.name = Name::shared(name, true);
        }
        self
    }

    /// Sets how many calls may wait in line; the next is denied at once. Default: 1024.
    #[must_use]
    pub fn with_max_waiters(self, max_waiters: usize) -> Self {
        Self { max_waiters, ..self }
    }

    /// Takes one permit, now or not at all.
    ///
    /// Blocks if the limiter is [in a store](Self#in-a-store).
    ///
    /// # Errors
    ///
    /// [`RateLimited`] if none is left, or if others wait in line. Nothing is charged then.
    pub fn try_acquire(&self) -> Result<Permit<'_>, RateLimited> {
        self.try_acquire_n(1)
    }

    /// Takes `cost` permits, all or none, now or not at all. A cost of 0 only looks: it is always admitted.
    ///
    /// Blocks if the limiter is [in a store](Self#in-a-store).
    ///
    /// # Errors
    ///
    /// [`RateLimited`] if so many are not left, or if others wait in line. Nothing is charged then.
    pub fn try_acquire_n(&self, cost: u32) -> Result<Permit<'_>, RateLimited> {
        let mut claims = [self.claim(cost)];
        decide(&mut claims)?;
        Ok(Permit::of(&claims))
    }

    /// Takes one permit, and waits in line for it as long as it takes: first come, first served.
    ///
    /// # Errors
    ///
    /// [`RateLimited`] at once if too many wait already, or if the limit admits nothing (`max` is 0).
    ///
    /// # Cancel safety
    ///
    /// Dropping the future at any point takes nothing and lets the next one in.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use ratelimit_runtime::{LimitSpec, Limiter};
    /// # async fn call() {}
    /// # async fn example(limiter: Limiter) -> Result<(), ratelimit_runtime::RateLimited> {
    /// limiter.acquire().await?;
    /// call().await;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn acquire(&self) -> Result<Permit<'_>, RateLimited> {
        self.acquire_n(1, None).await
    }

    /// Takes `cost` permits, all or none, and waits in line for them: at most `max_wait`, or as long as it takes.
    ///
    /// # Errors
    ///
    /// [`RateLimited`] at once if the call could not be admitted within `max_wait` behind those in line, if too many
    /// wait already, or if the limit can never hold `cost` permits.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future at any point takes nothing and lets the next one in.
    pub async fn acquire_n(&self, cost: u32, max_wait: Option<Duration>) -> Result<Permit<'_>, RateLimited> {
        acquire([self.claim(cost)], self.terms(max_wait)).await
    }

    /// [`acquire_n`](Self::acquire_n) for sync code: blocks the thread, in real time. Sync and async callers stand in one
    /// line.
    ///
    /// # Errors
    ///
    /// As `acquire_n`.
    pub fn acquire_blocking(&self, cost: u32, max_wait: Option<Duration>) -> Result<Permit<'_>, RateLimited> {
        acquire_blocking([self.claim(cost)], self.terms(max_wait))
    }

    /// Permits left now.
    ///
    /// Blocks if the limiter is [in a store](Self#in-a-store).
    #[must_use]
    pub fn remaining(&self) -> u32 {
        self.limit.remaining(&Key::NONE)
    }

    /// Permits in use now, that is in the window.
    ///
    /// Blocks if the limiter is [in a store](Self#in-a-store).
    #[must_use]
    pub fn used(&self) -> u32 {
        self.limit.used(&Key::NONE)
    }

    /// Forgets every charge. Those in line are admitted as far as there is room now.
    ///
    /// Blocks if the limiter is [in a store](Self#in-a-store).
    pub fn reset(&self) {
        self.limit.reset();
    }

    /// Puts another limit in force at once, and keeps what has been used.
    ///
    /// Raising `max` never causes a denial; lowering it below what is used denies until that has aged. What is older than a
    /// shorter window is forgotten, and a longer one set later does not bring it back. Those in line are decided anew.
    ///
    /// A change of the algorithm carries over what is used as well. Between `sliding_window`, `fixed_window` and
    /// `sliding_log` each charge goes on counting from its instant, as far as the algorithm before knew that; the current
    /// window of `fixed_window` began with the oldest. `token_bucket`, `leaky_bucket` and `gcra` go on from the same level,
    /// to the fraction of a permit. What a window held begins to refill with the change; what a bucket misses counts like
    /// calls made at the change, and permits from before give nothing back. `initial` is for new limiters.
    ///
    /// Another window, or other buckets, count each charge from the end of its bucket, or from the change if that comes
    /// sooner: by a clock that has stepped back, a charge from just before counts for that much less. So changes of those that
    /// follow each other faster than the buckets may keep a charge for longer than a window.
    ///
    /// # Errors
    ///
    /// If the limit [breaks a rule](LimitSpec::validate); then the one before stays in force.
    pub fn set_spec(&self, spec: LimitSpec) -> Result<(), SpecError> {
        self.limit.set_spec(spec)
    }

    /// The limit in force.
    #[must_use]
    pub fn spec(&self) -> LimitSpec {
        self.limit.spec()
    }

    #[inline]
    pub(crate) fn limit(&self) -> &Arc<Limit> {
        &self.limit
    }

    fn claim(&self, cost: u32) -> Claim<'_> {
        Claim::new(&self.limit, Key::NONE, Demand::new(cost))
    }

    fn terms(&self, at_most: Option<Duration>) -> Terms {
        Terms { at_most, max_waiters: self.max_waiters, surely: false }
    }
}

impl fmt::Debug for Limiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.limit.describe(&mut f.debug_struct("Limiter")).finish_non_exhaustive()
    }
}
