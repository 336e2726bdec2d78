//! Exact for any number of threads.

use std::thread;

use ratelimit_runtime::{RateLimited, rate_limit};

use crate::stats;

const THREADS: usize = 8;
const CALLS: usize = 5_000;

/// Calls from many threads at once; how many were admitted.
fn admitted(call: impl Fn(usize) -> bool + Sync) -> usize {
    thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|number| {
                scope.spawn({
                    let call = &call;
                    move || (0..CALLS).filter(|_| call(number)).count()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    })
}

#[test]
fn exactly_max_calls_are_admitted() {
    #[rate_limit(max = 10_007, window = "1h", name = "threads.one")]
    fn call() -> Result<(), RateLimited> {
        Ok(())
    }

    assert_eq!(admitted(|_| call().is_ok()), 10_007);
    let stats = stats("threads.one");
    assert_eq!(stats.allowed, 10_007);
    assert_eq!(stats.denied, (THREADS * CALLS) as u64 - 10_007);
}

#[test]
fn exactly_max_calls_of_each_key_are_admitted() {
    #[rate_limit(key = key, max = 1_009, window = "1h")]
    fn call(key: usize) -> Result<(), RateLimited> {
        Ok(())
    }

    assert_eq!(admitted(|number| call(number % 3).is_ok()), 3 * 1_009);
}

#[test]
fn a_contended_stack_charges_all_or_nothing() {
    #[rate_limit(max = 3_001, window = "1h", name = "threads.outer")]
    #[rate_limit(key = key, max = 1_009, window = "1h", name = "threads.inner")]
    fn call(key: usize) -> Result<(), RateLimited> {
        Ok(())
    }

    // While undoing, others may briefly see less room: a few may be denied that a later call gets.
    let first = admitted(|number| call(number % 4).is_ok());
    let rest = (0..4).map(|key| (0..2_000).filter(|_| call(key).is_ok()).count()).sum::<usize>();
    assert_eq!(first + rest, 3_001);
    assert_eq!(stats("threads.outer").allowed, 3_001);
    assert_eq!(stats("threads.inner").allowed, 3_001);
}
