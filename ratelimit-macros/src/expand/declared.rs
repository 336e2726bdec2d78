//! The static behind a limit.
//!
//! ```text
//! max = 100, window = "1s", buckets = 10, name = "login"
//!
//! static __RATE_LIMIT: __private::Declared<Limiter> = __private::Declared::new(
//!     LimitSpec::new(100, ::core::time::Duration::from_secs(1)).with_buckets(10).declared(),
//!     __rate_limit_path, ::core::file!(), ::core::line!(),
//! ).named("login");
//! fn __rate_limit_path() -> &'static str { ::core::any::type_name_of_val(&__rate_limit_path) }
//! __private::inventory::submit! { __private::Registered::unkeyed(&__RATE_LIMIT) }
//! ```
//!
//! The path of a local function is that of the method and the type it stands in, which the attribute cannot see.

use std::time::Duration;

use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use ratelimit_spec::{Algorithm, Mode};
use syn::ExprConst;

use super::spans::ends;
use crate::args::{Burst, Window};
use crate::check::{Declaration, DeclaredMax};
use crate::runtime::Runtime;

/// The items that declare a limit: a static `__RATE_LIMIT` and its registration.
pub(super) fn items(declaration: &Declaration, runtime: &Runtime) -> TokenStream {
    let span = Span::mixed_site();
    let spec = spec(declaration, runtime);
    let options = options(declaration, runtime);
    let (site, _) = ends(&declaration.site);
    let file = quote_spanned!(site=> ::core::file!());
    let line = quote_spanned!(site=> ::core::line!());
    let (limiter, registered) = if declaration.keyed {
        (quote_spanned!(span=> KeyedLimiter), quote_spanned!(span=> keyed))
    } else {
        (quote_spanned!(span=> Limiter), quote_spanned!(span=> unkeyed))
    };
    quote_spanned! {span=>
        static __RATE_LIMIT: #runtime::__private::Declared<#runtime::#limiter> =
            #runtime::__private::Declared::new(#spec, __rate_limit_path, #file, #line) #options;
        fn __rate_limit_path() -> &'static ::core::primitive::str {
            ::core::any::type_name_of_val(&__rate_limit_path)
        }
        #runtime::__private::inventory::submit! { #runtime::__private::Registered::#registered(&__RATE_LIMIT) }
    }
}

/// `limiter!(...)`: a value for a `static` of type `LazyLimiter` or `LazyKeyedLimiter`.
pub(crate) fn limiter(declaration: &Declaration, runtime: &Runtime) -> TokenStream {
    let span = Span::mixed_site();
    let items = items(declaration, runtime);
    let limiter = if declaration.keyed {
        quote_spanned!(span=> LazyKeyedLimiter)
    } else {
        quote_spanned!(span=> LazyLimiter)
    };
    quote_spanned! {span=>
        {
            #items
            #runtime::#limiter::of(&__RATE_LIMIT)
        }
    }
}

/// The limit. `declared` checks what only the compiler knows.
fn spec(declaration: &Declaration, runtime: &Runtime) -> TokenStream {
    let span = Span::mixed_site();
    let max = match &declaration.max {
        DeclaredMax::Literal(max) => Literal::u32_unsuffixed(*max).into_token_stream(),
        DeclaredMax::Constant(max) => {
            let second = duration(Duration::from_secs(1));
            checked(max, &quote!(#max, #second), "max", runtime)
        }
        DeclaredMax::PerCall => quote_spanned!(span=> ::core::primitive::u32::MAX),
    };
    let window = match &declaration.window {
        Window::Literal(window) => duration(*window),
        Window::Constant(window) => checked(window, &quote!(1, #window), "window", runtime),
    };
    let mut spec = quote_spanned!(span=> #runtime::LimitSpec::new(#max, #window));
    // The default stays unsaid, here as in every text that describes the limit.
    if let Some(algorithm) = declaration.algorithm.filter(|algorithm| *algorithm != Algorithm::default()) {
        let variant = Ident::new(&format!("{algorithm:?}"), span);
        spec.extend(quote_spanned!(span=> .with_algorithm(#runtime::Algorithm::#variant)));
    }
    if let Some(buckets) = declaration.buckets {
        let buckets = Literal::u32_unsuffixed(buckets);
        spec.extend(quote_spanned!(span=> .with_buckets(#buckets)));
    }
    if let Some(burst) = &declaration.burst {
        let burst = match burst {
            Burst::Literal(burst) => Literal::u32_unsuffixed(*burst).into_token_stream(),
            Burst::Constant(constant) => constant.to_token_stream(),
        };
        spec.extend(quote_spanned!(span=> .with_burst(#burst)));
    }
    if let Some(initial) = declaration.initial {
        let initial = Literal::u32_unsuffixed(initial);
        spec.extend(quote_spanned!(span=> .with_initial(#initial)));
    }
    spec.extend(quote_spanned!(span=> .declared()));
    spec
}

/// `LimitSpec::new(const { .. }, ..).declared().max()`: a constant by itself, so that its error stands on it.
fn checked(constant: &ExprConst, arguments: &TokenStream, part: &str, runtime: &Runtime) -> TokenStream {
    let (first, last) = ends(constant);
    let runtime = runtime.at(first);
    let part = Ident::new(part, last);
    let mut tokens = quote_spanned!(first=> #runtime::LimitSpec::new);
    tokens.extend(quote_spanned!(last=> (#arguments).declared().#part()));
    tokens
}

fn options(declaration: &Declaration, runtime: &Runtime) -> TokenStream {
    let span = Span::mixed_site();
    let mut options = TokenStream::new();
    match &declaration.name {
        Some(name) => options.extend(quote_spanned!(span=> .named(#name))),
        None if declaration.nth_unnamed > 1 => {
            let nth = Literal::u32_unsuffixed(declaration.nth_unnamed);
            options.extend(quote_spanned!(span=> .nth(#nth)));
        }
        None => {}
    }
    if let Some(store) = &declaration.store {
        options.extend(quote_spanned!(span=> .store(#store)));
    }
    if let Some(mode) = declaration.mode.filter(|mode| *mode != Mode::Enforce) {
        let variant = Ident::new(&format!("{mode:?}"), span);
        options.extend(quote_spanned!(span=> .mode(#runtime::Mode::#variant)));
    }
    if let Some(max_keys) = declaration.max_keys {
        let max_keys = Literal::u64_unsuffixed(max_keys);
        options.extend(quote_spanned!(span=> .max_keys(#max_keys)));
    }
    options
}

/// A duration in the largest unit that is exact.
pub(super) fn duration(duration: Duration) -> TokenStream {
    let span = Span::mixed_site();
    let seconds = Literal::u64_unsuffixed(duration.as_secs());
    let nanos = duration.subsec_nanos();
    if nanos == 0 {
        return quote_spanned!(span=> ::core::time::Duration::from_secs(#seconds));
    }
    let millis = u64::try_from(duration.as_millis()).ok().filter(|_| nanos.is_multiple_of(1_000_000));
    if let Some(millis) = millis {
        let millis = Literal::u64_unsuffixed(millis);
        return quote_spanned!(span=> ::core::time::Duration::from_millis(#millis));
    }
    let nanos = Literal::u32_unsuffixed(nanos);
    quote_spanned!(span=> ::core::time::Duration::new(#seconds, #nanos))
}
