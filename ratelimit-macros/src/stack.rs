//! All `rate_limit` attributes of one function, taken together: the stack is one decision.

use proc_macro2::{Ident, Span, TokenStream};
use quote::ToTokens;
use syn::{Attribute, Meta};

use crate::args::{self, Args};
use crate::errors::Errors;

/// One attribute of the stack.
pub(crate) struct Layer {
    pub(crate) args: Args,
    /// What the caret covers where something is missing, and where the limit is declared: the whole attribute.
    pub(crate) site: TokenStream,
}

/// Takes the attributes of the stack out of `attributes`; the others keep their order.
///
/// The compiler hands over the outermost one as `tokens`. Those below it are known by the last segment of their path.
pub(crate) fn take(tokens: TokenStream, attributes: &mut Vec<Attribute>, errors: &mut Errors) -> Vec<Layer> {
    let mut place = 0;
    let outermost = Ident::new("rate_limit", Span::call_site()).into_token_stream();
    let mut layers = vec![Layer { args: args::read(tokens, &mut place, errors), site: outermost }];
    for attribute in attributes.extract_if(.., |attribute| is_rate_limit(attribute)) {
        let tokens = match &attribute.meta {
            Meta::List(list) => list.tokens.clone(),
            Meta::Path(_) => TokenStream::new(),
            Meta::NameValue(pair) => {
                errors.push(pair, "expected `#[rate_limit(...)]`");
                continue;
            }
        };
        layers.push(Layer {
            args: args::read(tokens, &mut place, errors),
            site: attribute.into_token_stream(),
        });
    }
    layers
}

fn is_rate_limit(attribute: &Attribute) -> bool {
    attribute.path().segments.last().is_some_and(|segment| segment.ident == "rate_limit")
}
