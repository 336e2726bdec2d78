//! Where the next argument begins, after one that cannot be read.

use proc_macro2::{Ident, TokenTree};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Token, token};

use super::ARGUMENTS;

/// Skips to the comma before the next argument, or to the end.
///
/// Closures (`|a, b|`) and generics (`f::<A, B>()`) have commas of their own; only one that another
/// argument follows ends this one.
pub(super) fn skip_argument(input: ParseStream<'_>) {
    while !input.is_empty() {
        if input.peek(Token![,]) && argument_follows(input) {
            return;
        }
        // A token that is no token tree does not exist; should it fail all the same, the rest is skipped.
        if input.parse::<TokenTree>().is_err() {
            return;
        }
    }
}

fn argument_follows(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    if ahead.parse::<Token![,]>().is_err() || ahead.is_empty() {
        return true;
    }
    let Ok(name) = ahead.call(Ident::parse_any) else { return false };
    if begins_value(&ahead) {
        return true;
    }
    // A known name also where its value is missing, or written in another way: `max(100)`, `max: 100`.
    let is_known = ARGUMENTS.iter().any(|(known, _)| name == known);
    let has_colon = ahead.peek(Token![:]) && !ahead.peek(Token![::]);
    is_known && (ahead.is_empty() || ahead.peek(Token![,]) || ahead.peek(token::Paren) || has_colon)
}

/// An `=` that is not the first half of `==` or `=>`.
pub(super) fn begins_value(input: ParseStream<'_>) -> bool {
    input.peek(Token![=]) && !input.peek(Token![==]) && !input.peek(Token![=>])
}
