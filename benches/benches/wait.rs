//! A call that may wait, where it need not: `cargo bench -p ratelimit-benches --bench wait`.

use std::pin::pin;
use std::task::{Context, Waker};

use divan::{Bencher, black_box};
use ratelimit_runtime::{LimitSpec, Limiter, RateLimited, rate_limit};

/// Calls of a sample. Left to itself, Divan goes by the first call, which makes the limiter.
const CALLS: u32 = 1_000;

fn main() {
    divan::main();
}

#[rate_limit(max = 1_000_000_000, window = "1s")]
#[expect(clippy::unused_async, reason = "the decision is what is measured")]
async fn decided() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(max = 1_000_000_000, window = "1s", wait = "1s")]
async fn waiting() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(max = 1_000_000_000, window = "1s", wait = "1s")]
fn waiting_thread() -> Result<(), RateLimited> {
    Ok(())
}

/// Polls a future that is ready at once.
fn ready(future: impl Future<Output = Result<(), RateLimited>>) {
    let mut context = Context::from_waker(Waker::noop());
    assert!(black_box(pin!(future).poll(&mut context)).is_ready());
}

#[divan::bench(sample_size = CALLS)]
fn a_task_that_does_not_wait(bencher: Bencher<'_, '_>) {
    bencher.bench(|| ready(decided()));
}

#[divan::bench(sample_size = CALLS)]
fn a_task_that_need_not_wait(bencher: Bencher<'_, '_>) {
    bencher.bench(|| ready(waiting()));
}

#[divan::bench(sample_size = CALLS)]
fn a_thread_that_need_not_wait(bencher: Bencher<'_, '_>) {
    bencher.bench(|| assert!(black_box(waiting_thread()).is_ok()));
}

/// It stands in line, and leaves it again.
#[divan::bench(sample_size = CALLS)]
fn a_task_that_gives_up(bencher: Bencher<'_, '_>) {
    let limiter = Limiter::new(LimitSpec::new(1, std::time::Duration::from_secs(3600))).unwrap();
    limiter.try_acquire().unwrap();
    bencher.bench(|| {
        let mut context = Context::from_waker(Waker::noop());
        assert!(pin!(limiter.acquire()).poll(&mut context).is_pending());
    });
}
