//! The attribute `#[rate_limit]`, `limiter!` and `derive(RateLimitKey)`. Use them through `ratelimit-runtime`, which
//! re-exports them.

mod args;
mod attribute;
mod check;
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
