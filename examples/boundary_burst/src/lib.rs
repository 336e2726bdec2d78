//! A hundred threads pour calls at a limit, around the edges of its window. How much goes through?
//!
//! Every algorithm is asked the same at 500 per second, and then two limits stacked on one function. A limit per second
//! is worth what it admits in *any* second: a design that counts by fixed windows lets through nearly twice its limit
//! around an edge, and one that estimates what slides a few percent more than it.

mod admission;
mod picture;
mod recording;
mod stacked;
mod traffic;

use std::io;
use std::time::Duration;

use ratelimit_runtime::{Algorithm, LimitSpec, Limiter, SpecError};

pub use self::admission::{Admission, most_within};
pub use self::picture::draw;
use self::recording::Recording;
pub use self::stacked::{LIMITS as STACKED_LIMITS, stacked, through_two_limits};
pub use self::traffic::{RealTime, THREADS, Time, pour};

/// Permits in a second, for each algorithm.
pub const MAX: u32 = 500;

const SECOND: Duration = Duration::from_secs(1);
const TENTH: Duration = Duration::from_millis(100);

/// What was let through under one limit.
pub struct Measured {
    /// The algorithm, or what is stacked.
    pub name: String,
    /// Permits in a second, as declared.
    pub max: u32,
    /// In the order of their instants.
    pub admissions: Vec<Admission>,
}

impl Measured {
    /// The most that any interval of one second let through.
    #[must_use]
    pub fn most_in_a_second(&self) -> usize {
        most_within(SECOND, &self.admissions)
    }

    /// The most that any interval of 100 ms let through.
    #[must_use]
    pub fn most_in_a_tenth(&self) -> usize {
        most_within(TENTH, &self.admissions)
    }
}

/// Pours calls at one algorithm for so long.
///
/// # Errors
///
/// If the limit broke a rule.
pub fn through(algorithm: Algorithm, time: &impl Time, length: Duration) -> Result<Measured, SpecError> {
    let clock = Recording::of(time.clone());
    let limit = LimitSpec::new(MAX, SECOND).with_algorithm(algorithm);
    let limiter = Limiter::with_clock(limit, clock.clone())?;
    let admissions = pour(THREADS, time, length, || {
        limiter.try_acquire().ok()?;
        Some(Admission { earliest: clock.last_reading(), latest: time.now() })
    });
    Ok(Measured { name: algorithm.name().to_owned(), max: MAX, admissions })
}

/// Measures every algorithm and the two limits, each for so long in real time, and prints a line for each.
///
/// # Errors
///
/// Where `out` cannot be written to.
pub fn run(length: Duration, out: &mut impl io::Write) -> io::Result<Vec<Measured>> {
    let time = RealTime::starting_now();
    writeln!(out, "{THREADS} threads, {} s each\n", length.as_secs_f64())?;
    writeln!(out, "{:<22} {:>9} {:>12} {:>12}", "limit", "permits/s", "most in 1 s", "in 100 ms")?;
    let mut all = Vec::new();
    let algorithms = Algorithm::ALL.into_iter().map(|algorithm| through(algorithm, &time, length));
    for measured in algorithms.chain([Ok(through_two_limits(&time, length))]) {
        let measured = measured.map_err(io::Error::other)?;
        let [second, tenth] = [measured.most_in_a_second(), measured.most_in_a_tenth()];
        writeln!(out, "{:<22} {:>9} {second:>12} {tenth:>12}", measured.name, measured.max)?;
        all.push(measured);
    }
    writeln!(
        out,
        "\nfixed_window may admit twice its limit around an edge, and the bucket algorithms their burst on top of what\n\
         refills meanwhile, {MAX} and {MAX} here. The sliding ones admit the limit in no matter which second."
    )?;
    Ok(all)
}
