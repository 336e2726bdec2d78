//! The attribute, `limiter!` and the derive in every form, under every lint that a crate may turn on: the code that they
//! generate gives none, in nobody's crate.
//!
//! What is forbidden and not only denied here, generated code could not even allow.

#![forbid(unsafe_code, missing_docs, unused, future_incompatible, rust_2018_idioms)]
#![deny(warnings, clippy::all, clippy::pedantic, clippy::nursery)]
#![deny(
    absolute_paths_not_starting_with_crate,
    ambiguous_negative_literals,
    closure_returning_async_block,
    explicit_outlives_requirements,
    impl_trait_redundant_captures,
    keyword_idents,
    let_underscore_drop,
    macro_use_extern_crate,
    meta_variable_misuse,
    missing_copy_implementations,
    missing_debug_implementations,
    non_ascii_idents,
    redundant_lifetimes,
    single_use_lifetimes,
    trivial_casts,
    trivial_numeric_casts,
    unit_bindings,
    unreachable_pub,
    unsafe_op_in_unsafe_fn,
    unused_lifetimes,
    unused_qualifications,
    unused_results,
    variant_size_differences
)]
#![deny(
    clippy::allow_attributes,
    clippy::allow_attributes_without_reason,
    clippy::arithmetic_side_effects,
    clippy::default_numeric_fallback,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::let_underscore_must_use,
    clippy::let_underscore_untyped,
    clippy::min_ident_chars,
    clippy::panic,
    clippy::panic_in_result_fn,
    clippy::redundant_type_annotations,
    clippy::shadow_reuse,
    clippy::shadow_same,
    clippy::shadow_unrelated,
    clippy::unwrap_in_result,
    clippy::unwrap_used
)]

mod arguments;
mod keys;
mod returns;
mod shapes;
mod stores;
mod waits;

pub use arguments::*;
pub use keys::*;
pub use returns::*;
pub use shapes::*;
pub use stores::*;
pub use waits::*;
