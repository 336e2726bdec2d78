//! Name by name, in any order.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use ratelimit_spec::{did_you_mean, unknown};
use syn::ext::IdentExt;
use syn::parse::discouraged::Speculative;
use syn::parse::{ParseStream, Parser};
use syn::{Expr, Token};

use super::recover::{begins_value, skip_argument};
use super::written::Written;
use super::{ARGUMENTS, Args, Argument, example, value};
use crate::errors::{Errors, GUESSED};

/// Names that people bring from other limiters.
const OTHER_WORDS: [(&str, &str); 9] = [
    ("limit", "max"),
    ("requests", "max"),
    ("calls", "max"),
    ("permits", "max"),
    ("per", "window"),
    ("period", "window"),
    ("interval", "window"),
    ("weight", "cost"),
    ("by", "key"),
];

/// Reads every argument that can be read and reports the others. `place` numbers them through a whole stack.
pub(crate) fn read(tokens: TokenStream, place: &mut usize, errors: &mut Errors) -> Args {
    let mut args = Args::default();
    let read = |input: ParseStream<'_>| {
        while !input.is_empty() {
            *place += 1;
            match read_one(input, *place) {
                Ok(written) => args.accept(written, errors),
                Err(Unreadable { name, error }) => {
                    errors.keep::<()>(Err(error));
                    match name {
                        Some(name) => args.accept_unreadable(&name.to_string(), name, *place),
                        None => args.has_nameless = true,
                    }
                    skip_argument(input);
                }
            }
            read_comma(input, errors);
        }
        Ok(())
    };
    let read = read.parse2(tokens);
    errors.keep(read);
    args
}

struct Unreadable {
    /// The argument that was meant, which is then not reported as missing.
    name: Option<Ident>,
    error: syn::Error,
}

fn read_one(input: ParseStream<'_>, place: usize) -> Result<Written, Unreadable> {
    let unreadable = |name: &Ident, error| Err(Unreadable { name: Some(name.clone()), error });
    if !input.peek(Ident::peek_any) {
        return Err(Unreadable { name: None, error: no_name(input) });
    }
    let name = match input.call(Ident::parse_any) {
        Ok(name) => name.unraw(),
        Err(error) => return Err(Unreadable { name: None, error }),
    };
    if begins_value(input) {
        let ahead = input.fork();
        let equals = ahead.parse::<Token![=]>();
        if ahead.is_empty() || ahead.peek(Token![,]) {
            input.advance_to(&ahead);
            let message = format!("`{name}` needs a value; write `{}`", example(&name));
            return unreadable(&name, syn::Error::new_spanned(&name, message));
        }
        return match equals.and_then(|_| ahead.parse::<Expr>()) {
            Ok(value) => {
                input.advance_to(&ahead);
                Ok(Written { name, value: Some(value), place })
            }
            Err(error) => unreadable(&name, no_expression(&name, &error)),
        };
    }
    if input.is_empty() || input.peek(Token![,]) {
        return Ok(Written { name, value: None, place });
    }
    let message = format!("expected `=` after `{name}`; write `{}`", example(&name));
    let at = input.cursor().token_tree().map(|(token, _)| token);
    unreadable(&name, syn::Error::new_spanned(at, message))
}

fn no_name(input: ParseStream<'_>) -> syn::Error {
    let token = input.cursor().token_tree().map(|(token, _)| token);
    let message = match &token {
        Some(TokenTree::Literal(literal)) if literal.to_string().contains('/') => {
            format!("expected the name of an argument; write `rate = {literal}`")
        }
        _ => "expected the name of an argument; write `max = 100, window = \"1s\"`".to_owned(),
    };
    syn::Error::new_spanned(token, message)
}

fn no_expression(name: &Ident, error: &syn::Error) -> syn::Error {
    syn::Error::new(error.span(), format!("the value of `{name}` cannot be read: {error}"))
}

/// Arguments are separated by commas; one that is missing costs one error and no argument.
fn read_comma(input: ParseStream<'_>, errors: &mut Errors) {
    if input.is_empty() || input.parse::<Token![,]>().is_ok() {
        return;
    }
    let next = input.cursor().token_tree().map(|(token, _)| token);
    errors.push(next, "expected `,` before this");
    let ahead = input.fork();
    let is_argument = ahead.call(Ident::parse_any).is_ok() && begins_value(&ahead);
    if !is_argument {
        skip_argument(input);
        // Present, unless the input has ended.
        let _ = input.parse::<Token![,]>();
    }
}

impl Args {
    fn accept(&mut self, written: Written, errors: &mut Errors) {
        let name = written.name.to_string();
        match name.as_str() {
            "max" => fill(&mut self.max, written, value::max, errors),
            "window" => fill(&mut self.window, written, value::window, errors),
            "rate" => fill(&mut self.rate, written, value::rate, errors),
            "algorithm" => fill(&mut self.algorithm, written, value::algorithm, errors),
            "buckets" => fill(&mut self.buckets, written, value::buckets, errors),
            "burst" => fill(&mut self.burst, written, value::burst, errors),
            "initial" => fill(&mut self.initial, written, value::count, errors),
            "key" => fill(&mut self.key, written, Written::expression, errors),
            "max_keys" => fill(&mut self.max_keys, written, value::max_keys, errors),
            "cost" => fill(&mut self.cost, written, value::cost, errors),
            "share" => fill(&mut self.share, written, value::share, errors),
            "when" => fill(&mut self.when, written, Written::expression, errors),
            "wait" => fill(&mut self.wait, written, value::wait, errors),
            "max_waiters" => fill(&mut self.max_waiters, written, value::count, errors),
            "fallback" => fill(&mut self.fallback, written, value::fallback, errors),
            "permit" => fill(&mut self.permit, written, value::permit, errors),
            "mode" => fill(&mut self.mode, written, value::mode, errors),
            "name" => fill(&mut self.name, written, value::name, errors),
            "store" => fill(&mut self.store, written, value::store, errors),
            "limiter" => fill(&mut self.limiter, written, value::limiter, errors),
            "crate" => fill(&mut self.runtime, written, value::runtime, errors),
            "keyed" => fill(&mut self.keyed, written, value::keyed, errors),
            _ => self.refuse(&written, errors),
        }
    }

    /// An unknown name. The argument that was likely meant counts as written, so that one mistake is one error.
    fn refuse(&mut self, written: &Written, errors: &mut Errors) {
        let word = written.name.to_string();
        let known: Vec<&str> =
            ARGUMENTS.iter().map(|(name, _)| *name).filter(|name| *name != "keyed").collect();
        let other_word = OTHER_WORDS.iter().find(|(other, _)| *other == word).map(|(_, name)| *name);
        let message = match other_word {
            Some(name) => format!("unknown argument `{word}`; did you mean `{name}`?"),
            None => unknown("argument", &word, &known),
        };
        errors.push(&written.name, message);
        if let Some(meant) = other_word.or_else(|| did_you_mean(&word, &known)) {
            let guessed = Ident::new(GUESSED, written.name.span());
            self.accept_unreadable(meant, guessed, written.place);
        }
    }

    /// Counts an argument as written, with a value that has been reported.
    fn accept_unreadable(&mut self, meant: &str, name: Ident, place: usize) {
        fn mark<T>(slot: &mut Option<Argument<T>>, name: Ident, place: usize) {
            slot.get_or_insert(Argument { written: name.to_token_stream(), name, place, value: None });
        }
        match meant {
            "max" => mark(&mut self.max, name, place),
            "window" => mark(&mut self.window, name, place),
            "rate" => mark(&mut self.rate, name, place),
            "algorithm" => mark(&mut self.algorithm, name, place),
            "key" => mark(&mut self.key, name, place),
            "wait" => mark(&mut self.wait, name, place),
            "limiter" => mark(&mut self.limiter, name, place),
            "keyed" => mark(&mut self.keyed, name, place),
            // Of the others, no rule asks whether they are there.
            _ => {}
        }
    }
}

fn fill<T>(
    slot: &mut Option<Argument<T>>,
    written: Written,
    read: fn(&Written) -> syn::Result<T>,
    errors: &mut Errors,
) {
    if slot.is_some() {
        errors.push(&written.name, format!("`{}` is given twice; leave one out", written.name));
        return;
    }
    let value = errors.keep(read(&written));
    let tokens = written.value.map_or_else(|| written.name.to_token_stream(), ToTokens::into_token_stream);
    *slot = Some(Argument { name: written.name, written: tokens, place: written.place, value });
}
