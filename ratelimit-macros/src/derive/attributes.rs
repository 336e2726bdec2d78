//! `#[rate_limit_key(...)]`: `crate = path` on the type, `skip` on a field.

use syn::{Attribute, Path};

use crate::errors::Errors;
use crate::runtime::Runtime;

/// Where the runtime crate is.
pub(super) fn runtime(attributes: &[Attribute], errors: &mut Errors) -> Runtime {
    let mut given = None;
    for attribute in ours(attributes) {
        let read = attribute.parse_nested_meta(|argument| {
            if !argument.path.is_ident("crate") {
                return Err(argument.error("unknown argument; on a type write `crate = ::ratelimit_runtime`"));
            }
            let path = argument.value()?;
            given = Some(if path.peek(syn::LitStr) {
                path.parse::<syn::LitStr>()?.parse_with(Path::parse_mod_style)?
            } else {
                path.call(Path::parse_mod_style)?
            });
            Ok(())
        });
        errors.keep(read);
    }
    Runtime::at_path(given.as_ref())
}

/// Whether a field is no part of the key.
pub(super) fn is_skipped(attributes: &[Attribute], errors: &mut Errors) -> bool {
    let mut skipped = false;
    for attribute in ours(attributes) {
        let read = attribute.parse_nested_meta(|argument| {
            if !argument.path.is_ident("skip") {
                return Err(argument.error("unknown argument; on a field write `skip`"));
            }
            skipped = true;
            Ok(())
        });
        errors.keep(read);
    }
    skipped
}

fn ours(attributes: &[Attribute]) -> impl Iterator<Item = &Attribute> {
    attributes.iter().filter(|attribute| attribute.path().is_ident("rate_limit_key"))
}
