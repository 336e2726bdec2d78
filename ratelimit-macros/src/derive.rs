//! `derive(RateLimitKey)`.
//!
//! ```text
//! struct UserId(u64);                      RateLimitKey::encode(&self.0, encoder);
//! struct Cell { row: u32, column: u32 }    encoder.tuple().part(&self.column).part(&self.row);
//! enum Plan { Free, Paid { seats: u32 } }  match self {
//!                                              Self::Free => { encoder.variant("Free"); }
//!                                              Self::Paid { seats: part_0 } => {
//!                                                  encoder.variant("Paid").part(part_0);
//!                                              }
//!                                          }
//! ```
//!
//! Named fields in the order of their names, and variants by name: a store keeps keys for longer than code keeps its order.

mod attributes;

use proc_macro2::{Span, TokenStream};
use quote::{format_ident, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Data, DataEnum, DeriveInput, Fields, Member, TypeParam, TypeParamBound, Variant, parse_quote};

use crate::errors::Errors;
use crate::runtime::Runtime;

pub(crate) fn expand(item: TokenStream) -> TokenStream {
    match syn::parse2(item) {
        Ok(input) => implementation(input),
        Err(error) => error.to_compile_error(),
    }
}

fn implementation(input: DeriveInput) -> TokenStream {
    let span = Span::mixed_site();
    let mut errors = Errors::default();
    let runtime = attributes::runtime(&input.attrs, &mut errors);
    let encode = match &input.data {
        Data::Struct(data) => of_struct(&data.fields, &runtime, &mut errors),
        Data::Enum(data) => of_enum(data, &mut errors),
        Data::Union(data) => {
            let message = "a union cannot be a key, since its value has no one meaning; derive it on an enum";
            errors.push(data.union_token, message);
            quote_spanned!(span=> encoder.tuple();)
        }
    };
    let DeriveInput { ident, mut generics, .. } = input;
    for parameter in generics.type_params_mut().filter(|parameter| !has_our_bound(parameter)) {
        parameter.bounds.push(parse_quote!(#runtime::RateLimitKey));
    }
    let (parameters, arguments, conditions) = generics.split_for_impl();
    // Also beside errors, so that those who use the type as a key give no more of them.
    quote_spanned! {span=>
        #errors
        #[automatically_derived]
        impl #parameters #runtime::RateLimitKey for #ident #arguments #conditions {
            #[inline]
            fn encode(&self, encoder: &mut #runtime::KeyEncoder) {
                #encode
            }
        }
    }
}

/// A lint would call a second one repeated.
fn has_our_bound(parameter: &TypeParam) -> bool {
    parameter.bounds.iter().any(|bound| match bound {
        TypeParamBound::Trait(bound) => {
            bound.path.segments.last().is_some_and(|segment| segment.ident == "RateLimitKey")
        }
        _ => false,
    })
}

fn of_struct(fields: &Fields, runtime: &Runtime, errors: &mut Errors) -> TokenStream {
    let span = Span::mixed_site();
    let parts: Vec<TokenStream> = parts(fields, errors)
        .into_iter()
        .map(|Part { member, at }| quote_spanned!(span.located_at(at)=> &self.#member))
        .collect();
    if let ([only], Fields::Unnamed(_)) = (&parts[..], fields) {
        return quote_spanned!(span=> #runtime::RateLimitKey::encode(#only, encoder););
    }
    quote_spanned!(span=> encoder.tuple()#(.part(#parts))*;)
}

fn of_enum(data: &DataEnum, errors: &mut Errors) -> TokenStream {
    let span = Span::mixed_site();
    if data.variants.is_empty() {
        return quote_spanned!(span=> let _ = encoder; match *self {});
    }
    let arms = data.variants.iter().map(|variant| arm(variant, errors));
    let arms: TokenStream = arms.collect();
    quote_spanned!(span=> match self { #arms })
}

fn arm(variant: &Variant, errors: &mut Errors) -> TokenStream {
    let span = Span::mixed_site();
    let Variant { ident, fields, .. } = variant;
    let name = ident.unraw().to_string();
    let parts = parts(fields, errors);
    let members = parts.iter().map(|part| &part.member);
    let locals: Vec<_> = parts
        .iter()
        .enumerate()
        .map(|(index, part)| format_ident!("part_{index}", span = span.located_at(part.at)))
        .collect();
    // Tuple variants and those without fields also take braces: `Paid { 0: part_0, .. }`.
    quote_spanned! {span=>
        Self::#ident { #(#members: #locals,)* .. } => {
            encoder.variant(#name)#(.part(#locals))*;
        }
    }
}

/// A field that is part of the key.
struct Part {
    member: Member,
    /// Its type, where the error stands if that is no key.
    at: Span,
}

/// The fields that are part of the key, in the order in which they are encoded.
fn parts(fields: &Fields, errors: &mut Errors) -> Vec<Part> {
    let mut parts: Vec<Part> = fields
        .iter()
        .zip(fields.members())
        .filter(|(field, _)| !attributes::is_skipped(&field.attrs, errors))
        .map(|(field, member)| Part { member, at: field.ty.span() })
        .collect();
    if let Fields::Named(_) = fields {
        parts.sort_by_cached_key(|part| match &part.member {
            Member::Named(name) => name.unraw().to_string(),
            Member::Unnamed(index) => index.index.to_string(),
        });
    }
    parts
}
