//! A budget for each key.

use ratelimit_runtime::{RateLimited, rate_limit};

type Outcome = Result<(), RateLimited>;

#[rate_limit(key = "id", max = 10_000, window = "1s")]
pub(crate) fn hundred_thousand(id: u64) -> Outcome {
    Ok(())
}

#[rate_limit(key = "id", max = 10_000, window = "1s", buckets = 10)]
pub(crate) fn hundred_thousand_of_ten_buckets(id: u64) -> Outcome {
    Ok(())
}

#[rate_limit(key = "id", max = 200, window = "1s", max_keys = 2_000_000)]
pub(crate) fn million(id: u64) -> Outcome {
    Ok(())
}

#[rate_limit(key = "id", max = 200, window = "1s", buckets = 10, max_keys = 2_000_000)]
pub(crate) fn million_of_ten_buckets(id: u64) -> Outcome {
    Ok(())
}

#[rate_limit(key = "name", max = 10_000, window = "1s")]
pub(crate) fn hundred_thousand_texts(name: &str) -> Outcome {
    Ok(())
}

#[rate_limit(key = "name", max = 200, window = "1s", max_keys = 2_000_000)]
pub(crate) fn million_texts(name: &str) -> Outcome {
    Ok(())
}

#[rate_limit(key = "id", max = 1_000_000_000, window = "1s")]
pub(crate) fn hot(id: u64) -> Outcome {
    Ok(())
}

#[rate_limit(key = "id", max = 1, window = "1s")]
pub(crate) fn hot_denied(id: u64) -> Outcome {
    Ok(())
}

#[rate_limit(key = "name", max = 1_000_000_000, window = "1s")]
pub(crate) fn hot_text(name: &str) -> Outcome {
    Ok(())
}

#[rate_limit(key = "id", max = 10_000, window = "1s", algorithm = "fixed_window")]
pub(crate) fn fixed_window(id: u64) -> Outcome {
    Ok(())
}

#[rate_limit(key = "id", max = 10_000, window = "1s", algorithm = "sliding_log")]
pub(crate) fn sliding_log(id: u64) -> Outcome {
    Ok(())
}

#[rate_limit(key = "id", max = 10_000, window = "1s", algorithm = "token_bucket")]
pub(crate) fn token_bucket(id: u64) -> Outcome {
    Ok(())
}

#[rate_limit(key = "id", max = 10_000, window = "1s", algorithm = "leaky_bucket")]
pub(crate) fn leaky_bucket(id: u64) -> Outcome {
    Ok(())
}

#[rate_limit(key = "id", max = 10_000, window = "1s", algorithm = "gcra")]
pub(crate) fn gcra(id: u64) -> Outcome {
    Ok(())
}

#[rate_limit(key = "id", max = 10_000_000, window = "1s", buckets = 1)]
pub(crate) fn one_bucket(id: u64) -> Outcome {
    Ok(())
}

#[rate_limit(key = "id", max = 10_000_000, window = "1s", buckets = 10)]
pub(crate) fn ten_buckets(id: u64) -> Outcome {
    Ok(())
}

#[rate_limit(key = "id", max = 10_000_000, window = "1s")]
pub(crate) fn default_buckets(id: u64) -> Outcome {
    Ok(())
}

#[rate_limit(key = "id", max = 10_000_000, window = "1s", buckets = 100)]
pub(crate) fn hundred_buckets(id: u64) -> Outcome {
    Ok(())
}

#[rate_limit(key = "id", max = 10_000_000, window = "1s", buckets = 1000)]
pub(crate) fn thousand_buckets(id: u64) -> Outcome {
    Ok(())
}

// Most calls find `max_keys` in use, and fall into an overflow budget.
#[rate_limit(key = "id", max = 1_000_000_000, window = "1s", max_keys = 100_000)]
pub(crate) fn flood(id: u64) -> Outcome {
    Ok(())
}

// Most calls find a key whose window has passed, and take its place.
#[rate_limit(key = "id", max = 1_000, window = "2ms", max_keys = 100_000)]
pub(crate) fn flood_of_short_windows(id: u64) -> Outcome {
    Ok(())
}

// For the memory of keys: all of them are in their window.
#[rate_limit(key = "id", max = 200, window = "1h", buckets = 10)]
pub(crate) fn kept(id: u64) -> Outcome {
    Ok(())
}

#[rate_limit(key = "name", max = 200, window = "1h", buckets = 10)]
pub(crate) fn kept_texts(name: &str) -> Outcome {
    Ok(())
}
