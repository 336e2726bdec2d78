//! What a denied call is told.

use std::{error::Error, fmt, time::Duration};

use ratelimit_spec::LimitSpec;

use crate::name::Name;

/// A call was denied by a limit, and nothing was charged.
///
/// As text it says which limit denied and when to come back: ``rate limit `login` (5/1m) exceeded; retry in 12.5s``.
/// Making, cloning and dropping one allocates nothing.
///
/// ```
/// use std::time::Duration;
/// use ratelimit_runtime::{LimitSpec, Limiter, Reason};
///
/// let limiter = Limiter::new(LimitSpec::new(1, Duration::from_secs(60)))?.with_name("login");
/// assert!(limiter.try_acquire().is_ok());
/// let limited = limiter.try_acquire().unwrap_err();
/// assert_eq!(limited.name(), "login");
/// assert_eq!(limited.reason(), Reason::Exceeded);
/// assert!(limited.retry_after().unwrap() > Duration::from_secs(59));
/// # Ok::<(), ratelimit_runtime::SpecError>(())
/// ```
#[derive(Clone, Debug)]
pub struct RateLimited {
    pub(crate) subject: Subject,
    pub(crate) reason: Reason,
    /// In nanoseconds.
    pub(crate) retry_after: Option<u64>,
    pub(crate) remaining: u32,
}

/// Which limit denied, and what was in force.
#[derive(Clone)]
pub(crate) enum Subject {
    /// One that lives for ever and had never been changed: a flood of denials need not copy it.
    Unchanged(&'static Origin),
    Copied(Name, LimitSpec),
}

/// What a limit was made as.
pub(crate) struct Origin {
    pub(crate) name: Name,
    pub(crate) spec: LimitSpec,
}

/// Why a call was denied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// The limit is used up for now.
    Exceeded,
    /// The call costs more than the limit could ever hold: it can never be admitted.
    CostExceedsCapacity,
    /// The call's turn would not have come, or did not come, within the time that it may wait.
    WaitTooLong,
    /// As many calls as allowed wait in line already.
    QueueFull,
    /// The store that holds the budget does not answer, and its policy then is to deny.
    StoreUnavailable,
}

impl RateLimited {
    /// That of a call which asked for one permit, and found none left.
    #[inline]
    pub(crate) fn exceeded(subject: Subject, retry_after: u64) -> Self {
        Self { subject, reason: Reason::Exceeded, retry_after: Some(retry_after), remaining: 0 }
    }

    /// The name of the limit that denied: of several, the one that frees last.
    #[must_use]
    pub fn name(&self) -> &str {
        self.subject.name().as_str()
    }

    /// Why it denied.
    #[must_use]
    pub fn reason(&self) -> Reason {
        self.reason
    }

    /// How long from the decision until the call would be admitted: exact for [`Reason::Exceeded`], if nothing else
    /// happens; for [`Reason::WaitTooLong`] and [`Reason::QueueFull`] until it could be admitted behind those in line.
    ///
    /// `None` if no time can be given: the call costs more than the limit can hold, `max` is 0, or a store is down.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        self.retry_after.map(Duration::from_nanos)
    }

    /// The limit as it was in force, with the call's own `max` where each call brings one.
    #[must_use]
    pub fn limit(&self) -> &LimitSpec {
        self.subject.spec()
    }

    /// Permits that were left: more than none if the call asked for more than that.
    #[must_use]
    pub fn remaining(&self) -> u32 {
        self.remaining
    }

    /// The user gave the name; else it is a path in their code, which is not for the outside.
    #[cfg_attr(not(feature = "axum"), expect(dead_code, reason = "only answers to the outside ask"))]
    pub(crate) fn named_explicitly(&self) -> bool {
        self.subject.name().is_explicit()
    }
}

impl Subject {
    fn name(&self) -> &Name {
        match self {
            Self::Unchanged(origin) => &origin.name,
            Self::Copied(name, _) => name,
        }
    }

    fn spec(&self) -> &LimitSpec {
        match self {
            Self::Unchanged(origin) => &origin.spec,
            Self::Copied(_, spec) => spec,
        }
    }
}

impl fmt::Debug for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subject").field("name", &self.name()).field("spec", self.spec()).finish()
    }
}

impl fmt::Display for RateLimited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, limit) = (self.name(), self.limit());
        match self.reason {
            Reason::Exceeded => write!(f, "rate limit `{name}` ({limit}) exceeded")?,
            Reason::CostExceedsCapacity => {
                return write!(
                    f,
                    "the call asks for more than it may ever use of rate limit `{name}` ({limit})"
                );
            }
            Reason::WaitTooLong => {
                write!(f, "rate limit `{name}` ({limit}) would not admit the call in time")?;
            }
            Reason::QueueFull => write!(f, "too many calls wait for rate limit `{name}` ({limit})")?,
            Reason::StoreUnavailable => {
                write!(f, "the store of rate limit `{name}` ({limit}) is unavailable")?;
            }
        }
        match self.retry_after() {
            Some(retry_after) => write!(f, "; retry in {:?}", readable(retry_after)),
            None => Ok(()),
        }
    }
}

impl Error for RateLimited {}

/// Rounded up to a thousandth of the second, or of the millisecond, that it has at least.
fn readable(duration: Duration) -> Duration {
    let step = if duration >= Duration::from_secs(1) { 1_000_000 } else { 1_000 };
    let nanos = duration.subsec_nanos().next_multiple_of(step);
    Duration::from_secs(duration.as_secs()).saturating_add(Duration::from_nanos(nanos.into()))
}
