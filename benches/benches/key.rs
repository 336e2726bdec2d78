//! A decision for a key, and the key by itself: `cargo bench -p ratelimit-benches --bench key`.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::{AtomicU64, Ordering};

use divan::{Bencher, black_box};
use ratelimit_runtime::{__private, RateLimitKey, RateLimited, rate_limit};

/// Calls of a sample. Left to itself, Divan goes by the first call, which makes the limiter.
const CALLS: u32 = 1_000;

fn main() {
    divan::main();
}

#[rate_limit(key = "id", max = 1_000_000_000, window = "1s")]
fn by_number(id: u64) -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(key = "name", max = 1_000_000_000, window = "1s")]
fn by_text(name: &str) -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(key = "id", max = 1, window = "1s")]
fn over(id: u64) -> Result<(), RateLimited> {
    Ok(())
}

#[divan::bench(sample_size = CALLS, threads = [1, 2])]
fn one_number(bencher: Bencher<'_, '_>) {
    bencher.bench(|| assert!(by_number(black_box(7)).is_ok()));
}

#[divan::bench(sample_size = CALLS, threads = [1, 2])]
fn one_text(bencher: Bencher<'_, '_>) {
    bencher.bench(|| assert!(by_text(black_box("user-0000042")).is_ok()));
}

#[divan::bench(sample_size = CALLS, threads = [1, 2])]
fn denied(bencher: Bencher<'_, '_>) {
    bencher.bench(|| over(black_box(7)));
}

#[divan::bench(sample_size = CALLS, threads = [1, 2], args = [1_000, 100_000, 1_000_000])]
fn many_numbers(bencher: Bencher<'_, '_>, keys: u64) {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    assert!((0..keys).all(|id| by_number(id).is_ok()), "all keys are known");
    let next = || NEXT.fetch_add(1, Ordering::Relaxed).wrapping_mul(0x9E37_79B9_7F4A_7C15) % keys;
    bencher.with_inputs(next).bench_values(|id| assert!(by_number(id).is_ok()));
}

/// What every call with a key does first.
fn encoded(bencher: Bencher<'_, '_>, key: impl RateLimitKey + Sync) {
    bencher.bench(|| __private::key(black_box(&key)));
}

#[divan::bench(sample_size = CALLS)]
fn encoded_number(bencher: Bencher<'_, '_>) {
    encoded(bencher, 7_u64);
}

#[divan::bench(sample_size = CALLS)]
fn encoded_address(bencher: Bencher<'_, '_>) {
    encoded(bencher, IpAddr::V4(Ipv4Addr::LOCALHOST));
}

#[divan::bench(sample_size = CALLS, args = [5, 12, 40, 1_000])]
fn encoded_text(bencher: Bencher<'_, '_>, length: usize) {
    encoded(bencher, "k".repeat(length));
}

#[divan::bench(sample_size = CALLS)]
fn encoded_tuple(bencher: Bencher<'_, '_>) {
    encoded(bencher, ("tenant", 42_u64));
}
