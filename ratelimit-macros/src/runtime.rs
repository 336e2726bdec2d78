//! Where the runtime crate is, in the words of the one who uses it.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, quote_spanned};
use syn::Path;

use crate::args::{Args, value};

/// The path of the runtime crate: `::ratelimit_runtime`, or what `crate = ...` says.
#[derive(Clone)]
pub(crate) struct Runtime(TokenStream);

impl Runtime {
    /// The path in the first of `all` that gives one.
    pub(crate) fn of<'a>(all: impl IntoIterator<Item = &'a Args>) -> Self {
        Self::at_path(all.into_iter().find_map(|args| value(args.runtime.as_ref())))
    }

    pub(crate) fn at_path(given: Option<&Path>) -> Self {
        let span = Span::mixed_site();
        let default = || quote_spanned!(span=> ::ratelimit_runtime);
        Self(at(given.map_or_else(default, ToTokens::to_token_stream), span))
    }

    /// The same path with its errors at `span`.
    pub(crate) fn at(&self, span: Span) -> Self {
        Self(at(self.0.clone(), span))
    }
}

/// Moves tokens to another place in the code. `$crate` keeps what it means, which its own span knows.
fn at(tokens: TokenStream, span: Span) -> TokenStream {
    let moved = tokens.into_iter().map(|mut token| {
        let is_dollar_crate = matches!(&token, TokenTree::Ident(word) if word == "$crate");
        token.set_span(if is_dollar_crate { token.span().located_at(span) } else { span });
        token
    });
    moved.collect()
}

impl ToTokens for Runtime {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.0.to_tokens(tokens);
    }
}
