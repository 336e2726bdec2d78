//! The item under the attribute: read as far as its signature. The body is never parsed.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, quote, quote_spanned};
use syn::parse::discouraged::Speculative;
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, Signature, Token, Visibility, braced, token};

use crate::errors::Errors;

/// What stands under the attribute.
pub(crate) enum Item {
    Function(Box<Function>),
    /// No function, or one that cannot be limited; emitted as it came.
    Other(TokenStream),
}

pub(crate) struct Function {
    pub(crate) attributes: Vec<Attribute>,
    /// Those in the body, `#![...]`, which must stay its first tokens.
    inner_attributes: Vec<Attribute>,
    visibility: Visibility,
    defaultness: Option<Token![default]>,
    pub(crate) signature: Signature,
    braces: token::Brace,
    pub(crate) body: TokenStream,
}

/// Reads the item without the attributes that belong to the stack, which the caller has taken.
pub(crate) fn read(attributes: Vec<Attribute>, rest: TokenStream, errors: &mut Errors) -> Item {
    let as_it_came = quote!(#(#attributes)* #rest);
    match Parser::parse2(|input: ParseStream<'_>| read_function(attributes, input), rest) {
        Ok(function) => {
            if let Some(constness) = &function.signature.constness {
                errors.push(
                    constness,
                    "a `const fn` cannot be rate limited, since it also runs when compiling; remove `const`",
                );
                return Item::Other(as_it_came);
            }
            Item::Function(Box::new(function))
        }
        Err(error) => {
            errors.keep::<()>(Err(error));
            Item::Other(as_it_came)
        }
    }
}

fn read_function(attributes: Vec<Attribute>, input: ParseStream<'_>) -> syn::Result<Function> {
    let visibility = input.parse()?;
    let defaultness =
        if input.peek(Token![default]) && !input.peek2(Token![!]) { Some(input.parse()?) } else { None };
    if !begins_function(input) {
        let what = input.cursor().token_tree().map(|(token, _)| token);
        return Err(syn::Error::new_spanned(
            what,
            "only a function can be rate limited; put the attribute on one",
        ));
    }
    let signature = input.parse()?;
    if input.peek(Token![;]) {
        let semicolon: TokenTree = input.parse()?;
        let message = "a function without a body cannot be rate limited; put the attribute where the body is";
        return Err(syn::Error::new_spanned(semicolon, message));
    }
    let content;
    let braces = braced!(content in input);
    let inner_attributes = content.call(Attribute::parse_inner)?;
    let body = content.parse()?;
    Ok(Function { attributes, inner_attributes, visibility, defaultness, signature, braces, body })
}

/// Whether `fn` comes, after the words that may stand before it.
fn begins_function(input: ParseStream<'_>) -> bool {
    let ahead = input.fork();
    loop {
        if ahead.peek(Token![fn]) {
            return true;
        }
        let is_qualifier = ahead.peek(Token![const])
            || ahead.peek(Token![async])
            || ahead.peek(Token![unsafe])
            || ahead.peek(Token![extern]);
        if !is_qualifier || ahead.parse::<TokenTree>().is_err() {
            return false;
        }
        // The string of `extern "C"`.
        if ahead.peek(syn::LitStr) && ahead.parse::<TokenTree>().is_err() {
            return false;
        }
    }
}

impl Function {
    /// The function as it was declared, with `body` between its braces.
    pub(crate) fn with_body(&self, body: &TokenStream) -> TokenStream {
        let Self { attributes, inner_attributes, visibility, defaultness, signature, braces, .. } = self;
        let mut tokens = quote!(#(#attributes)* #visibility #defaultness #signature);
        braces.surround(&mut tokens, |tokens| {
            tokens.extend(quote!(#(#inner_attributes)*));
            body.to_tokens(tokens);
        });
        tokens
    }

    /// Whether `#[track_caller]` stands on it.
    pub(crate) fn tracks_caller(&self) -> bool {
        self.attributes.iter().any(|attribute| attribute.path().is_ident("track_caller"))
    }

    /// The user's body, untouched, in a block of its own: a `use` in it cannot change what the generated code means, and
    /// no lint takes its items for misplaced.
    pub(crate) fn body_block(&self) -> TokenStream {
        let body = &self.body;
        let braces = self.braces.span.join();
        // A lint takes braces around a single expression for needless, unless they are generated.
        let is_expression = !body.is_empty() && !has_semicolon(body);
        let span = if is_expression { Span::mixed_site().located_at(braces) } else { braces };
        quote_spanned!(span=> { #body })
    }
}

fn has_semicolon(body: &TokenStream) -> bool {
    body.clone().into_iter().any(|token| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ';'))
}

/// Splits the outer attributes off an item.
pub(crate) fn split_attributes(item: TokenStream) -> (Vec<Attribute>, TokenStream) {
    let split = |input: ParseStream<'_>| {
        let ahead = input.fork();
        let attributes = match ahead.call(Attribute::parse_outer) {
            Ok(attributes) => {
                input.advance_to(&ahead);
                attributes
            }
            Err(_) => Vec::new(),
        };
        Ok((attributes, input.parse::<TokenStream>()?))
    };
    split.parse2(item).unwrap_or_default()
}
