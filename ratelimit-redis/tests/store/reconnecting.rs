//! Many who ask while there is nobody to answer: they neither wait for a connection nor make one, and do not come back
//! all at once.

use super::*;

use std::{
    cell::{Cell, RefCell},
    thread,
};

use futures::future::join_all;
use proxy::Proxy;

/// Runs so many tasks on a thread of their own, each of which asks and asks until it is told to stop. Tells how long calls
/// took, how many failed, and whether each task was decided by the server in the end.
fn ask_all_the_time(
    store: &RedisStore,
    tasks: u32,
    until: impl Fn() -> bool,
) -> (Vec<Duration>, usize, bool) {
    let (times, failures) = (RefCell::new(Vec::new()), Cell::new(0));
    let task = async |number: u32| {
        let key = number.to_le_bytes();
        let call = StoreCall::new("limit", hour(1_000_000), &key);
        while !until() {
            let began = Instant::now();
            let answer = store.charge(&call).await;
            times.borrow_mut().push(began.elapsed());
            failures.set(failures.get() + usize::from(answer.is_err()));
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let end = Instant::now() + LIVELY;
        while Instant::now() < end {
            if store.charge(&call).await.is_ok() {
                return true;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        false
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let recovered = runtime.block_on(join_all((0..tasks).map(task)));
    (times.into_inner(), failures.get(), recovered.into_iter().all(|recovered| recovered))
}

#[test]
fn two_hundred_tasks_share_one_attempt_to_connect_at_a_time_and_none_waits_for_it() {
    with_servers(&[], |mut server| {
        let proxy = Proxy::before(server.port);
        let store = up(&proxy.url());
        let is_over = std::sync::atomic::AtomicBool::new(false);
        let over = || is_over.load(std::sync::atomic::Ordering::Relaxed);
        let (mut times, failures, all_recovered) = thread::scope(|scope| {
            let tasks = scope.spawn(|| ask_all_the_time(&store, 200, over));
            for _ in 0..2 {
                assert!(eventually(LIVELY, || store.state() == LinkState::Up));
                thread::sleep(Duration::from_millis(300));
                server.kill();
                let (before, began) = (proxy.times_opened().len(), Instant::now());
                thread::sleep(Duration::from_millis(1500));
                let attempts = proxy.times_opened().len() - before;
                // Each comes after a pause of its own, and none while there is another.
                let most = began.elapsed().as_millis() / 50;
                assert!((1..=most).contains(&(attempts as u128)), "{attempts} attempts");
                server.run();
            }
            assert!(comes_up(&store));
            is_over.store(true, std::sync::atomic::Ordering::Relaxed);
            tasks.join().unwrap()
        });
        assert!(all_recovered);
        assert!(failures > 200, "{failures}");
        // Besides the one that broke, which the proxy may notice a little later.
        assert!(proxy.most_at_once() <= 2, "{}", proxy.most_at_once());
        let asked = times.len();
        let median = median(&mut times);
        assert!(median < TIMEOUT, "{median:?}");
        let (slow, slowest) =
            (times.iter().filter(|time| **time > TIMEOUT + SLACK).count(), times[asked - 1]);
        assert!(slow * 100 < asked, "{slow} of {asked}, up to {slowest:?}");
    });
}

#[test]
fn forty_processes_do_not_come_back_all_at_once_and_all_come_back() {
    const PROCESSES: usize = 40;
    with_servers(&[], |mut server| {
        let proxy = Proxy::before(server.port);
        let stores: Vec<_> = (0..PROCESSES).map(|_| up(&proxy.url())).collect();
        server.kill();
        let lost = Instant::now();
        thread::sleep(Duration::from_millis(2500));
        let opened = proxy.times_opened();
        server.run();
        let attempts: Vec<_> = opened.into_iter().filter(|opened| *opened > lost).collect();
        // Ten pauses or so for each, the first ones short.
        assert!(attempts.len() < PROCESSES * 20, "{}", attempts.len());
        let later = attempts.iter().filter(|attempt| **attempt > lost + Duration::from_secs(1));
        let crowd = later.map(|first| {
            let end = *first + Duration::from_millis(100);
            attempts.iter().filter(|attempt| (*first..end).contains(attempt)).count()
        });
        // Evenly spread, a hundred milliseconds see a tenth to a fifth of them.
        let most = crowd.max().unwrap();
        punctual(most <= PROCESSES / 2, format_args!("{most} at once"));
        assert!(stores.iter().all(comes_up));
        assert!(stores.iter().all(decides));
    });
}
