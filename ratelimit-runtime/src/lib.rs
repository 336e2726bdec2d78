//! Rate limits declared on the functions they guard.

mod algorithm;
mod budget;
mod budgets;
mod claim;
mod clock;
mod declared;
mod denied;
mod from_rate_limited;
#[cfg(feature = "axum")]
pub mod http;
#[cfg(all(test, ratelimit_loom))]
mod interleavings;
mod key;
mod keyed;
mod limit;
mod limiter;
mod path;
mod permit;
mod private;
mod registry;
mod returning;
mod rules;
mod stats;
mod sync;
mod table;
#[cfg(feature = "test-util")]
pub mod test_util;
mod timer;
mod wait;

#[cfg(feature = "macros")]
pub use ratelimit_macros::{RateLimitKey, limiter, rate_limit};
pub use ratelimit_spec::{Algorithm, LimitSpec, Mode, ParseError, SpecError};

pub use self::{
    clock::{Clock, ManualClock},
    declared::{LazyKeyedLimiter, LazyLimiter},
    denied::{RateLimited, Reason},
    from_rate_limited::FromRateLimited,
    key::{ClientNet, DisplayKey, KeyEncoder, KeyParts, RateLimitKey, client_net, display},
    keyed::KeyedLimiter,
    limiter::Limiter,
    permit::Permit,
    registry::{LimitHandle, VerifyError, limit, limits, verify},
    stats::Stats,
};

/// What the attribute expands to. No part of the public interface: it may change in any release.
#[doc(hidden)]
pub mod __private {
    pub use crate::private::*;
}
