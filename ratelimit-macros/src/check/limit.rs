//! Rules about one limit, and what a call may ask of it.

use proc_macro2::{Ident, TokenStream};
use ratelimit_spec::Algorithm;
use syn::ExprPath;

use super::{Ask, Declaration, DeclaredMax, Limit, Source, description};
use crate::args::{Args, Argument, Max, Window, value};
use crate::errors::Errors;

/// One attribute's limit, `None` if a part of it was refused, and what a call asks of it.
pub(super) fn on_function(
    mut args: Args,
    site: TokenStream,
    unnamed: &mut u32,
    errors: &mut Errors,
) -> (Option<Source>, Ask) {
    flag_belongs_to_limiter(&args, errors);
    if let Some(limiter) = args.limiter.take() {
        limiter_excludes_descriptions(&args, &limiter, errors);
        return (limiter.value.map(Source::Shared), ask(args));
    }
    max_keys_needs_key(&args, errors);
    description::check(&args, &site, errors);
    if args.name.is_none() {
        *unnamed += 1;
    }
    let keyed = args.key.is_some();
    let declaration = declaration(&mut args, keyed, site, *unnamed);
    (declaration.map(|declaration| Source::Own(Box::new(declaration))), ask(args))
}

/// The limit of a `limiter!`. `None` if there was any mistake, here or before.
pub(crate) fn in_limiter(mut args: Args, site: TokenStream, errors: &mut Errors) -> Option<Declaration> {
    calls_stay_on_the_attribute(&args, errors);
    max_is_known(&args, errors);
    max_keys_needs_keyed(&args, errors);
    description::check(&args, &site, errors);
    if !errors.is_empty() {
        return None;
    }
    let keyed = args.keyed.is_some();
    declaration(&mut args, keyed, site, 1)
}

/// Whether a bare `wait` always ends in admission: the limit is the function's own, and a call cannot ask for more
/// than it holds.
pub(super) fn always_admits_in_the_end(limit: &Limit) -> bool {
    match &limit.source {
        Source::Shared(_) => false,
        Source::Own(declaration) => {
            !matches!(declaration.max, DeclaredMax::PerCall)
                && limit.ask.cost.is_none()
                && declaration.algorithm != Some(Algorithm::LeakyBucket)
                && declaration.store.is_none()
        }
    }
}

fn ask(args: Args) -> Ask {
    Ask { when: args.when, key: args.key, cost: args.cost, max: max_per_call(args.max), share: args.share }
}

fn max_per_call(max: Option<Argument<Max>>) -> Option<Argument<syn::Expr>> {
    let Argument { name, written, place, value } = max?;
    match value? {
        Max::PerCall(expression) => Some(Argument { name, written, place, value: Some(expression) }),
        Max::Literal(_) | Max::Constant(_) => None,
    }
}

fn declaration(args: &mut Args, keyed: bool, site: TokenStream, nth_unnamed: u32) -> Option<Declaration> {
    let (max, window) = if let Some(rate) = args.rate.take() {
        let (max, window) = rate.value?;
        (DeclaredMax::Literal(max), Window::Literal(window))
    } else {
        let max = match value(args.max.as_ref())? {
            Max::Literal(max) => DeclaredMax::Literal(*max),
            Max::Constant(constant) => DeclaredMax::Constant(constant.clone()),
            Max::PerCall(_) => DeclaredMax::PerCall,
        };
        (max, args.window.take()?.value?)
    };
    Some(Declaration {
        max,
        window,
        algorithm: value(args.algorithm.as_ref()).copied(),
        buckets: value(args.buckets.as_ref()).copied(),
        burst: args.burst.take().and_then(|burst| burst.value),
        initial: value(args.initial.as_ref()).copied(),
        keyed,
        max_keys: value(args.max_keys.as_ref()).copied(),
        mode: value(args.mode.as_ref()).copied(),
        name: args.name.take().and_then(|name| name.value),
        store: args.store.take().and_then(|store| store.value).filter(|store| store.value() != "local"),
        site,
        nth_unnamed,
    })
}

fn flag_belongs_to_limiter(args: &Args, errors: &mut Errors) {
    if let Some(keyed) = &args.keyed {
        errors.push(keyed, "`keyed` belongs in `limiter!`; write `key = ...` for one budget per key");
    }
}

fn limiter_excludes_descriptions(args: &Args, limiter: &Argument<ExprPath>, errors: &mut Errors) {
    let mut before = None;
    for (name, place) in descriptions(args) {
        if place < limiter.place {
            before = before.or(Some(name));
        } else {
            errors.push(
                name,
                format!("`{name}` belongs to the `limiter!` that `limiter` names; leave it out here"),
            );
        }
    }
    if let Some(name) = before {
        let message =
            format!("`limiter` brings a limit of its own, so `{name}` does not go with it; leave one out");
        errors.push(limiter, message);
    }
}

/// The arguments that describe a limit, rather than a call.
fn descriptions(args: &Args) -> impl Iterator<Item = (&Ident, usize)> {
    fn part<T>(argument: Option<&Argument<T>>) -> Option<(&Ident, usize)> {
        argument.map(|argument| (&argument.name, argument.place))
    }
    let parts = [
        part(args.max.as_ref()),
        part(args.window.as_ref()),
        part(args.rate.as_ref()),
        part(args.algorithm.as_ref()),
        part(args.buckets.as_ref()),
        part(args.burst.as_ref()),
        part(args.initial.as_ref()),
        part(args.max_keys.as_ref()),
        part(args.mode.as_ref()),
        part(args.name.as_ref()),
        part(args.store.as_ref()),
    ];
    parts.into_iter().flatten()
}

fn calls_stay_on_the_attribute(args: &Args, errors: &mut Errors) {
    if let Some(key) = &args.key {
        errors.push(
            key,
            "`key` is about a call; write `keyed` here, and `key` on the attribute, beside `limiter`",
        );
    }
    if let Some(limiter) = &args.limiter {
        errors.push(
            limiter,
            "`limiter` belongs on the attribute; write a limit here, such as `max = 5, window = \"1m\"`",
        );
    }
    let about_a_call = [
        args.cost.as_ref().map(|argument| &argument.name),
        args.share.as_ref().map(|argument| &argument.name),
        args.when.as_ref().map(|argument| &argument.name),
        args.wait.as_ref().map(|argument| &argument.name),
        args.max_waiters.as_ref().map(|argument| &argument.name),
        args.fallback.as_ref().map(|argument| &argument.name),
        args.permit.as_ref().map(|argument| &argument.name),
    ];
    for name in about_a_call.into_iter().flatten() {
        errors.push(name, format!("`{name}` is about a call; write it on the attribute, beside `limiter`"));
    }
}

fn max_is_known(args: &Args, errors: &mut Errors) {
    if let Some(Argument { written, value: Some(Max::PerCall(_)), .. }) = &args.max {
        errors.push(
            written,
            "`max` in `limiter!` takes a whole number or `const { ... }`, since there is no call yet",
        );
    }
}

fn max_keys_needs_key(args: &Args, errors: &mut Errors) {
    if let (Some(max_keys), None) = (&args.max_keys, &args.key) {
        errors.push(max_keys, "`max_keys` goes only with `key`; add `key` or leave it out");
    }
}

fn max_keys_needs_keyed(args: &Args, errors: &mut Errors) {
    if let (Some(max_keys), None, None) = (&args.max_keys, &args.keyed, &args.key) {
        errors.push(
            max_keys,
            "`max_keys` goes only with `keyed`; write `limiter!(keyed, ...)` or leave it out",
        );
    }
}
