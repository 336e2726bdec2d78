//! Tests of what crosses crates, and of the repository itself: they stand in `tests/`. Here only the README, whose
//! examples are tests too.

/// Every Rust example of the README compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct Readme;
