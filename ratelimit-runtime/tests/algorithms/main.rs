//! What limiters of the several algorithms do, with keys and without, in line and from many threads.
#![cfg(feature = "macros")]

mod changes;
mod initial;
mod queue;
mod stacks;
mod support;
mod threads;
mod waiting;
