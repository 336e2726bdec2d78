//! The attribute `#[rate_limit]`, `limiter!` and `derive(RateLimitKey)`. Use them through `ratelimit-runtime`, which
//! re-exports them.

mod args;
mod attribute;
mod check;
mod derive;
mod errors;
mod expand;
mod function;
mod limiter;
mod runtime;
mod stack;
#[cfg(test)]
mod tests;

use proc_macro::TokenStream;

#[doc = include_str!("../docs/rate_limit.md")]
#[proc_macro_attribute]
pub fn rate_limit(arguments: TokenStream, item: TokenStream) -> TokenStream {
    attribute::expand(arguments.into(), item.into()).into()
}

/// Makes a limit that several functions share: the value of a `static` of type `LazyLimiter`.
///
/// The arguments are those of [`rate_limit`](macro@rate_limit) that describe a limit; what a call asks (`key`, `cost`, `wait`
/// and so on) stands on the attribute, beside `limiter = PATH`. `max` is a literal or a `const` block. With `keyed` in front it
/// makes a `LazyKeyedLimiter`, one budget for each key. The default name is the path of the static.
///
/// ```
/// use ratelimit_runtime::{LazyKeyedLimiter, LazyLimiter, limiter, rate_limit};
///
/// static EXPORT: LazyLimiter = limiter!(max = 2, window = "1m", name = "export");
/// static EXPORT_BY_USER: LazyKeyedLimiter = limiter!(keyed, rate = "1/m", max_keys = 10_000);
///
/// #[rate_limit(limiter = EXPORT)]
/// #[rate_limit(limiter = EXPORT_BY_USER, key = user)]
/// fn export(user: u64) -> Option<()> {
///     Some(())
/// }
///
/// assert_eq!([1, 1, 2, 3].map(|user| export(user).is_some()), [true, false, true, false]);
/// ```
#[proc_macro]
pub fn limiter(arguments: TokenStream) -> TokenStream {
    limiter::expand(arguments.into()).into()
}

/// Makes a type usable as the key of a limit.
///
/// A struct with one unnamed field is the same key as that field. Any other struct is the tuple of its fields, the named
/// ones in the order of their names. A variant of an enum is told by its name. So fields and variants may be reordered
/// without a change to keys that a store has kept; renaming one makes other keys.
///
/// `#[rate_limit_key(skip)]` on a field leaves it out: values that differ only there share a budget.
/// `#[rate_limit_key(crate = path)]` on the type says where the runtime crate is, as `crate` does in
/// [`rate_limit`](macro@rate_limit).
///
/// ```
/// use ratelimit_runtime::{RateLimitKey, rate_limit};
///
/// #[derive(RateLimitKey)]
/// enum Caller {
///     Anonymous,
///     User { id: u64, #[rate_limit_key(skip)] name: String },
/// }
///
/// #[rate_limit(key = caller, rate = "1/m")]
/// fn search(caller: &Caller) -> Option<()> {
///     Some(())
/// }
///
/// let user = |name: &str| Caller::User { id: 7, name: name.to_owned() };
/// assert!(search(&Caller::Anonymous).is_some());
/// assert!(search(&user("Ada")).is_some());
/// assert!(search(&user("ada")).is_none());
/// ```
#[proc_macro_derive(RateLimitKey, attributes(rate_limit_key))]
pub fn rate_limit_key(item: TokenStream) -> TokenStream {
    derive::expand(item.into()).into()
}
