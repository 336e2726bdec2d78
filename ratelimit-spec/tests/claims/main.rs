//! What the crate promises, a module per subject.

mod any_text;
mod constants;
mod durations;
mod messages;
mod names;
mod rates;
mod rules;
mod text;
