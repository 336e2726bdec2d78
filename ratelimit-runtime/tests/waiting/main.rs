//! Calls that wait for their permit: what the waiting promises, a subject a file.

mod any_clock;
mod blocking;
mod bounds;
mod cancel;
mod changes;
mod fairness;
mod frozen;
mod keyed;
mod order;
mod reentrancy;
#[cfg(feature = "macros")]
mod stacks;
mod support;
mod timers;
