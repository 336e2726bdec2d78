//! Rate limits declared on the functions they guard.

#[cfg_attr(not(test), expect(dead_code, reason = "the limiters that decide by it come next"))]
mod algorithm;
mod key;

pub use key::{ClientNet, DisplayKey, KeyEncoder, KeyParts, RateLimitKey, client_net, display};

/// What the attribute expands to. No part of the public interface: it may change in any release.
#[doc(hidden)]
pub mod __private {
    pub use crate::key::Key;
}
