//! `limiter!`: a limit that several functions share.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote_spanned};

use crate::errors::Errors;
use crate::runtime::Runtime;
use crate::{args, check, expand};

pub(crate) fn expand(tokens: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let args = args::read(tokens, &mut 0, &mut errors);
    let runtime = Runtime::of([&args]);
    let site = Ident::new("limiter", Span::call_site()).into_token_stream();
    let declaration = check::in_limiter(args, site, &mut errors);
    declaration.map_or_else(
        || quote_spanned!(Span::mixed_site()=> { #errors }),
        |declaration| expand::limiter(&declaration, &runtime),
    )
}
