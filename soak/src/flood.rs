//! Ten million distinct keys, and room for a hundred thousand.

use std::time::Duration;

use ratelimit_runtime::{KeyedLimiter, LimitSpec};

use crate::ALLOCATOR;

const KEYS: u64 = 10_000_000;
const MAX_KEYS: usize = 100_000;

pub(crate) fn takes_no_more_memory() -> Result<(), String> {
    // Long enough that no key is reclaimed meanwhile.
    let spec = LimitSpec::new(10, Duration::from_secs(24 * 60 * 60)).with_buckets(10);
    let limiter = KeyedLimiter::new(spec).map_err(|error| error.to_string())?.with_max_keys(MAX_KEYS);
    let flood = |keys: std::ops::Range<u64>| {
        keys.for_each(|key| _ = limiter.try_acquire(&key));
        ALLOCATOR.allocated()
    };
    let before = flood(0..KEYS / 10);
    let after = flood(KEYS / 10..KEYS);
    let tracked = limiter.tracked_keys();
    println!(
        "{KEYS} distinct keys: {tracked} tracked, {before} bytes after a tenth of them, {after} after all"
    );
    if tracked != MAX_KEYS {
        return Err(format!("{tracked} keys were tracked, of {MAX_KEYS}"));
    }
    if after > before + before / 100 {
        return Err(format!("a flood of keys took memory from {before} to {after} bytes"));
    }
    Ok(())
}
