//! What a denied call returns. The statements end the function; they find the denial in the local [`limited`].

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::{Expr, ExprBlock, ExprClosure, Pat, ReturnType, Signature, Token, Type};

use super::limited;
use super::spans::ends;
use crate::args::Fallback;
use crate::runtime::Runtime;

/// `return fallback;`, where the function's own value is meant, or the fallback alone where it never yields one: the lint
/// against unreachable code would find the `return`.
pub(super) fn by_fallback(fallback: &Fallback, signature: &Signature, runtime: &Runtime) -> TokenStream {
    let (span, limited) = (Span::mixed_site(), limited());
    match fallback {
        Fallback::Path(path) => {
            let call = call(path.to_token_stream(), &limited);
            quote_spanned!(span=> return #call;)
        }
        Fallback::Closure(closure) => {
            let argument = bind_argument(closure, runtime);
            let body = value_of(&closure.body);
            match &closure.output {
                ReturnType::Default if returns_never(signature) || never_yields(&closure.body) => {
                    quote_spanned!(span=> #argument #body)
                }
                ReturnType::Default => quote_spanned!(span=> #argument return #body;),
                ReturnType::Type(_, returned) => {
                    quote_spanned!(span=> #argument let __value: #returned = #body; return __value;)
                }
            }
        }
    }
}

/// `return Box::pin(async move { fallback });`, under `async_trait`, where the user wrote the value that is awaited.
pub(super) fn by_boxed_fallback(
    fallback: &Fallback,
    output: Option<&Type>,
    runtime: &Runtime,
) -> TokenStream {
    let (span, limited) = (Span::mixed_site(), limited());
    let (argument, body) = match fallback {
        Fallback::Path(path) => (TokenStream::new(), call(path.to_token_stream(), &limited)),
        Fallback::Closure(closure) => (bind_argument(closure, runtime), value_of(&closure.body)),
    };
    let output = output.map(|output| quote_spanned!(span=> : #output));
    quote_spanned! {span=>
        return ::std::boxed::Box::pin(async move {
            #argument
            let __value #output = #body;
            __value
        });
    }
}

fn returns_never(signature: &Signature) -> bool {
    matches!(&signature.output, ReturnType::Type(_, returned) if matches!(**returned, Type::Never(_)))
}

/// Whether the expression, by its looks, ends the function or the program by itself.
fn never_yields(body: &Expr) -> bool {
    match body {
        Expr::Return(_) => true,
        Expr::Macro(call) => call.mac.path.segments.last().is_some_and(|name| {
            ["panic", "todo", "unimplemented", "unreachable"].iter().any(|diverging| name.ident == diverging)
        }),
        _ => false,
    }
}

/// `FromRateLimited::from_rate_limited(limited)`, with its errors on the return type, or on the function's name where there
/// is none.
pub(super) fn by_return_type(signature: &Signature, runtime: &Runtime) -> TokenStream {
    let (first, last) = match &signature.output {
        ReturnType::Default => (signature.ident.span(), signature.ident.span()),
        ReturnType::Type(_, returned) => ends(returned),
    };
    let runtime = runtime.at(first);
    let mut tokens = quote_spanned!(first=> #runtime::FromRateLimited::from_rate_limited);
    let limited = limited();
    tokens.extend(quote_spanned!(last=> (#limited)));
    tokens
}

/// `function(limited)`, with its errors on the function.
fn call(function: TokenStream, limited: &Ident) -> TokenStream {
    let (first, last) = ends(&function);
    let mut limited = limited.clone();
    limited.set_span(limited.span().located_at(first));
    let mut tokens = function;
    tokens.extend(quote_spanned!(last=> (#limited)));
    tokens
}

/// The closure as it is, with its argument's type written out, and owning what it uses where it has to.
pub(super) fn closure(closure: &ExprClosure, owning: bool, runtime: &Runtime) -> TokenStream {
    let mut closure = closure.clone();
    if owning && closure.capture.is_none() {
        closure.capture = Some(Token![move](Span::mixed_site()));
    }
    let argument = match closure.inputs.first() {
        Some(typed @ Pat::Type(_)) => typed.to_token_stream(),
        pattern => quote_spanned!(Span::mixed_site()=> #pattern: #runtime::RateLimited),
    };
    let ExprClosure { capture, output, body, .. } = closure;
    quote_spanned!(Span::mixed_site()=> #capture |#argument| #output #body)
}

/// `let pattern: RateLimited = limited;`
fn bind_argument(closure: &ExprClosure, runtime: &Runtime) -> TokenStream {
    let (span, limited) = (Span::mixed_site(), limited());
    match closure.inputs.first() {
        Some(pattern @ Pat::Type(_)) => quote_spanned!(span=> let #pattern = #limited;),
        // A lint takes a `let` of such a name alone for one without effect.
        Some(Pat::Ident(pattern)) if pattern.ident.to_string().starts_with('_') => {
            quote_spanned!(span=> let (#pattern,): (#runtime::RateLimited,) = (#limited,);)
        }
        pattern => quote_spanned!(span=> let #pattern: #runtime::RateLimited = #limited;),
    }
}

/// The closure's body as a value. Its outer braces or parentheses, and a `()`, become generated ones: the lints against
/// needless ones know nothing of closures.
fn value_of(body: &Expr) -> TokenStream {
    match body {
        Expr::Group(group) => value_of(&group.expr),
        Expr::Paren(paren) if paren.attrs.is_empty() => value_of(&paren.expr),
        Expr::Block(ExprBlock { attrs, label: None, block }) if attrs.is_empty() => {
            let statements = &block.stmts;
            quote_spanned!(Span::mixed_site()=> { #(#statements)* })
        }
        Expr::Tuple(tuple) if tuple.elems.is_empty() => {
            let span = Span::mixed_site().located_at(tuple.paren_token.span.join());
            quote_spanned!(span=> ())
        }
        other => other.to_token_stream(),
    }
}
