//! Where the decision stands, and what follows it.
//!
//! Without `wait` a call is decided in front of the body, whatever the function returns. A call that waits does so where
//! it may: an `async fn` awaits; a function under `async_trait`, or one that returns a boxed future by hand, waits
//! inside that future; any other blocks its thread. The same holds for a call that has to wait for a store's answer.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};
use syn::{ReturnType, Signature, Type};

use super::returned::{is_from_async_trait, may_be_boxed_future, output_of_boxed_future, reads_as_future};
use super::{Parts, denial, limited, wait};
use crate::args::Fallback;
use crate::check::{Stack, Wait};

#[derive(Clone, Copy)]
pub(super) enum Layout<'a> {
    /// Decided at once.
    AtOnce,
    /// Awaits, in an `async fn`: its turn, or only the answer of a store.
    Awaiting(Option<&'a Wait>),
    /// Waits inside the boxed future that `async_trait` has made.
    InBoxedFuture(Option<&'a Wait>, &'a Type),
    /// Waits as the return type wants it, which only the compiler knows.
    AsReturned(Option<&'a Wait>, &'a Type),
    /// Blocks the thread.
    Blocking(&'a Wait),
}

impl<'a> Layout<'a> {
    pub(super) fn of(stack: &'a Stack, signature: &'a Signature) -> Self {
        let wait = stack.wait.as_ref();
        if signature.asyncness.is_some() && (wait.is_some() || stack.may_ask_store()) {
            return Self::Awaiting(wait);
        }
        if wait.is_none() && !stack.asks_store() {
            return Self::AtOnce;
        }
        match &signature.output {
            ReturnType::Type(_, returned) if is_from_async_trait(signature) => {
                Self::InBoxedFuture(wait, returned)
            }
            ReturnType::Type(_, returned) if may_be_boxed_future(returned) => {
                Self::AsReturned(wait, returned)
            }
            _ => wait.map_or(Self::AtOnce, Self::Blocking),
        }
    }

    /// The decision and the user's body.
    pub(super) fn body(self, parts: &Parts<'_>) -> TokenStream {
        match self {
            Self::AtOnce | Self::Awaiting(_) | Self::Blocking(_) => in_front(self, parts),
            Self::InBoxedFuture(wait, returned) => in_boxed_future(wait, returned, parts),
            Self::AsReturned(wait, returned) => as_returned(wait, returned, parts),
        }
    }
}

/// ```text
/// if let Err(limited) = check([claim]) { return ..; }
/// { body }
/// ```
fn in_front(layout: Layout<'_>, parts: &Parts<'_>) -> TokenStream {
    let Parts { stack, function, runtime, .. } = parts;
    let output = output_of_boxed_future(&function.signature);
    let denied = match &stack.fallback {
        Some(fallback) if is_from_async_trait(&function.signature) => {
            denial::by_boxed_fallback(fallback, output, runtime)
        }
        Some(fallback) => denial::by_fallback(fallback, &function.signature, runtime),
        None => {
            let denied = denial::by_return_type(&function.signature, runtime);
            quote_spanned!(Span::mixed_site()=> return #denied;)
        }
    };
    let decision = decision(layout, parts, &denied);
    let body = function.body_block();
    quote!(#decision #body)
}

/// ```text
/// Box::pin(async move {
///     if let Err(limited) = wait([claim], ..).await { return ..; }
///     let returned: Pin<Box<dyn Future<..>>> = { body };
///     returned.await
/// })
/// ```
fn in_boxed_future(wait: Option<&Wait>, returned: &Type, parts: &Parts<'_>) -> TokenStream {
    let Parts { stack, function, runtime, .. } = parts;
    let span = Span::mixed_site();
    let denied = if let Some(fallback) = &stack.fallback {
        denial::by_fallback(fallback, &function.signature, runtime)
    } else {
        let denied = denial::by_return_type(&function.signature, runtime);
        quote_spanned!(span=> let __denied: #returned = #denied; return __denied.await;)
    };
    let decision = decision(Layout::Awaiting(wait), parts, &denied);
    let body = function.body_block();
    quote_spanned! {span=>
        ::std::boxed::Box::pin(async move {
            #decision
            let __returned: #returned = #body;
            __returned.await
        })
    }
}

/// The statements that decide: without `permit`, nothing outlives them.
///
/// ```text
/// if let Err(limited) = check([claim]) { denied }
/// let permit = match admit([claim]) { Ok(permit) => permit, Err(limited) => { denied } };
/// wait_surely([claim]).await;
/// ```
fn decision(layout: Layout<'_>, parts: &Parts<'_>, denied: &TokenStream) -> TokenStream {
    let Parts { stack, runtime, claims, .. } = parts;
    let span = Span::mixed_site();
    let asked = quote_spanned!(span=> [#(#claims),*]);
    let (outcome, surely) = match layout {
        Layout::Awaiting(None) => {
            let ask = if stack.permit.is_some() { "admit_async" } else { "check_async" };
            let ask = Ident::new(ask, span);
            (quote_spanned!(span=> #runtime::__private::#ask(#asked).await), false)
        }
        Layout::Awaiting(Some(Wait { surely: true, .. })) => {
            (quote_spanned!(span=> #runtime::__private::wait_surely(#asked).await), true)
        }
        Layout::Awaiting(wait) => {
            let policy = wait::policy(wait, runtime);
            (quote_spanned!(span=> #runtime::__private::wait(#asked, #policy).await), false)
        }
        Layout::Blocking(Wait { surely: true, .. }) => {
            (quote_spanned!(span=> #runtime::__private::wait_blocking_surely(#asked)), true)
        }
        Layout::Blocking(wait) => {
            let policy = wait::policy(Some(wait), runtime);
            (quote_spanned!(span=> #runtime::__private::wait_blocking(#asked, #policy)), false)
        }
        _ if stack.permit.is_some() => (quote_spanned!(span=> #runtime::__private::admit(#asked)), false),
        _ => (quote_spanned!(span=> #runtime::__private::check(#asked)), false),
    };
    let outcome = match (surely, &stack.fallback, &stack.permit) {
        (true, None, None) => return quote_spanned!(span=> #outcome;),
        (true, None, Some(permit)) => return quote_spanned!(span=> let #permit = #outcome;),
        // A fallback that never runs is compiled all the same.
        (true, Some(_), _) => {
            quote_spanned!(span=> ::core::result::Result::<_, #runtime::RateLimited>::Ok(#outcome))
        }
        (false, _, _) => outcome,
    };
    let limited = limited();
    match &stack.permit {
        None => quote_spanned! {span=>
            if let ::core::result::Result::Err(#limited) = #outcome { #denied }
        },
        Some(permit) => quote_spanned! {span=>
            let #permit = match #outcome {
                ::core::result::Result::Ok(__permit) => __permit,
                ::core::result::Result::Err(#limited) => { #denied }
            };
        },
    }
}

/// ```text
/// let gate = match Returning::<Returned>::new().enter([claim], .., FromRateLimited::from_rate_limited) {
///     Ok(gate) => gate,
///     Err(denied) => return denied,
/// };
/// let returned: Returned = call(|| { body });
/// gate.leave(returned)
/// ```
///
/// `Returning` blocks in `enter`, or leaves the wait to a future that `leave` puts around a boxed one.
fn as_returned(wait: Option<&Wait>, returned: &Type, parts: &Parts<'_>) -> TokenStream {
    let Parts { stack, function, runtime, claims, .. } = parts;
    let span = Span::mixed_site();
    let asked = quote_spanned!(span=> [#(#claims),*]);
    let returning = quote_spanned!(span=> #runtime::__private::Returning::<#returned>::new());
    let denied = match &stack.fallback {
        Some(Fallback::Path(path)) => quote!(#path),
        Some(Fallback::Closure(closure)) => denial::closure(closure, reads_as_future(returned), runtime),
        None => {
            // A closure, since the function's own path would be checked, and refused, a second time.
            let (limited, denied) = (limited(), denial::by_return_type(&function.signature, runtime));
            quote_spanned!(span=> |#limited| #denied)
        }
    };
    let policy = wait::policy(wait, runtime);
    let gate = match (wait.is_some_and(|wait| wait.surely), &stack.fallback) {
        (true, None) => quote_spanned!(span=> let __gate = #returning.enter_surely(#asked);),
        (true, Some(_)) => {
            quote_spanned!(span=> #returning.never(#denied); let __gate = #returning.enter_surely(#asked);)
        }
        (false, _) => quote_spanned! {span=>
            let __gate = match #returning.enter(#asked, #policy, #denied) {
                ::core::result::Result::Ok(__gate) => __gate,
                ::core::result::Result::Err(__denied) => return __denied,
            };
        },
    };
    let permit =
        stack.permit.as_ref().map(|permit| quote_spanned!(span=> let (__gate, #permit) = __gate.permit();));
    let body = function.body_block();
    // A closure, out of which a `return` leads here, and behind which nothing is unreachable. The caller's place is not
    // known in one, so a function that asks for it is spared the closure where it can be.
    let body = if function.tracks_caller() && !may_return_early(&function.body) {
        body
    } else {
        quote_spanned!(span=> #runtime::__private::call(|| -> #returned #body))
    };
    quote_spanned! {span=>
        #gate
        #permit
        let __returned: #returned = #body;
        __gate.leave(__returned)
    }
}

/// Whether the body may leave the function in the middle: by `return`, by `?`, or in a macro that may hold either.
fn may_return_early(body: &TokenStream) -> bool {
    let mut before_is_word = false;
    body.clone().into_iter().any(|token| {
        let found = match &token {
            TokenTree::Group(group) => may_return_early(&group.stream()),
            TokenTree::Ident(word) => word == "return",
            TokenTree::Punct(punct) => punct.as_char() == '?' || punct.as_char() == '!' && before_is_word,
            TokenTree::Literal(_) => false,
        };
        before_is_word = matches!(token, TokenTree::Ident(_));
        found
    })
}
