//! What the return type looks like. Only the compiler knows what it is: these questions merely spare it one.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::{GenericArgument, GenericParam, PathArguments, ReturnType, Signature, Type, TypeParamBound};

/// `async_trait` gives every function that it rewrites a lifetime of this name.
pub(super) fn is_from_async_trait(signature: &Signature) -> bool {
    signature.generics.params.iter().any(|parameter| match parameter {
        GenericParam::Lifetime(parameter) => parameter.lifetime.ident == "async_trait",
        _ => false,
    })
}

/// Whether the type, by its name, can be a boxed future: most names that people give to their types might be one's
/// alias.
pub(super) fn may_be_boxed_future(returned: &Type) -> bool {
    const OTHERS: [&str; 30] = [
        "Result",
        "Option",
        "String",
        "Vec",
        "Box",
        "Arc",
        "Rc",
        "Cow",
        "Duration",
        "Instant",
        "HashMap",
        "BTreeMap",
        "bool",
        "char",
        "str",
        "u8",
        "u16",
        "u32",
        "u64",
        "u128",
        "usize",
        "i8",
        "i16",
        "i32",
        "i64",
        "i128",
        "isize",
        "f32",
        "f64",
        "PhantomData",
    ];
    match returned {
        Type::Group(group) => may_be_boxed_future(&group.elem),
        Type::Paren(paren) => may_be_boxed_future(&paren.elem),
        // The compiler does not take `impl` in the place where it would be asked.
        Type::Path(path) if contains_impl(path.to_token_stream()) => false,
        Type::Path(path) => {
            let name = path.path.segments.last().map(|segment| segment.ident.to_string());
            path.qself.is_some() || !name.is_some_and(|name| OTHERS.contains(&name.as_str()))
        }
        Type::Macro(_) => true,
        _ => false,
    }
}

/// Whether the type reads as a future's: a `fallback` then has to own what it uses.
pub(super) fn reads_as_future(returned: &Type) -> bool {
    any_word(returned.to_token_stream(), &|word| word == "Pin" || word.contains("Fut"))
}

/// `T` of `Pin<Box<dyn Future<Output = T> + ..>>`, where it is written so.
pub(super) fn output_of_boxed_future(signature: &Signature) -> Option<&Type> {
    let ReturnType::Type(_, returned) = &signature.output else { return None };
    let boxed = first_type_argument(returned)?;
    let Type::TraitObject(object) = first_type_argument(boxed)? else { return None };
    let TypeParamBound::Trait(bound) = object.bounds.first()? else { return None };
    let PathArguments::AngleBracketed(arguments) = &bound.path.segments.last()?.arguments else {
        return None;
    };
    arguments.args.iter().find_map(|argument| match argument {
        GenericArgument::AssocType(output) if output.ident == "Output" => Some(&output.ty),
        _ => None,
    })
}

fn first_type_argument(of: &Type) -> Option<&Type> {
    let Type::Path(path) = of else { return None };
    let PathArguments::AngleBracketed(arguments) = &path.path.segments.last()?.arguments else { return None };
    match arguments.args.first()? {
        GenericArgument::Type(argument) => Some(argument),
        _ => None,
    }
}

fn contains_impl(tokens: TokenStream) -> bool {
    any_word(tokens, &|word| word == "impl")
}

fn any_word(tokens: TokenStream, is: &impl Fn(&str) -> bool) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Group(group) => any_word(group.stream(), is),
        TokenTree::Ident(word) => is(&word.to_string()),
        TokenTree::Punct(_) | TokenTree::Literal(_) => false,
    })
}
