//! The same limit as users of other crates would write it, and as everybody writes it first.
//!
//! Every peer has its default clock, map and features. Its limiter is a local that the call borrows, which spares it the
//! look into a `static`. A peer without such a case is left out: those with keys of type `&str` only are not made to
//! format numbers.

mod governor;
mod leaky_bucket;
mod ratelimit;
mod ring;
mod throttle_my_fn;
mod tokio_rate_limit;
mod trypema;

use std::time::Duration;

use ratelimit_runtime::LimitSpec;

use crate::contestant::Contestant;
use crate::keys::Keys;

/// The names, in the order of the table's columns.
pub(crate) const NAMES: [&str; 7] = [
    governor::NAME,
    ratelimit::NAME,
    leaky_bucket::NAME,
    trypema::NAME,
    tokio_rate_limit::NAME,
    throttle_my_fn::NAME,
    ring::NAME,
];

/// The limit of a case.
#[derive(Clone, Copy)]
pub(crate) struct Limit {
    pub(crate) max: u32,
    pub(crate) window: Duration,
    pub(crate) buckets: u32,
}

impl From<LimitSpec> for Limit {
    fn from(spec: LimitSpec) -> Self {
        Self { max: spec.max(), window: spec.window(), buckets: spec.buckets() }
    }
}

pub(crate) fn unkeyed(limit: Limit) -> Vec<Contestant> {
    vec![
        Contestant::unkeyed(governor::NAME, governor::unkeyed(limit)),
        Contestant::unkeyed(ratelimit::NAME, ratelimit::unkeyed(limit)),
        Contestant::unkeyed(leaky_bucket::NAME, leaky_bucket::unkeyed(limit)),
        Contestant::unkeyed(throttle_my_fn::NAME, throttle_my_fn::unkeyed(limit)),
        Contestant::unkeyed(ring::NAME, ring::unkeyed(limit)),
    ]
}

/// One limit behind the other, without taking back what the first admitted and the second did not.
pub(crate) fn stacked(first: Limit, second: Limit) -> Vec<Contestant> {
    fn both(one: impl Fn() -> bool, other: impl Fn() -> bool) -> impl Fn() -> bool {
        move || one() && other()
    }
    vec![
        Contestant::unkeyed(governor::NAME, both(governor::unkeyed(first), governor::unkeyed(second))),
        Contestant::unkeyed(ratelimit::NAME, both(ratelimit::unkeyed(first), ratelimit::unkeyed(second))),
        Contestant::unkeyed(
            leaky_bucket::NAME,
            both(leaky_bucket::unkeyed(first), leaky_bucket::unkeyed(second)),
        ),
        Contestant::unkeyed(ring::NAME, both(ring::unkeyed(first), ring::unkeyed(second))),
    ]
}

pub(crate) fn by_number(limit: Limit, keys: &'static Keys<u64>) -> Vec<Contestant> {
    vec![
        Contestant::by_number(governor::NAME, keys, governor::by_number(limit)),
        Contestant::by_number(ring::NAME, keys, ring::by_number(limit)),
    ]
}

pub(crate) fn by_new_number(limit: Limit, warm_up: usize) -> Vec<Contestant> {
    vec![
        Contestant::by_new_number(governor::NAME, warm_up, governor::by_number(limit)),
        Contestant::by_new_number(ring::NAME, warm_up, ring::by_number(limit)),
    ]
}

pub(crate) fn by_text(limit: Limit, keys: &'static Keys<&'static str>) -> Vec<Contestant> {
    vec![
        Contestant::by_text(governor::NAME, keys, governor::by_text(limit)),
        Contestant::by_text(trypema::NAME, keys, trypema::by_text(limit)),
        Contestant::by_text(tokio_rate_limit::NAME, keys, tokio_rate_limit::by_text(limit)),
        Contestant::by_text(ring::NAME, keys, ring::by_text(limit)),
    ]
}
