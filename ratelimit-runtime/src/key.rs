//! Keys: what tells one caller's budget from another's.
//!
//! A key is encoded, not stored: short ones lie in the 24 bytes of a [`Key`] as they are, longer ones as a digest. So a
//! key of any length costs the same, and no allocation.

mod encoder;
mod network;
mod sequence;
mod text;
#[cfg(feature = "uuid")]
mod uuid;
mod value;

use std::hash::{Hash, Hasher};

pub use encoder::{KeyEncoder, KeyParts};
pub use network::{ClientNet, client_net};
pub use text::{DisplayKey, display};

/// What can be the key of a limit: every distinct value has a budget of its own.
///
/// Implemented for integers, `bool`, `char`, strings, IP and socket addresses, `Option`, `Result`, references, `Box`,
/// `Arc`, `Rc`, `Cow`, slices, arrays, `Vec` and tuples up to twelve, and, under the feature `uuid`, for `Uuid`. Derive it
/// for your own structs and enums; for any other type that is [`Display`](std::fmt::Display) there is [`display`], and
/// for the address of a client [`client_net`].
///
/// # What is one key, and what is two
///
/// Two different values never share a budget: `("a", "bc")` and `("ab", "c")` are two keys, so are `Some("")` and
/// `None`, `7` and `"7"`, `-1` and `u64::MAX`.
///
/// The value counts, not its type: `1u8` and `1u64` are one key, as are `"s"`, a `String` and an `Arc<str>`. A tuple is one
/// key with the array, slice or `Vec` of the same values, `()` with an empty one.
///
/// `None` is a key like any other, so anonymous callers share a budget; `key = "user.ok_or(ip)"` tells them apart.
///
/// Floats are no keys: `0.0` equals `-0.0` and NaN does not equal itself, so "the same value" has no one meaning. Use the
/// integer behind it (cents, milliseconds), or `display(&x)`.
///
/// # Derived
///
/// A struct with one unnamed field is the same key as that field, so a `UserId(7)` is `7`. Any other struct is the tuple
/// of its fields, the named ones in the order of their names. An enum's variant is told by its name. Fields and variants
/// may therefore be reordered without a change to keys that a store has kept.
///
/// # By hand
///
/// Hand the encoder exactly one value. Usually that is a part of yours, or a tuple of parts:
///
/// ```
/// use ratelimit_runtime::{KeyEncoder, RateLimitKey};
///
/// struct Session {
///     tenant: u32,
///     user: String,
///     opened_at: std::time::Instant, // no part of the key
/// }
///
/// impl RateLimitKey for Session {
///     fn encode(&self, encoder: &mut KeyEncoder) {
///         (self.tenant, &self.user).encode(encoder);
///     }
/// }
///
/// enum Caller {
///     Anonymous,
///     User(u64),
///     Service { name: String, region: u8 },
/// }
///
/// impl RateLimitKey for Caller {
///     fn encode(&self, encoder: &mut KeyEncoder) {
///         match self {
///             Self::Anonymous => {
///                 encoder.variant("Anonymous");
///             }
///             Self::User(id) => {
///                 encoder.variant("User").part(id);
///             }
///             Self::Service { name, region } => {
///                 encoder.variant("Service").part(name).part(region);
///             }
///         }
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the key of a rate limit",
    label = "not a `RateLimitKey`",
    note = "for a type of your own, write `#[derive(RateLimitKey)]` on it",
    note = "for anything that is `Display`, write `display(&value)`",
    note = "for `uuid::Uuid`, enable the feature `uuid` of `ratelimit-runtime`",
    note = "floats are no keys: use an integer (cents, milliseconds), or `display(&value)`"
)]
pub trait RateLimitKey {
    /// Gives the encoder this value: exactly one, where a [tuple](KeyEncoder::tuple) is one. Two in a row would run
    /// together with what stands beside them.
    fn encode(&self, encoder: &mut KeyEncoder);
}

/// A key as the table keeps it: its encoding where that is short, else a digest of it.
///
/// The last byte of the last word that is not 0 is the encoding's length, or 255 for a digest: so no two are equal, and
/// most keys are two words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key([u64; 3]);

/// Where in a word its last byte is.
const LAST: u32 = 56;

impl Key {
    /// What calls of a limit without keys carry.
    pub(crate) const NONE: Self = Self([0; 3]);

    /// Encodes a key. Allocates nothing, whatever the key's length.
    #[inline]
    #[must_use]
    pub fn of<K: RateLimitKey + ?Sized>(key: &K) -> Self {
        let mut encoder = KeyEncoder::new();
        key.encode(&mut encoder);
        encoder.finish()
    }

    /// Encodes a key for budgets that outlive the process.
    #[inline]
    #[must_use]
    pub fn for_store<K: RateLimitKey + ?Sized>(key: &K) -> Self {
        let encoded = Self::of(key);
        // Any other is the same in every process as it is.
        if encoded.is_digest() { Self::digest_for_store(key) } else { encoded }
    }

    /// A digest that is the same in every process, and slower to make.
    #[inline(never)]
    fn digest_for_store<K: RateLimitKey + ?Sized>(key: &K) -> Self {
        let mut encoder = KeyEncoder::for_store();
        key.encode(&mut encoder);
        encoder.finish()
    }

    /// The encoding is too long to be kept, and what is kept is its digest.
    #[inline]
    fn is_digest(&self) -> bool {
        self.0[2] >> LAST == encoder::DIGEST
    }

    /// The encoding, or the digest, in the first so many bytes.
    pub(crate) fn bytes(&self) -> ([u8; 24], usize) {
        let mut bytes = [0; 24];
        bytes.copy_from_slice(self.0.map(u64::to_le_bytes).as_flattened());
        let length = usize::from(bytes[if self.is_short() { 15 } else { 23 }]);
        (bytes, length.min(24))
    }

    pub(crate) fn words(&self) -> [u64; 3] {
        self.0
    }

    pub(crate) fn of_words(words: [u64; 3]) -> Self {
        Self(words)
    }

    /// It is told by its first two words.
    #[inline]
    pub(crate) fn is_short(&self) -> bool {
        self.0[2] == 0
    }
}

impl Hash for Key {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        let [first, second, third] = self.0;
        let two = |low: u64, high: u64| u128::from(low) | u128::from(high) << 64;
        // Two words at once take a hasher one step, and the derive would hash the array's length as well.
        state.write_u128(two(first, second));
        if !self.is_short() {
            state.write_u64(third);
        }
    }
}
