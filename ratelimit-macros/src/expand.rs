//! Third stage: the function with its limits.
//!
//! ```text
//! #[rate_limit(key = "user_id", max = 100, window = "1s")]
//! fn profile(user_id: u64) -> Result<Profile, AppError> { body }
//!
//! fn profile(user_id: u64) -> Result<Profile, AppError> {
//!     let __key = ::ratelimit_runtime::__private::key(&user_id);
//!     let __ask = ::ratelimit_runtime::__private::Ask::of(__key);
//!     let __claim = {
//!         static __RATE_LIMIT: ::ratelimit_runtime::__private::Declared<..> = ..;
//!         ::ratelimit_runtime::__private::claim_by_key(&__RATE_LIMIT, __ask)
//!     };
//!     if let ::core::result::Result::Err(__limited) = ::ratelimit_runtime::__private::check([__claim]) {
//!         return ::ratelimit_runtime::FromRateLimited::from_rate_limited(__limited);
//!     }
//!     { body }
//! }
//! ```
//!
//! The signature and the body are the user's own tokens. Generated locals have [`mixed_site`](Span::mixed_site) spans, so
//! that no parameter is captured, and two underscores, which the drawings in this folder leave out: a `let` cannot shadow
//! a constant, a static or a unit struct, and such things are called `key` and `max` too (by a table's columns, say).
//! Generated items are not hygienic, whatever their span: they live in blocks in which nothing of the user's is evaluated.

mod ask;
mod declared;
mod denial;
mod layout;
mod returned;
mod spans;
mod wait;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ExprPath;

use crate::check::{Limit, Refused, Source, Stack};
use crate::function::Function;
use crate::runtime::Runtime;
use layout::Layout;
use spans::ends;

pub(crate) use declared::limiter;

/// The function with its limits.
pub(crate) fn function(stack: &Stack, function: &Function, runtime: &Runtime) -> TokenStream {
    let prologue = claims(&stack.limits, runtime);
    let decided = Layout::of(stack, &function.signature).body(&Parts {
        stack,
        function,
        runtime,
        claims: (0..stack.limits.len()).map(|index| numbered("claim", index, stack.limits.len())).collect(),
    });
    function.with_body(&quote!(#prologue #decided))
}

/// The function without limits, beside the errors of its attributes. Its expressions are still evaluated, and `permit` is
/// still bound: so neither the body nor a caller gives an error or a warning of its own.
pub(crate) fn unlimited(refused: &Refused, function: &Function, runtime: &Runtime) -> TokenStream {
    let span = Span::mixed_site();
    let ask = numbered("ask", 0, 1);
    let asks = refused.asks.iter().map(|asked| {
        let statements = ask::statements(&ask, asked, None, runtime);
        quote!(#statements let _ = #ask;)
    });
    let permit = refused
        .permit
        .as_ref()
        .map(|permit| quote_spanned!(span=> let #permit = #runtime::__private::unlimited_permit();));
    let prologue = quote!(#(#asks)* #permit);
    let body = &function.body;
    let body = if prologue.is_empty() { body.clone() } else { function.body_block() };
    function.with_body(&quote!(#prologue #body))
}

/// What every layout of the body is made from.
pub(crate) struct Parts<'a> {
    pub(crate) stack: &'a Stack,
    pub(crate) function: &'a Function,
    pub(crate) runtime: &'a Runtime,
    /// The locals that [`claims`] has bound.
    pub(crate) claims: Vec<Ident>,
}

/// Evaluates what is asked of each limit, the outermost first, and finds the limit.
fn claims(limits: &[Limit], runtime: &Runtime) -> TokenStream {
    let mut statements = TokenStream::new();
    for (index, limit) in limits.iter().enumerate() {
        let ask = numbered("ask", index, limits.len());
        let claim = numbered("claim", index, limits.len());
        statements.extend(ask::statements(&ask, &limit.ask, Some(&limit.source), runtime));
        let join = if limit.ask.key.is_some() { "claim_by_key" } else { "claim" };
        statements.extend(match &limit.source {
            Source::Shared(limiter) => shared_claim(&claim, limiter, &ask, join, runtime),
            Source::Own(declaration) => {
                let items = declared::items(declaration, runtime);
                let join = Ident::new(join, Span::mixed_site());
                quote_spanned! {Span::mixed_site()=>
                    let #claim = {
                        #items
                        #runtime::__private::#join(&__RATE_LIMIT, #ask)
                    };
                }
            }
        });
    }
    statements
}

/// `let claim = claim(&LIMITER, ask);`, with its errors on the limiter.
fn shared_claim(
    claim: &Ident,
    limiter: &ExprPath,
    ask: &Ident,
    join: &str,
    runtime: &Runtime,
) -> TokenStream {
    let (first, last) = ends(limiter);
    let runtime = runtime.at(first);
    let join = Ident::new(join, first);
    let mut value = quote_spanned!(first=> #runtime::__private::#join);
    value.extend(quote_spanned!(last=> (&#limiter, #ask)));
    quote_spanned!(Span::mixed_site()=> let #claim = #value;)
}

/// A generated local: `__claim`, or `__claim_1` and so on where there are several.
fn numbered(word: &str, index: usize, of: usize) -> Ident {
    if of == 1 {
        format_ident!("__{word}", span = Span::mixed_site())
    } else {
        format_ident!("__{word}_{}", index + 1, span = Span::mixed_site())
    }
}

/// The generated local that holds a denial.
fn limited() -> Ident {
    Ident::new("__limited", Span::mixed_site())
}
