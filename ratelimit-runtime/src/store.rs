//! Budgets that live elsewhere than in this process, for several of them to share.

mod call;
mod decision;
mod exclusive;
mod installed;
mod line;
mod stored;
mod waiting;

use std::{error::Error, fmt, future::Future, pin::Pin, sync::Arc, time::Duration};

use ratelimit_spec::LimitSpec;

pub use self::installed::{InstallError, install_store};
pub(crate) use self::{
    call::{refund, reset_all, reset_key, undo, used},
    decision::{decide, decide_async},
    exclusive::Exclusive,
    installed::is_installed,
    line::changed,
    stored::{Stored, part, share_of},
    waiting::{acquire, acquire_blocking},
};

/// Where budgets live that several processes share: `ratelimit-redis` is one, and this is the interface for others.
///
/// A limit goes to the store that its `store` names, once that is installed. Each decision is one call here, and charges
/// all or nothing; several limits of one call are charged one after the other, and given back if a later one denies, so
/// that others may briefly see less room, never more.
///
/// The futures are polled by whichever executor the caller runs on, and by threads that have none. They must therefore
/// need no runtime of the caller's, must end within the store's own time limit, and may be dropped at any point.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no store",
    note = "what only builds a store becomes one by its last method, such as `connect_lazy()?`"
)]
pub trait Store: Send + Sync + 'static {
    /// Charges a call, all or nothing. If the future is dropped, what it has charged is to be given back.
    fn charge(&self, call: &StoreCall<'_>) -> StoreAnswer<StoreVerdict>;

    /// How the budget stands towards a call, which is not charged.
    fn look(&self, call: &StoreCall<'_>) -> StoreAnswer<StoreOutlook>;

    /// Gives back what an admitted call was charged, less what has aged or refilled since. Does not wait: it is sent, and
    /// reaches the store before whatever this process asks later.
    fn refund(&self, call: &StoreCall<'_>, receipt: StoreReceipt);

    /// Takes back what a call was charged that another limit has denied: as if it had not come.
    fn undo(&self, call: &StoreCall<'_>, receipt: StoreReceipt);

    /// Forgets every charge of the call's key.
    fn reset(&self, call: &StoreCall<'_>) -> StoreAnswer<()>;

    /// Forgets every charge of every key of a limit. It is asked for by hand, and may take its time.
    fn reset_all(&self, limit: &str) -> StoreAnswer<()>;
}

/// What a [`Store`] answers with.
pub type StoreAnswer<T> = Pin<Box<dyn Future<Output = Result<T, StoreFailure>> + Send>>;

/// What a call asks of a budget in a store.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct StoreCall<'a> {
    /// The name of the limit, which the user chose.
    pub limit: &'a str,
    /// The limit as it is in force for this call. What a budget has been charged outlives a change of it.
    pub spec: LimitSpec,
    /// The key, encoded: the same bytes for the same value in every process. Empty for a limit without keys.
    pub key: &'a [u8],
    /// Permits that the call takes: not above `capacity`.
    pub cost: u32,
    /// The most permits that may be in use once the call is charged.
    pub capacity: u32,
}

impl<'a> StoreCall<'a> {
    /// A call of one permit, of a budget that it may use whole.
    #[must_use]
    pub fn new(limit: &'a str, spec: LimitSpec, key: &'a [u8]) -> Self {
        let capacity = spec.burst();
        Self { limit, spec, key, cost: 1, capacity }
    }

    /// Another cost.
    #[must_use]
    pub fn with_cost(self, cost: u32) -> Self {
        Self { cost, ..self }
    }

    /// A part of the budget only.
    #[must_use]
    pub fn with_capacity(self, capacity: u32) -> Self {
        Self { capacity, ..self }
    }
}

/// How a store has decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreVerdict {
    /// The call was charged.
    Admitted {
        /// Permits left of those that it may use.
        remaining: u32,
        /// What giving it back takes.
        receipt: StoreReceipt,
    },
    /// Nothing was charged.
    Denied {
        /// Permits left of those that it may use.
        remaining: u32,
        /// After how long it would be admitted, if nothing else happens.
        retry_after: Duration,
    },
}

/// How a budget stands towards a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoreOutlook {
    /// Permits in use.
    pub used: u32,
    /// After how long the call would be admitted, if nothing else happens.
    pub ready_in: Duration,
}

/// What a store needs to find a charge again. Only the store knows what the numbers mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoreReceipt(pub [u64; 2]);

/// What decides about a call when the store does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OnFailure {
    /// The call is admitted.
    Open,
    /// The call is denied, for the reason [`StoreUnavailable`](crate::Reason::StoreUnavailable).
    Closed,
    /// This process decides, by its share of the limit.
    Local,
}

/// A store has not answered, or not with a decision. It is no denial.
#[derive(Clone)]
pub struct StoreFailure {
    /// What has happened, for people.
    message: String,
    on_failure: OnFailure,
    share: f64,
    doubt: Option<Arc<dyn StoreDoubt>>,
}

/// What a store may have charged, or may still charge, for a call that it has not answered. When the last handle of it is
/// dropped, that is to be given back, unless the call was admitted.
pub trait StoreDoubt: Send + Sync + 'static {
    /// The call is admitted: what it was charged stands.
    fn stands(&self);
}

impl StoreFailure {
    /// A failure after which `on_failure` decides; `share` of the limit is this process's own, from 0 to 1.
    #[must_use]
    pub fn new(message: impl Into<String>, on_failure: OnFailure, share: f64) -> Self {
        Self { message: message.into(), on_failure, share, doubt: None }
    }

    /// The call may be charged all the same. That is kept for as long as it is open whether the call is admitted.
    #[must_use]
    pub fn in_doubt(self, doubt: impl StoreDoubt) -> Self {
        Self { doubt: Some(Arc::new(doubt)), ..self }
    }

    /// What decides instead.
    #[must_use]
    pub fn on_failure(&self) -> OnFailure {
        self.on_failure
    }

    /// The part of the limit that this process may use by itself.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.share
    }
}

impl fmt::Debug for StoreFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { message, on_failure, share, doubt } = self;
        f.debug_struct("StoreFailure")
            .field("message", message)
            .field("on_failure", on_failure)
            .field("share", share)
            .field("in_doubt", &doubt.is_some())
            .finish()
    }
}

impl fmt::Display for StoreFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for StoreFailure {}
