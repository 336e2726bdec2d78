//! `#[rate_limit(...)]`: parse, check, expand.

use proc_macro2::TokenStream;
use quote::quote;

use crate::errors::Errors;
use crate::function::{self, Item};
use crate::runtime::Runtime;
use crate::{check, expand, stack};

pub(crate) fn expand(tokens: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let (mut attributes, rest) = function::split_attributes(item);
    let layers = stack::take(tokens, &mut attributes, &mut errors);
    let function = match function::read(attributes, rest, &mut errors) {
        Item::Function(function) => function,
        Item::Other(item) => return quote!(#errors #item),
    };
    let runtime = Runtime::of(layers.iter().map(|layer| &layer.args));
    match check::stack(layers, &function.signature, &mut errors) {
        Ok(stack) => expand::function(&stack, &function, &runtime),
        Err(refused) => {
            let function = expand::unlimited(&refused, &function, &runtime);
            quote!(#errors #function)
        }
    }
}
