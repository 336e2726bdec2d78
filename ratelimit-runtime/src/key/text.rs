//! Text as a key, and whatever prints as text.

use std::fmt::{self, Display};

use super::{KeyEncoder, RateLimitKey};

impl RateLimitKey for str {
    #[inline]
    fn encode(&self, encoder: &mut KeyEncoder) {
        encoder.text(self);
    }
}

impl RateLimitKey for String {
    #[inline]
    fn encode(&self, encoder: &mut KeyEncoder) {
        self.as_str().encode(encoder);
    }
}

/// A key of anything [`Display`]: the same key as a string of that text. Nothing is allocated for it.
///
/// For types that are no [`RateLimitKey`] and cannot be made one. It costs the formatting at each call, and values that
/// print alike share a budget.
///
/// ```
/// use ratelimit_runtime::display;
/// # use ratelimit_runtime::__private::Key;
///
/// let version = std::num::Wrapping(7); // stands for a type from another crate
/// let key = display(&version);
/// # assert_eq!(Key::of(&key), Key::of("7"));
/// ```
pub const fn display<T: Display>(value: T) -> DisplayKey<T> {
    DisplayKey(value)
}

/// The key that [`display`] makes.
#[derive(Clone, Copy, Debug)]
pub struct DisplayKey<T>(T);

impl<T: Display> RateLimitKey for DisplayKey<T> {
    fn encode(&self, encoder: &mut KeyEncoder) {
        encoder.printed(&self.0);
    }
}

impl<T: Display> Display for DisplayKey<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}
