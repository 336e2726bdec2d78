use std::fmt::Display;

use proc_macro2::TokenStream;
use quote::ToTokens;

/// The name of an argument that was guessed from a word which is reported already.
pub(crate) const GUESSED: &str = "__guessed";

/// The mistakes found so far, one error each, in the order in which they stand in the code.
#[derive(Default)]
pub(crate) struct Errors(Vec<syn::Error>);

impl Errors {
    /// The caret covers `tokens`.
    pub(crate) fn push(&mut self, tokens: impl ToTokens, message: impl Display) {
        let tokens = tokens.into_token_stream();
        if tokens.to_string() != GUESSED {
            self.0.push(syn::Error::new_spanned(tokens, message));
        }
    }

    /// Keeps the error of a failed step and goes on.
    pub(crate) fn keep<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.0.push(error)).ok()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// One `compile_error!` for each mistake.
impl ToTokens for Errors {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        tokens.extend(self.0.iter().map(syn::Error::to_compile_error));
    }
}
