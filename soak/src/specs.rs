//! The limits under which everything runs, which are over within a rest.

use std::time::Duration;

use ratelimit_runtime::{Algorithm, LimitSpec};

use crate::{REST, random::Random};

/// The longest window that any limit has. What is in use is over in twice that, or there would still be keys after a rest:
/// a bucket of a window lasts for half of it at most, and what flows off was no more than [`MOST`] and does so in windows
/// of half as many.
pub(crate) const LONGEST_WINDOW: Duration = Duration::from_secs(1);
const _: () = assert!(2 * LONGEST_WINDOW.as_millis() + 200 < REST.as_millis());

/// The largest `max`.
const MOST: u32 = 300;

pub(crate) fn of_every_algorithm() -> impl Iterator<Item = LimitSpec> {
    let spec = LimitSpec::new(100, LONGEST_WINDOW);
    Algorithm::ALL.into_iter().map(move |algorithm| spec.with_algorithm(algorithm))
}

/// Any limit that is over within a rest.
pub(crate) fn some_spec(random: &mut Random) -> LimitSpec {
    let algorithm = *random.one_of(&Algorithm::ALL);
    let window = Duration::from_micros(u64::from(random.below(999_000)) + 1000);
    let spec = |max| LimitSpec::new(max, window).with_algorithm(algorithm);
    match algorithm {
        Algorithm::SlidingWindow => spec(random.below(MOST) + 1).with_buckets(random.below(60) + 2),
        Algorithm::FixedWindow | Algorithm::SlidingLog => spec(random.below(MOST) + 1),
        Algorithm::TokenBucket | Algorithm::Gcra | Algorithm::LeakyBucket => {
            let max = random.below(MOST / 2) + MOST / 2;
            spec(max).with_burst(random.below(max) + 1)
        }
    }
}
