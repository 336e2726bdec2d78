//! Types that are keys.

use ratelimit_runtime::{RateLimitKey, rate_limit};

/// Named fields.
#[derive(Clone, Debug, RateLimitKey)]
pub struct User {
    /// The first part.
    pub id: u64,
    /// The second.
    pub name: String,
    /// The third.
    pub is_admin: bool,
    /// No part of it.
    #[rate_limit_key(skip)]
    pub quota: u32,
}

/// Like what it wraps.
#[derive(Clone, Copy, Debug, RateLimitKey)]
pub struct Id(pub u64);

/// Generic.
#[derive(Clone, Copy, Debug, RateLimitKey)]
#[rate_limit_key(crate = ::ratelimit_runtime)]
pub struct Pair<'a, T, const N: usize>(pub &'a T, pub [u8; N])
where
    T: ?Sized + Sync;

/// Nothing.
#[derive(Clone, Copy, Debug, RateLimitKey)]
pub struct Unit;

/// Variants of each kind.
#[derive(Clone, Debug, RateLimitKey)]
pub enum Caller<T> {
    /// By a name.
    Anonymous,
    /// By a number.
    Id(Id),
    /// By several parts.
    Session {
        /// A part of it.
        token: T,
        /// No part of it.
        #[rate_limit_key(skip)]
        hits: u64,
    },
}

/// No value at all.
#[derive(Clone, Copy, Debug, RateLimitKey)]
pub enum Never {}

impl User {
    /// A quota of the caller's.
    #[must_use]
    pub const fn quota(&self) -> u32 {
        self.quota
    }

    /// Limited by a field.
    #[rate_limit(key = self.name, max = self.quota(), window = "1h")]
    #[must_use]
    pub fn greet(&self) -> Option<String> {
        (!self.name.is_empty()).then(|| format!("hello {}", self.name))
    }

    /// Limited by all of it.
    #[rate_limit(key = self, rate = "1/m", fallback = |_| self.name)]
    #[must_use]
    pub fn into_name(self) -> String {
        self.name
    }
}

/// Keys of all of these types.
#[rate_limit(key = (caller, pair, Unit, never), rate = "1/s")]
#[must_use]
pub fn derived(caller: &Caller<String>, pair: &Pair<'_, str, 2>, never: Option<Never>) -> Option<u8> {
    match (caller, never) {
        (Caller::Session { hits, .. }, None) => u8::try_from(*hits).ok(),
        _ => pair.1.first().copied(),
    }
}
