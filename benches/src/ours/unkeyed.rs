//! One budget for all calls.

use ratelimit_runtime::{RateLimited, rate_limit};

type Outcome = Result<(), RateLimited>;

#[rate_limit(max = 1_000_000_000, window = "1s")]
pub(crate) fn default_buckets() -> Outcome {
    Ok(())
}

#[rate_limit(max = 1_000_000_000, window = "1s", buckets = 1)]
pub(crate) fn one_bucket() -> Outcome {
    Ok(())
}

#[rate_limit(max = 1_000_000_000, window = "1s", buckets = 10)]
pub(crate) fn ten_buckets() -> Outcome {
    Ok(())
}

#[rate_limit(max = 1_000_000_000, window = "1s", buckets = 100)]
pub(crate) fn hundred_buckets() -> Outcome {
    Ok(())
}

#[rate_limit(max = 1_000_000_000, window = "1s", buckets = 1000)]
pub(crate) fn thousand_buckets() -> Outcome {
    Ok(())
}

#[rate_limit(max = 1, window = "1s")]
pub(crate) fn denied() -> Outcome {
    Ok(())
}

#[rate_limit(max = 1_000_000_000, window = "1s", algorithm = "fixed_window")]
pub(crate) fn fixed_window() -> Outcome {
    Ok(())
}

// In a second its log would take gigabytes.
#[rate_limit(max = 1_000_000, window = "1ms", algorithm = "sliding_log")]
pub(crate) fn sliding_log() -> Outcome {
    Ok(())
}

#[rate_limit(max = 4_000_000_000, window = "1h", algorithm = "token_bucket")]
pub(crate) fn token_bucket() -> Outcome {
    Ok(())
}

#[rate_limit(max = 4_000_000_000, window = "1h", algorithm = "leaky_bucket")]
pub(crate) fn leaky_bucket() -> Outcome {
    Ok(())
}

#[rate_limit(max = 4_000_000_000, window = "1h", algorithm = "gcra")]
pub(crate) fn gcra() -> Outcome {
    Ok(())
}

/// Refills faster than it is called: every call finds the budget full.
#[rate_limit(max = 1_000_000_000, window = "1s", algorithm = "gcra")]
pub(crate) fn gcra_when_full() -> Outcome {
    Ok(())
}

#[rate_limit(max = 1_000_000_000, window = "1s")]
#[rate_limit(max = 100_000_000, window = "100ms")]
pub(crate) fn stacked() -> Outcome {
    Ok(())
}

#[rate_limit(max = 1_000_000_000, window = "1s", mode = "shadow")]
pub(crate) fn shadow_within() -> Outcome {
    Ok(())
}

#[rate_limit(max = 1, window = "1s", mode = "shadow")]
pub(crate) fn shadow_over() -> Outcome {
    Ok(())
}
