//! What an admitted call holds.

use std::{
    fmt, ptr,
    sync::{Arc, OnceLock},
};

use smallvec::SmallVec;

use crate::{budget::Charge, claim::Claim, limit::Limit};

/// An admitted call.
///
/// This is no semaphore: dropping it keeps the charge, and nobody waits for it to be dropped. It is there to see what
/// remains and to give back what was charged.
///
/// ```
/// use std::time::Duration;
/// use ratelimit_runtime::{LimitSpec, Limiter};
///
/// let failed_logins = Limiter::new(LimitSpec::new(5, Duration::from_secs(60)))?;
/// let permit = failed_logins.try_acquire().unwrap();
/// assert_eq!(permit.remaining(), 4);
///
/// let password_is_right = true;
/// if password_is_right {
///     permit.refund();
/// }
/// assert_eq!(failed_logins.remaining(), 5);
/// # Ok::<(), ratelimit_runtime::SpecError>(())
/// ```
pub struct Permit<'a> {
    state: State<'a>,
}

#[expect(
    clippy::large_enum_variant,
    reason = "the usual one lies in place, since admission does not allocate"
)]
enum State<'a> {
    Admitted(Admitted<'a>),
    /// The holder runs before the call is admitted.
    Later(Arc<OnceLock<Admitted<'static>>>),
}

struct Admitted<'a> {
    charges: SmallVec<[(&'a Limit, Charge); 4]>,
    remaining: u32,
}

impl<'a> Permit<'a> {
    pub(crate) fn of(claims: &[Claim<'a>]) -> Self {
        let charges: SmallVec<[(&'a Limit, Charge); 4]> =
            claims.iter().filter_map(|claim| Some((&**claim.limit, claim.charge?))).collect();
        let remaining = charges.iter().map(|(_, charge)| charge.remaining).min().unwrap_or(u32::MAX);
        Self { state: State::Admitted(Admitted { charges, remaining }) }
    }

    /// A call that no limit looked at.
    pub(crate) fn unlimited() -> Self {
        Self { state: State::Admitted(Admitted { charges: SmallVec::new(), remaining: u32::MAX }) }
    }

    /// Permits that were left right after this call was admitted: of several limits, the least. `u32::MAX` if the call
    /// is not limited.
    #[must_use]
    pub fn remaining(&self) -> u32 {
        match &self.state {
            State::Admitted(admitted) => admitted.remaining,
            State::Later(place) => place.get().map_or(u32::MAX, |admitted| admitted.remaining),
        }
    }

    /// Gives back what this call was charged, at each of its limits. A charge that no longer counts gives nothing back.
    ///
    /// Who waits for the permits gets them at once.
    pub fn refund(self) {
        match &self.state {
            State::Admitted(admitted) => admitted.refund(),
            State::Later(place) => {
                if let Some(admitted) = place.get() {
                    admitted.refund();
                }
            }
        }
    }
}

impl Admitted<'_> {
    fn refund(&self) {
        let mut counted = SmallVec::<[&Limit; 4]>::new();
        for (limit, charge) in &self.charges {
            let gave_something = limit.refund(charge) > 0;
            // Calls are counted, and not how often one of them was charged by the same limit.
            if gave_something && !counted.iter().any(|other| ptr::eq(*other, *limit)) {
                limit.counters.refunded();
                counted.push(limit);
            }
        }
    }
}

/// Where the permit of a call arrives that is admitted after its body has begun.
pub(crate) struct LatePermit(Arc<OnceLock<Admitted<'static>>>);

impl LatePermit {
    /// The place, and the permit that looks there. Until the call is admitted, the permit is that of an unlimited one.
    pub(crate) fn new() -> (Self, Permit<'static>) {
        let place = Arc::new(OnceLock::new());
        (Self(Arc::clone(&place)), Permit { state: State::Later(place) })
    }

    pub(crate) fn admit(self, permit: Permit<'static>) {
        if let State::Admitted(admitted) = permit.state {
            // It is admitted once, so the place is empty.
            let _ = self.0.set(admitted);
        }
    }
}

impl fmt::Debug for Permit<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit").field("remaining", &self.remaining()).finish_non_exhaustive()
    }
}
