//! What a rate limit is: its grammar, its rules, its messages.
//!
//! This crate runs nothing and knows no clock. The attribute, the runtime and whatever else reads limits share it,
//! so that all of them accept the same limits and refuse the others in the same words. Use it through
//! `ratelimit-runtime`, which re-exports what a user needs.

mod algorithm;
mod error;
mod limit_spec;
mod mode;
mod names;
mod number;
mod packed;
mod rate;
pub mod rules;
mod shortest_window;
mod suggest;
mod text;
mod window;

pub use algorithm::{Algorithm, AlgorithmOption};
pub use error::{ParseError, SpecError};
pub use limit_spec::LimitSpec;
pub use mode::Mode;
pub use rate::parse_rate;
pub use suggest::{did_you_mean, unknown};
pub use window::{parse_duration, parse_window};
