//! Functions of every shape.

use std::fmt::Debug;
use std::pin::Pin;
use std::sync::Arc;

use ratelimit_runtime::{RateLimited, rate_limit};

/// An empty body.
#[rate_limit(rate = "1/s", fallback = |_| {})]
pub fn empty() {}

/// Items first.
#[rate_limit(rate = "1/s")]
#[must_use]
pub fn items_first(numbers: &[u32]) -> Option<u32> {
    use std::ops::Add;

    const FIRST: u32 = 1;

    fn second() -> u32 {
        u32::from(std::env::args().count() > 1)
    }

    Some(numbers.iter().fold(FIRST, Add::add).max(second()))
}

/// An attribute in the body.
#[rate_limit(rate = "1/s")]
#[must_use]
pub fn attribute_in_the_body(number: u32) -> Option<u32> {
    #![expect(clippy::cast_possible_truncation, reason = "the attribute is the function's")]
    u32::from(number as u8).checked_sub(1)
}

/// Generic, with a lifetime.
#[rate_limit(key = (word, N), rate = "1/s")]
pub fn generic<'a, T, const N: usize>(
    word: &'a str,
    values: &mut [T; N],
    make: impl Fn(&T) -> T,
) -> Option<&'a str>
where
    T: Clone + Debug,
{
    for value in values.iter_mut() {
        *value = make(value);
    }
    word.strip_prefix('a')
}

/// Patterns.
#[rate_limit(key = left, rate = "1/s")]
#[must_use]
pub fn patterns((left, mut right): (u32, u32), [first, ..]: [u32; 2], _: Option<u8>) -> Option<u32> {
    right = right.checked_add(first)?;
    left.checked_mul(right)
}

/// The ABI of C.
#[rate_limit(rate = "1/s", fallback = |_| -1)]
#[must_use]
pub extern "C" fn foreign(number: i32) -> i32 {
    number.wrapping_add(1)
}

/// Receivers.
pub trait Store {
    /// A method with a body.
    #[rate_limit(rate = "1/s")]
    fn get(&self, name: &str) -> Option<usize> {
        self.find(name)
    }

    /// A method without.
    fn find(&self, name: &str) -> Option<usize>;
}

/// A type with methods.
#[derive(Clone, Debug, Default)]
pub struct Words(Vec<String>);

impl Store for Words {
    #[rate_limit(key = name, rate = "1/s")]
    fn find(&self, name: &str) -> Option<usize> {
        self.0.iter().position(|word| word == name)
    }
}

impl Words {
    /// By value.
    #[rate_limit(rate = "1/s")]
    #[must_use]
    pub fn with(mut self, word: &str) -> Option<Self> {
        self.0.push(word.to_owned());
        Some(self)
    }

    /// By reference, out as well.
    #[rate_limit(rate = "1/s")]
    pub fn first_mut(&mut self) -> Option<&mut String> {
        self.0.first_mut()
    }

    /// By pointer.
    ///
    /// # Errors
    /// Over the limit.
    #[rate_limit(key = self.0, rate = "1/s", wait = "1s")]
    pub async fn count(self: Arc<Self>) -> Result<usize, RateLimited> {
        Ok(self.0.len())
    }

    /// Pinned.
    #[rate_limit(rate = "1/s")]
    #[must_use]
    pub fn pinned(self: Pin<&mut Self>) -> Option<usize> {
        self.0.len().checked_sub(1)
    }

    #[rate_limit(rate = "1/s")]
    fn private(&self) -> Option<usize> {
        self.0.len().checked_add(1)
    }

    /// Calls itself.
    #[rate_limit(rate = "9/s")]
    #[must_use]
    pub fn recursive(&self, depth: usize) -> Option<usize> {
        if depth == 0 {
            return self.private();
        }
        self.recursive(depth.saturating_sub(1))
    }
}
