//! `#[rate_limit(...)]`: parse, check, expand.

use proc_macro2::TokenStream;
use quote::quote;

use crate::args::value;
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
    let permit = layers.iter().find_map(|layer| value(layer.args.permit.as_ref()).cloned());
    if let Some(stack) = check::stack(layers, &function.signature, &mut errors) {
        return expand::function(&stack, &function, &runtime);
    }
    let function = expand::unlimited(permit.as_ref(), &function, &runtime);
    quote!(#errors #function)
}
