//! Tests of the whole macro, from tokens to tokens. The messages and their carets are in `tests/ui`.

mod expansion;
mod mistakes;
mod noise;

use proc_macro2::{TokenStream, TokenTree};

/// The messages of all `compile_error!`s in an expansion.
fn errors(expansion: TokenStream) -> Vec<String> {
    let mut found = Vec::new();
    let mut awaits_message = false;
    for token in expansion {
        match token {
            TokenTree::Ident(word) => awaits_message = word == "compile_error",
            TokenTree::Group(group) if awaits_message => {
                awaits_message = false;
                found.extend(syn::parse2::<syn::LitStr>(group.stream()).map(|message| message.value()));
            }
            TokenTree::Group(group) => found.extend(errors(group.stream())),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
    found
}

/// The messages for `#[rate_limit(arguments)] item`.
fn errors_of(arguments: &str, item: &str) -> Vec<String> {
    errors(crate::attribute::expand(tokens(arguments), tokens(item)))
}

fn tokens(code: &str) -> TokenStream {
    code.parse().expect("the code of a test is tokens")
}
