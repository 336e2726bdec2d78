//! What an admitted call holds.

use std::fmt;

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
    charges: SmallVec<[(&'a Limit, Charge); 4]>,
    remaining: u32,
}

impl<'a> Permit<'a> {
    pub(crate) fn of(claims: &[Claim<'a>]) -> Self {
        let charges: SmallVec<[(&'a Limit, Charge); 4]> =
            claims.iter().filter_map(|claim| Some((&**claim.limit, claim.charge?))).collect();
        let remaining = charges.iter().map(|(_, charge)| charge.remaining).min().unwrap_or(u32::MAX);
        Self { charges, remaining }
    }

    /// A call that no limit looked at.
    pub(crate) fn unlimited() -> Self {
        Self { charges: SmallVec::new(), remaining: u32::MAX }
    }

    /// Permits that were left right after this call was admitted: of several limits, the least. `u32::MAX` if the call
    /// is not limited.
    #[must_use]
    pub fn remaining(&self) -> u32 {
        self.remaining
    }

    /// Gives back what this call was charged, at each of its limits. A charge that no longer counts gives nothing back.
    ///
    /// Who waits for the permits gets them at once.
    pub fn refund(self) {
        for (limit, charge) in &self.charges {
            limit.refund(charge);
        }
    }
}

impl fmt::Debug for Permit<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit").field("remaining", &self.remaining).finish_non_exhaustive()
    }
}
