//! The attribute end to end: what a caller of an annotated function sees. Windows are an hour where time plays no part,
//! so that nothing returns while a test runs.

#![expect(
    clippy::needless_pass_by_value,
    clippy::unused_async,
    clippy::unused_self,
    reason = "the functions are no more than what is limited"
)]

mod denial;
mod expressions;
mod functions;
mod keys;
mod registry;
mod sharing;
mod stacks;
mod threads;
mod waiting;

use ratelimit_runtime::{LimitHandle, Stats};

fn handle(name: &str) -> LimitHandle {
    ratelimit_runtime::limit(name).unwrap_or_else(|| panic!("no limit is called `{name}`"))
}

fn stats(name: &str) -> Stats {
    handle(name).stats()
}

#[test]
fn no_two_limits_here_have_one_name() {
    ratelimit_runtime::verify().unwrap();
}
