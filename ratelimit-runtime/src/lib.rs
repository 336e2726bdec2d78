//! Rate limits declared on the functions they guard: exact, keyed, for sync and async.
//!
//! ```
//! # #[cfg(feature = "macros")] {
//! use ratelimit_runtime::{RateLimited, rate_limit};
//!
//! #[rate_limit(key = "user_id", window = "1s", max = 100, buckets = 10)]
//! fn profile(user_id: u64) -> Result<String, RateLimited> {
//!     Ok(format!("profile of user {user_id}"))
//! }
//!
//! assert!(profile(7).is_ok());
//! # }
//! ```
//!
//! Each user has at most 100 calls in every interval of one second, wherever it begins, from any number of threads. A
//! denied call does not run the body; its return type carries the denial ([`FromRateLimited`]), with the exact time
//! after which it would be admitted ([`RateLimited::retry_after`]).
//!
//! # Where to look
//!
#![cfg_attr(
    feature = "macros",
    doc = "* [`rate_limit`](macro@rate_limit): the attribute, its arguments, and an example of each."
)]
#![cfg_attr(
    feature = "macros",
    doc = "* [`limiter!`](limiter!): a limiter in a `static`, for several functions to share."
)]
//! * [`Limiter`] and [`KeyedLimiter`]: limits by hand, for what is known only while running.
//! * [`RateLimitKey`]: what can be a key, and what is one and the same key.
//! * [`limits`], [`limit()`], [`verify`]: the limits that a program declares, to look at and to change while it runs.
//! * [`Store`], [`install_store`]: budgets that several processes share. `ratelimit-redis` is one.
//! * [`use_precise_clock`]: what time it is, and by which clock.
//! * [`ManualClock`], and `test_util` (feature `test-util`): tests without sleeping.
//!
//! # What it promises
//!
//! * Limits are exact for any number of threads, whatever their [`Algorithm`].
//! * By the default one, in every interval as long as the window, at most `max` is admitted. A permit comes back no earlier
//!   than one window after it was taken, and no later than one window and one bucket. So a caller that paces itself at
//!   exactly the limit loses up to one part in `buckets + 1`: more buckets, which cost memory and not time, make that small.
//! * Denied calls are not counted. Several limits on one function are one decision: all are charged, or none.
//! * Those who wait are admitted first come, first served; a wait that cannot succeed is refused at once; dropping the
//!   future of one that waits loses nothing.
//! * Memory follows the keys in use, up to a bound, and no thread runs in the background.
//! * Nothing panics because of a limit, a key, a cost or a clock.
//!
//! # Features
//!
//! | feature | default | what it adds |
//! | --- | --- | --- |
//! | `macros` | yes | `#[rate_limit]`, `limiter!` and `#[derive(RateLimitKey)]` |
//! | `tokio` | yes | waits on tokio's timer inside a tokio runtime; elsewhere, and without it, on a thread of their own |
//! | `axum` | no | a denial is a response of axum 0.8: 429 with `Retry-After` |
//! | `uuid` | no | `uuid::Uuid` as a key |
//! | `test-util` | no | `test_util::isolate()`, and limits that follow tokio's paused clock |

mod algorithm;
mod budget;
mod budgets;
mod claim;
mod clock;
mod control;
mod decision;
mod declared;
mod demand;
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
mod lines;
mod name;
mod outlook;
mod park;
mod path;
mod permit;
mod private;
mod registry;
mod request;
mod returning;
mod rules;
mod spec_cell;
mod stats;
mod store;
#[cfg(all(test, not(ratelimit_loom)))]
mod stress;
mod sync;
mod table;
#[cfg(feature = "test-util")]
pub mod test_util;
mod timer;
mod verdict;
mod wait;

#[cfg(feature = "macros")]
pub use ratelimit_macros::{RateLimitKey, limiter, rate_limit};
pub use ratelimit_spec::{Algorithm, LimitSpec, Mode, ParseError, SpecError};

pub use self::{
    clock::{Clock, ManualClock, use_precise_clock},
    declared::{LazyKeyedLimiter, LazyLimiter},
    denied::{RateLimited, Reason},
    from_rate_limited::FromRateLimited,
    key::{ClientNet, DisplayKey, KeyEncoder, KeyParts, RateLimitKey, client_net, display},
    keyed::KeyedLimiter,
    limiter::Limiter,
    permit::Permit,
    registry::{LimitHandle, VerifyError, limit, limits, verify},
    stats::Stats,
    store::{
        InstallError, OnFailure, Store, StoreAnswer, StoreCall, StoreDoubt, StoreFailure, StoreOutlook,
        StoreReceipt, StoreVerdict, install_store,
    },
};

/// What the attribute expands to. No part of the public interface: it may change in any release.
#[doc(hidden)]
pub mod __private {
    pub use crate::private::*;
}

/// Every Rust example of the README is a test. They need the features that it speaks of.
#[cfg(all(doctest, feature = "macros", feature = "tokio", feature = "axum", feature = "test-util"))]
#[doc = include_str!("../../README.md")]
struct Readme;
