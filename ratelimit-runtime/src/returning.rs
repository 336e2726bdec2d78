//! How a function that is no `async fn` waits: in the boxed future that it returns, or else by blocking its thread.
//!
//! Which of the two it is, the compiler decides by the return type, behind aliases too. The expansion calls the same
//! methods for both:
//!
//! ```text
//! let gate = match Returning::<R>::new().enter([claim], wait, denied) {
//!     Ok(gate) => gate,
//!     Err(denied) => return denied,
//! };
//! let (gate, permit) = gate.permit();     // with `permit`
//! let returned: R = call(|| { body });
//! gate.leave(returned)
//! ```
//!
//! [`Returning`] has these methods of its own where `R` is a boxed future, and derefs to [`Blocking`] where it is not. A
//! boxed future waits in front of the one that the body has made, from its first poll on; until then nothing is asked for.

#![expect(clippy::unused_self, reason = "each kind of function has the methods of the other")]

use std::future::Future;
use std::marker::PhantomData;
use std::ops::Deref;
use std::pin::Pin;

use crate::permit::LatePermit;
use crate::private::{Wait, wait, wait_blocking, wait_blocking_surely, wait_surely};
use crate::request::Request;
use crate::{Permit, RateLimited};

/// What a function returns decides how it waits.
pub struct Returning<R>(Blocking<R>);

impl<R> Returning<R> {
    /// Of the type `R`, whatever that is.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "only the expansion makes it")]
    pub const fn new() -> Self {
        Self(Blocking(PhantomData))
    }
}

impl<R> Deref for Returning<R> {
    type Target = Blocking<R>;

    fn deref(&self) -> &Blocking<R> {
        &self.0
    }
}

/// A function that returns no boxed future.
pub struct Blocking<R>(PhantomData<fn() -> R>);

impl<R> Blocking<R> {
    /// Waits here.
    ///
    /// # Errors
    /// What the function returns if it is denied.
    pub fn enter<const N: usize>(
        &self,
        requests: [Request<'static>; N],
        policy: Wait,
        denied: impl FnOnce(RateLimited) -> R,
    ) -> Result<Entered, R> {
        wait_blocking(requests, policy).map(Entered).map_err(denied)
    }

    /// Waits here, and is never denied.
    #[must_use]
    pub fn enter_surely<const N: usize>(&self, requests: [Request<'static>; N]) -> Entered {
        Entered(wait_blocking_surely(requests))
    }

    /// A fallback that cannot be needed: it is compiled, and never called.
    pub fn never(&self, _: impl FnOnce(RateLimited) -> R) {}
}

/// A call that has been admitted.
pub struct Entered(Permit<'static>);

/// One whose body holds the permit.
pub struct Passed;

impl Entered {
    /// Hands out the permit.
    #[must_use]
    pub fn permit(self) -> (Passed, Permit<'static>) {
        (Passed, self.0)
    }

    /// What the body has made.
    pub fn leave<R>(self, returned: R) -> R {
        returned
    }
}

impl Passed {
    /// What the body has made.
    pub fn leave<R>(self, returned: R) -> R {
        returned
    }
}

/// A call that will wait in the future that it returns.
///
/// `D` makes what the future yields if it is denied.
pub struct Later<R, D, const N: usize> {
    requests: [Request<'static>; N],
    policy: Wait,
    denied: D,
    permit: Option<LatePermit>,
    returns: PhantomData<fn() -> R>,
}

/// One that cannot be denied.
pub struct LaterSurely<R, const N: usize> {
    requests: [Request<'static>; N],
    permit: Option<LatePermit>,
    returns: PhantomData<fn() -> R>,
}

impl<R, D, const N: usize> Later<R, D, N> {
    /// Hands out a permit that will be this call's.
    #[must_use]
    pub fn permit(self) -> (Self, Permit<'static>) {
        let (late, permit) = LatePermit::new();
        (Self { permit: Some(late), ..self }, permit)
    }
}

impl<R, const N: usize> LaterSurely<R, N> {
    /// Hands out a permit that will be this call's.
    #[must_use]
    pub fn permit(self) -> (Self, Permit<'static>) {
        let (late, permit) = LatePermit::new();
        (Self { permit: Some(late), ..self }, permit)
    }
}

fn hand_over(late: Option<LatePermit>, permit: Permit<'static>) {
    if let Some(late) = late {
        late.admit(permit);
    }
}

macro_rules! boxed_futures {
    ($($bounds:tt)*) => {
        impl<'a, T: 'a> Returning<Pin<Box<dyn Future<Output = T> $($bounds)* + 'a>>> {
            /// Leaves the wait to the future.
            ///
            /// # Errors
            /// Never: it is the future that is denied.
            pub fn enter<D, const N: usize>(
                &self,
                requests: [Request<'static>; N],
                policy: Wait,
                denied: D,
            ) -> Result<
                Later<Pin<Box<dyn Future<Output = T> $($bounds)* + 'a>>, D, N>,
                Pin<Box<dyn Future<Output = T> $($bounds)* + 'a>>,
            >
            where
                D: FnOnce(RateLimited) -> Pin<Box<dyn Future<Output = T> $($bounds)* + 'a>> $($bounds)* + 'a,
            {
                Ok(Later { requests, policy, denied, permit: None, returns: PhantomData })
            }

            /// Leaves the wait to the future, which is never denied.
            #[must_use]
            pub fn enter_surely<const N: usize>(
                &self,
                requests: [Request<'static>; N],
            ) -> LaterSurely<Pin<Box<dyn Future<Output = T> $($bounds)* + 'a>>, N> {
                LaterSurely { requests, permit: None, returns: PhantomData }
            }
        }

        impl<'a, T: 'a, D, const N: usize> Later<Pin<Box<dyn Future<Output = T> $($bounds)* + 'a>>, D, N>
        where
            D: FnOnce(RateLimited) -> Pin<Box<dyn Future<Output = T> $($bounds)* + 'a>> $($bounds)* + 'a,
        {
            /// A future that waits, and is then the one that the body has made, or is denied.
            #[must_use]
            pub fn leave(
                self,
                returned: Pin<Box<dyn Future<Output = T> $($bounds)* + 'a>>,
            ) -> Pin<Box<dyn Future<Output = T> $($bounds)* + 'a>> {
                let Self { requests, policy, denied, permit: late, .. } = self;
                Box::pin(async move {
                    match wait(requests, policy).await {
                        Ok(permit) => {
                            hand_over(late, permit);
                            returned.await
                        }
                        Err(limited) => {
                            // What the denied body holds is not needed any more.
                            drop(returned);
                            denied(limited).await
                        }
                    }
                })
            }
        }

        impl<'a, T: 'a, const N: usize> LaterSurely<Pin<Box<dyn Future<Output = T> $($bounds)* + 'a>>, N> {
            /// A future that waits, and is then the one that the body has made.
            #[must_use]
            pub fn leave(
                self,
                returned: Pin<Box<dyn Future<Output = T> $($bounds)* + 'a>>,
            ) -> Pin<Box<dyn Future<Output = T> $($bounds)* + 'a>> {
                let Self { requests, permit: late, .. } = self;
                Box::pin(async move {
                    hand_over(late, wait_surely(requests).await);
                    returned.await
                })
            }
        }
    };
}

boxed_futures!();
boxed_futures!(+ Send);
boxed_futures!(+ Send + Sync);

/// Runs a body that may leave in the middle (`return`, `?`), so that it ends here and not the function around it.
pub fn call<R>(body: impl FnOnce() -> R) -> R {
    body()
}
