//! Where the next argument begins, after one that cannot be read.

use proc_macro2::TokenTree;
use syn::Token;
use syn::ext::IdentExt;
use syn::parse::ParseStream;

/// Skips to the comma before the next argument, or to the end.
///
/// Closures (`|a, b|`) and generics (`f::<A, B>()`) have commas of their own; only one that `name =` or a flag follows
/// ends an argument.
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
    let Ok(name) = ahead.call(proc_macro2::Ident::parse_any) else { return false };
    let is_flag = name == "wait" || name == "keyed";
    begins_value(&ahead) || is_flag && (ahead.is_empty() || ahead.peek(Token![,]))
}

/// An `=` that is not the first half of `==` or `=>`.
pub(super) fn begins_value(input: ParseStream<'_>) -> bool {
    input.peek(Token![=]) && !input.peek(Token![==]) && !input.peek(Token![=>])
}
