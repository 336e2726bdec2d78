//! Random programs of calls that wait, against a plain model of the lines.

mod blockers;
mod model;
mod programs;
mod world;
