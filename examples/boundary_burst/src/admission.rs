//! One call that was let through, and how many were within an interval.

use std::time::Duration;

/// A call that was let through. The instant at which it was decided lies between the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Admission {
    /// What the limiter read on the clock for this decision.
    pub earliest: Duration,
    /// What the clock read after the decision.
    pub latest: Duration,
}

/// The most calls that were wholly within any interval so long, wherever it begins.
///
/// A limiter goes by the latest reading of all its threads, so a thread that was held up between its reading and its
/// decision is decided at a later instant than it read. What is certain to lie in the interval is counted.
#[must_use]
pub fn most_within(interval: Duration, admissions: &[Admission]) -> usize {
    let within = |first: usize| {
        let end = admissions[first].earliest + interval;
        let came_in_time = admissions[first..].iter().take_while(|admission| admission.earliest < end);
        came_in_time.filter(|admission| admission.latest < end).count()
    };
    (0..admissions.len()).map(within).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(earliest: u64, latest: u64) -> Admission {
        Admission { earliest: Duration::from_millis(earliest), latest: Duration::from_millis(latest) }
    }

    #[test]
    fn an_interval_holds_what_is_wholly_within_it() {
        let admissions = [at(0, 1), at(500, 501), at(998, 1_000), at(999, 999), at(1_000, 1_000)];
        assert_eq!(most_within(Duration::from_secs(1), &admissions), 4, "from 500 ms");
        assert_eq!(most_within(Duration::from_millis(500), &admissions), 3, "the one at 500 ms is out");
        assert_eq!(most_within(Duration::from_secs(1), &admissions[..4]), 3, "one may be after the interval");
        assert_eq!(most_within(Duration::from_secs(1), &[]), 0);
    }
}
