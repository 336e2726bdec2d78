//! The annotated functions, as a user would write them; their bodies do nothing.
//!
//! A limit that is to admit all calls has so large a `max` that nobody reaches it, and no larger than keeps its counters
//! as narrow as those of such limits are: 200 for a million keys, 10,000 for a hundred thousand, else a permit each
//! nanosecond. A limit that is to deny has a `max` of 1.

pub(crate) mod keyed;
pub(crate) mod unkeyed;

use std::any::type_name;

use ratelimit_runtime::limit;

use crate::peers::Limit;

pub(crate) const NAME: &str = "ours";

/// The limit of an annotated function, which its peers keep too: a limit is named after its function.
pub(crate) fn limit_of<F>(_: F) -> Limit {
    declared(type_name::<F>())
}

/// The limits of a stack of two.
pub(crate) fn limits_of<F>(_: F) -> (Limit, Limit) {
    let path = type_name::<F>();
    (declared(path), declared(&format!("{path}#2")))
}

fn declared(name: &str) -> Limit {
    let limit = limit(name).unwrap_or_else(|| panic!("no limit is named `{name}`"));
    limit.spec().into()
}
