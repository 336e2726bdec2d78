//! What a call asks of one limit.
//!
//! ```text
//! key = (user.id, &ip), cost = "order.lines()", when = !user.is_admin
//!
//! let limited: bool = !user.is_admin;
//! let ask = if limited {
//!     let key = __private::key(&(&user.id, &&ip));
//!     let cost: u32 = order.lines();
//!     __private::Ask::of(key).cost(cost)
//! } else {
//!     __private::Ask::unlimited()
//! };
//! ```
//!
//! Every expression is a statement of its own, so that its temporaries end with it. The types are written out, so that
//! an error stands on the user's expression.

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Expr, Token, UnOp, punctuated::Punctuated};

use super::spans::ends;
use crate::args::{Argument, Cost, Share};
use crate::check::{Ask, Source};
use crate::runtime::Runtime;

/// Binds the local `binding` to an `Ask`.
pub(super) fn statements(
    binding: &Ident,
    ask: &Ask,
    source: Option<&Source>,
    runtime: &Runtime,
) -> TokenStream {
    let span = Span::mixed_site();
    let mut expressions = TokenStream::new();
    let mut built = if let Some((key, expression)) = well_formed(ask.key.as_ref()) {
        expressions.extend(encoded(&key.name, expression, source, runtime));
        quote_spanned!(span=> #runtime::__private::Ask::of(__key))
    } else {
        quote_spanned!(span=> #runtime::__private::Ask::new())
    };
    if let Some((cost, value)) = well_formed(ask.cost.as_ref()) {
        let cost = match value {
            Cost::Literal(cost) => Literal::u32_unsuffixed(*cost).into_token_stream(),
            Cost::Expression(expression) => {
                expressions.extend(typed("__cost", "u32", &cost.name, expression));
                quote_spanned!(span=> __cost)
            }
        };
        built.extend(quote_spanned!(span=> .cost(#cost)));
    }
    if let Some((max, expression)) = well_formed(ask.max.as_ref()) {
        expressions.extend(typed("__max", "u32", &max.name, expression));
        built.extend(quote_spanned!(span=> .max(__max)));
    }
    if let Some((share, value)) = well_formed(ask.share.as_ref()) {
        let share = match value {
            Share::Literal(share) => Literal::f64_unsuffixed(*share).into_token_stream(),
            Share::Expression(expression) => {
                expressions.extend(typed("__share", "f64", &share.name, expression));
                quote_spanned!(span=> __share)
            }
        };
        built.extend(quote_spanned!(span=> .share(#share)));
    }
    let Some((when, expression)) = well_formed(ask.when.as_ref()) else {
        return quote_spanned!(span=> #expressions let #binding = #built;);
    };
    let limited = typed("__limited", "bool", &when.name, expression);
    quote_spanned! {span=>
        #limited
        let #binding = if __limited {
            #expressions
            #built
        } else {
            #runtime::__private::Ask::unlimited()
        };
    }
}

/// An argument and its value, unless that was refused.
fn well_formed<T>(argument: Option<&Argument<T>>) -> Option<(&Argument<T>, &T)> {
    let argument = argument?;
    Some((argument, argument.value.as_ref()?))
}

/// `let key = key(&expression);`, with the call at the argument's name: "required by this call" then points there.
///
/// Stores outlive the process, and so does what they are told of a long key. Of a shared limiter only the runtime knows
/// whether it has one.
fn encoded(name: &Ident, expression: &Expr, source: Option<&Source>, runtime: &Runtime) -> TokenStream {
    let borrowed = borrowed(expression);
    let at_name = Span::mixed_site().located_at(name.span());
    let runtime = runtime.at(at_name);
    let (encode, limiter) = match source {
        Some(Source::Own(declaration)) if declaration.store.is_some() => ("key_for_store", None),
        Some(Source::Shared(limiter)) => ("key_for", Some(limiter)),
        _ => ("key", None),
    };
    let encode = Ident::new(encode, at_name);
    let encode = quote_spanned!(at_name=> #runtime::__private::#encode);
    let limiter = limiter.map(|limiter| {
        let (first, _) = ends(limiter);
        quote_spanned!(first=> &#limiter,)
    });
    quote_spanned!(Span::mixed_site()=> let __key = #encode(#limiter #borrowed);)
}

/// `let cost: u32 = expression;`, with the type at the argument's name: "expected due to this" then points there.
fn typed(local: &str, primitive: &str, name: &Ident, expression: &Expr) -> TokenStream {
    let local = Ident::new(local, Span::mixed_site());
    let at_name = Span::mixed_site().located_at(name.span());
    let primitive = Ident::new(primitive, at_name);
    let primitive = quote_spanned!(at_name=> ::core::primitive::#primitive);
    quote_spanned!(Span::mixed_site()=> let #local: #primitive = #expression;)
}

/// A borrow of a key. Of tuples and arrays the parts are borrowed, however deep, so that nothing is moved out of what
/// the body still needs; a reference is the same key as its value.
fn borrowed(key: &Expr) -> TokenStream {
    let ampersand = quote_spanned!(key.span()=> &);
    match key {
        Expr::Group(group) => borrowed(&group.expr),
        Expr::Paren(paren) => borrowed(&paren.expr),
        Expr::Reference(reference) if reference.mutability.is_none() && has_parts(&reference.expr) => {
            let inner = borrowed(&reference.expr);
            quote!(#ampersand #inner)
        }
        Expr::Tuple(tuple) => borrowed_parts(&tuple.elems, tuple.paren_token.span.join()),
        // The same key as a tuple of its elements, which need not agree in type once they are borrowed.
        Expr::Array(array) if array.elems.len() <= LONGEST_TUPLE => {
            borrowed_parts(&array.elems, array.bracket_token.span.join())
        }
        other if binds_tighter_than_a_borrow(other) => quote!(#ampersand #other),
        other => quote!(#ampersand (#other)),
    }
}

/// As many values as a tuple can have and be a key.
const LONGEST_TUPLE: usize = 12;

/// `&(&part, &part,)`
fn borrowed_parts(parts: &Punctuated<Expr, Token![,]>, parentheses: Span) -> TokenStream {
    let parts = parts.iter().map(borrowed);
    quote_spanned!(parentheses=> &(#(#parts,)*))
}

fn has_parts(key: &Expr) -> bool {
    match key {
        Expr::Group(group) => has_parts(&group.expr),
        Expr::Paren(paren) => has_parts(&paren.expr),
        Expr::Reference(reference) => has_parts(&reference.expr),
        Expr::Tuple(_) | Expr::Array(_) => true,
        _ => false,
    }
}

/// Whether `&expression` borrows all of it without parentheses.
fn binds_tighter_than_a_borrow(expression: &Expr) -> bool {
    match expression {
        Expr::Path(_)
        | Expr::Field(_)
        | Expr::MethodCall(_)
        | Expr::Call(_)
        | Expr::Index(_)
        | Expr::Lit(_)
        | Expr::Macro(_)
        | Expr::Tuple(_)
        | Expr::Await(_)
        | Expr::Try(_)
        | Expr::Reference(_) => true,
        Expr::Unary(unary) => matches!(unary.op, UnOp::Deref(_)),
        _ => false,
    }
}
