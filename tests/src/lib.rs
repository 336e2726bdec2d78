//! Tests of what crosses crates, and of the repository itself: they stand in `tests/`.
