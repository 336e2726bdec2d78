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

/// Limits how often a function runs.
#[proc_macro_attribute]
pub fn rate_limit(arguments: TokenStream, item: TokenStream) -> TokenStream {
    attribute::expand(arguments.into(), item.into()).into()
}

/// Makes a limit that several functions share: the value of a `static` of type `LazyLimiter`, or `LazyKeyedLimiter`.
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
#[proc_macro_derive(RateLimitKey, attributes(rate_limit_key))]
pub fn rate_limit_key(item: TokenStream) -> TokenStream {
    derive::expand(item.into()).into()
}
