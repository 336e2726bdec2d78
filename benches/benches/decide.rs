//! A decision without a key: `cargo bench -p ratelimit-benches --bench decide`.

use divan::{Bencher, black_box};
use ratelimit_runtime::{RateLimited, rate_limit};

/// Calls of a sample. Left to itself, Divan goes by the first call, which makes the limiter.
const CALLS: u32 = 1_000;

fn main() {
    divan::main();
}

#[rate_limit(max = 1_000_000_000, window = "1s")]
fn within() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(max = 1, window = "1s")]
fn over() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(max = 1_000_000_000, window = "1s", algorithm = "gcra")]
fn steady() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(max = 1_000_000_000, window = "1s")]
#[rate_limit(max = 100_000_000, window = "100ms")]
fn stacked() -> Result<(), RateLimited> {
    Ok(())
}

#[divan::bench(sample_size = CALLS, threads = [1, 2])]
fn admitted(bencher: Bencher<'_, '_>) {
    bencher.bench(|| assert!(black_box(within()).is_ok()));
}

#[divan::bench(sample_size = CALLS, threads = [1, 2])]
fn denied(bencher: Bencher<'_, '_>) {
    bencher.bench(over);
}

#[divan::bench(sample_size = CALLS, threads = [1, 2])]
fn gcra(bencher: Bencher<'_, '_>) {
    bencher.bench(|| assert!(black_box(steady()).is_ok()));
}

#[divan::bench(sample_size = CALLS, threads = [1, 2])]
fn two_limits(bencher: Bencher<'_, '_>) {
    bencher.bench(|| assert!(black_box(stacked()).is_ok()));
}
