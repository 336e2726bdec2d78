//! What an admitted call holds.

use std::{fmt, mem, ptr, sync::Arc};

use smallvec::SmallVec;

use crate::{
    budget::Charge,
    claim::Claim,
    limit::Limit,
    sync::{Mutex, lock},
};

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
    Later(Arc<Mutex<Late>>),
}

/// What has become of a call whose body runs before it is admitted.
enum Late {
    Undecided,
    /// Whatever it will be charged.
    GivenBack,
    Admitted(Box<Admitted<'static>>),
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
    /// is not limited, as one that a store's [policy](crate::OnFailure::Open) lets through.
    #[must_use]
    pub fn remaining(&self) -> u32 {
        match &self.state {
            State::Admitted(admitted) => admitted.remaining,
            State::Later(late) => match &*lock(late) {
                Late::Admitted(admitted) => admitted.remaining,
                Late::Undecided | Late::GivenBack => u32::MAX,
            },
        }
    }

    /// Gives back what this call was charged, at each of its limits. A charge that no longer counts gives nothing back.
    ///
    /// Who waits for the permits gets them at once; in a store, who waits in this process.
    pub fn refund(self) {
        match &self.state {
            State::Admitted(admitted) => admitted.refund(),
            State::Later(late) => {
                let before = mem::replace(&mut *lock(late), Late::GivenBack);
                if let Late::Admitted(admitted) = before {
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
pub(crate) struct LatePermit(Arc<Mutex<Late>>);

impl LatePermit {
    /// The place, and the permit that looks there. Until the call is admitted, the permit is that of an unlimited one;
    /// given back before, it is so as soon as it arrives.
    pub(crate) fn new() -> (Self, Permit<'static>) {
        let late = Arc::new(Mutex::new(Late::Undecided));
        (Self(Arc::clone(&late)), Permit { state: State::Later(late) })
    }

    pub(crate) fn admit(self, permit: Permit<'static>) {
        let State::Admitted(admitted) = permit.state else { return };
        let mut late = lock(&self.0);
        if let Late::Undecided = *late {
            *late = Late::Admitted(Box::new(admitted));
        } else {
            drop(late);
            admitted.refund();
        }
    }
}

impl fmt::Debug for Permit<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit").field("remaining", &self.remaining()).finish_non_exhaustive()
    }
}
