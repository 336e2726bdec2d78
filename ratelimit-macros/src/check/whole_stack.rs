//! Rules about the stack as a whole, and about the function under it.

use proc_macro2::Ident;
use syn::{ReturnType, Signature, Type, TypeParamBound};

use crate::args::{Args, Argument};
use crate::errors::Errors;
use crate::stack::Layer;

pub(super) fn check(layers: &[Layer], signature: &Signature, errors: &mut Errors) {
    stands_once(layers, |args| name(args.wait.as_ref()), errors);
    stands_once(layers, |args| name(args.max_waiters.as_ref()), errors);
    stands_once(layers, |args| name(args.fallback.as_ref()), errors);
    stands_once(layers, |args| name(args.permit.as_ref()), errors);
    stands_once(layers, |args| name(args.runtime.as_ref()), errors);
    max_waiters_needs_wait(layers, errors);
    share_excludes_wait(layers, errors);
    wait_needs_async(layers, signature, errors);
}

fn name<T>(argument: Option<&Argument<T>>) -> Option<&Ident> {
    argument.map(|argument| &argument.name)
}

fn stands_once(layers: &[Layer], name_in: fn(&Args) -> Option<&Ident>, errors: &mut Errors) {
    for again in layers.iter().filter_map(|layer| name_in(&layer.args)).skip(1) {
        errors.push(
            again,
            format!("`{again}` holds for the whole stack; write it on one of its attributes only"),
        );
    }
}

fn max_waiters_needs_wait(layers: &[Layer], errors: &mut Errors) {
    if layers.iter().any(|layer| layer.args.wait.is_some()) {
        return;
    }
    if let Some(max_waiters) = layers.iter().find_map(|layer| layer.args.max_waiters.as_ref()) {
        errors.push(max_waiters, "`max_waiters` goes only with `wait`; add `wait` or leave it out");
    }
}

fn share_excludes_wait(layers: &[Layer], errors: &mut Errors) {
    let Some(wait) = layers.iter().find_map(|layer| layer.args.wait.as_ref()) else { return };
    let Some(share) = layers.iter().find_map(|layer| layer.args.share.as_ref()) else { return };
    let later = if share.is_after(wait) { &share.name } else { &wait.name };
    errors.push(
        later,
        "`share` does not go with `wait`, where a waiting low share would hold up the high ones; leave one out",
    );
}

fn wait_needs_async(layers: &[Layer], signature: &Signature, errors: &mut Errors) {
    let waits = layers.iter().any(|layer| layer.args.wait.is_some());
    if !waits || signature.asyncness.is_some() {
        return;
    }
    if let ReturnType::Type(_, returned) = &signature.output
        && is_impl_future(returned)
    {
        errors.push(returned, "`wait` would block the call that makes this future; make it an `async fn`");
    }
}

fn is_impl_future(returned: &Type) -> bool {
    match returned {
        Type::Group(group) => is_impl_future(&group.elem),
        Type::Paren(paren) => is_impl_future(&paren.elem),
        Type::ImplTrait(opaque) => opaque.bounds.iter().any(|bound| match bound {
            TypeParamBound::Trait(bound) => {
                bound.path.segments.last().is_some_and(|segment| segment.ident == "Future")
            }
            _ => false,
        }),
        _ => false,
    }
}
