//! Carets over several tokens: stable Rust joins no spans, but an expression reaches from its first token to its last.

use proc_macro2::Span;
use quote::ToTokens;

/// The spans of the first token and the last.
pub(super) fn ends(tokens: impl ToTokens) -> (Span, Span) {
    let mut spans = tokens.to_token_stream().into_iter().map(|token| token.span());
    let first = spans.next().unwrap_or_else(Span::mixed_site);
    (first, spans.last().unwrap_or(first))
}
