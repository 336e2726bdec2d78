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
use syn::{Expr, UnOp};

use crate::args::{Argument, Cost, Share};
use crate::check::Ask;
use crate::runtime::Runtime;

/// Binds the local `binding` to an `Ask`.
pub(super) fn statements(binding: &Ident, ask: &Ask, runtime: &Runtime) -> TokenStream {
    let span = Span::mixed_site();
    let mut expressions = TokenStream::new();
    let mut built = match &ask.key {
        None => quote_spanned!(span=> #runtime::__private::Ask::new()),
        Some(key) => {
            expressions.extend(encoded(key, runtime));
            quote_spanned!(span=> #runtime::__private::Ask::of(key))
        }
    };
    if let Some(cost) = &ask.cost {
        let cost = match &cost.value {
            Some(Cost::Expression(cost_expression)) => {
                expressions.extend(typed("cost", "u32", cost, cost_expression));
                quote_spanned!(span=> cost)
            }
            Some(Cost::Literal(cost)) => Literal::u32_unsuffixed(*cost).into_token_stream(),
            None => return TokenStream::new(),
        };
        built.extend(quote_spanned!(span=> .cost(#cost)));
    }
    if let Some(max) = &ask.max {
        let Some(expression) = &max.value else { return TokenStream::new() };
        expressions.extend(typed("max", "u32", max, expression));
        built.extend(quote_spanned!(span=> .max(max)));
    }
    if let Some(share) = &ask.share {
        let share = match &share.value {
            Some(Share::Expression(share_expression)) => {
                expressions.extend(typed("share", "f64", share, share_expression));
                quote_spanned!(span=> share)
            }
            Some(Share::Literal(share)) => Literal::f64_unsuffixed(*share).into_token_stream(),
            None => return TokenStream::new(),
        };
        built.extend(quote_spanned!(span=> .share(#share)));
    }
    let Some(when) = &ask.when else {
        return quote_spanned!(span=> #expressions let #binding = #built;);
    };
    let limited = when.value.as_ref().map(|expression| typed("limited", "bool", when, expression));
    quote_spanned! {span=>
        #limited
        let #binding = if limited {
            #expressions
            #built
        } else {
            #runtime::__private::Ask::unlimited()
        };
    }
}

/// `let key = key(&expression);`, with the call at the argument's name: "required by this call" then points there.
fn encoded(key: &Argument<Expr>, runtime: &Runtime) -> TokenStream {
    let expression = key.value.as_ref().map(borrowed);
    let at_name = Span::mixed_site().located_at(key.name.span());
    let runtime = runtime.at(at_name);
    let encode = quote_spanned!(at_name=> #runtime::__private::key);
    quote_spanned!(Span::mixed_site()=> let key = #encode(#expression);)
}

/// `let cost: u32 = expression;`, with the type at the argument's name: "expected due to this" then points there.
fn typed<T>(local: &str, primitive: &str, argument: &Argument<T>, expression: &Expr) -> TokenStream {
    let local = Ident::new(local, Span::mixed_site());
    let primitive = Ident::new(primitive, Span::mixed_site().located_at(argument.name.span()));
    let at_name = quote_spanned!(primitive.span()=> ::core::primitive::#primitive);
    quote_spanned!(Span::mixed_site()=> let #local: #at_name = #expression;)
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
        Expr::Tuple(tuple) if !tuple.elems.is_empty() => {
            let parts = tuple.elems.iter().map(borrowed);
            let mut tokens = ampersand;
            tuple.paren_token.surround(&mut tokens, |tokens| tokens.extend(quote!(#(#parts,)*)));
            tokens
        }
        Expr::Array(array) => {
            let parts = array.elems.iter().map(borrowed);
            let mut tokens = ampersand;
            array.bracket_token.surround(&mut tokens, |tokens| tokens.extend(quote!(#(#parts,)*)));
            tokens
        }
        other if binds_tighter_than_a_borrow(other) => quote!(#ampersand #other),
        other => quote!(#ampersand (#other)),
    }
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
