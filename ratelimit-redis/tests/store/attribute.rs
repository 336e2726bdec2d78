//! From the attribute to the server and back.

use super::*;

use ratelimit_runtime::{LimitHandle, RateLimited, Reason, install_store, limit, rate_limit};

fn handle(name: &str) -> LimitHandle {
    limit(name).unwrap()
}

#[rate_limit(max = 50, window = "1h", key = "key", store = "redis", name = "attribute.limit", permit = permit)]
async fn limited(key: &str, refunds: bool) -> Result<u32, RateLimited> {
    if refunds {
        permit.refund();
        return Ok(0);
    }
    Ok(permit.remaining())
}

#[rate_limit(max = 20, window = "1h", store = "redis", name = "attribute.sync")]
fn blocking() -> Result<(), RateLimited> {
    Ok(())
}

/// One test, since a store is installed once in a program.
#[test]
fn annotated_functions_share_the_budget_of_a_server() {
    let Some(engine) = Engine::all().last().copied() else { return };
    let server = Server::start(engine);
    install_store("redis", patient(&server.url())).unwrap();
    exactly_max_calls_are_admitted_and_a_refund_counts_for_all();
    those_who_wait_are_let_through_at_the_time_that_the_server_tells();
    a_queue_takes_in_what_a_meter_admits_and_lets_it_through_evenly();
    install_store("slow", builder(&server.url()).connect_lazy().unwrap()).unwrap();
    a_call_that_timed_out_is_charged_for_what_its_other_limits_admit(&server);
}

fn exactly_max_calls_are_admitted_and_a_refund_counts_for_all() {
    let calls: Vec<_> = (0..100).map(|_| limited("one", false)).collect();
    let answers = block_on(futures::future::join_all(calls));
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 50);
    let limited_by = answers.into_iter().find_map(Result::err).unwrap();
    assert_eq!(limited_by.reason(), Reason::Exceeded);
    assert!(limited_by.retry_after().unwrap() > Duration::from_secs(3500));
    for _ in 0..100 {
        block_on(limited("two", true)).unwrap();
    }
    assert_eq!(handle("attribute.limit").used("one"), 50);
    assert_eq!(handle("attribute.limit").used("two"), 0);
    handle("attribute.limit").reset();
    assert_eq!(handle("attribute.limit").used("one"), 0);

    let threads: Vec<_> =
        (0..4).map(|_| std::thread::spawn(|| (0..10).filter(|_| blocking().is_ok()).count())).collect();
    assert_eq!(threads.into_iter().map(|thread| thread.join().unwrap()).sum::<usize>(), 20);
    let stats = handle("attribute.sync").stats();
    assert_eq!((stats.allowed, stats.denied, stats.store_failures), (20, 20, 0));
}

#[rate_limit(
    max = 1,
    window = "100ms",
    algorithm = "gcra",
    store = "redis",
    name = "attribute.waits",
    wait = "10s"
)]
async fn waits() -> Result<Instant, RateLimited> {
    Ok(Instant::now())
}

fn those_who_wait_are_let_through_at_the_time_that_the_server_tells() {
    let calls: Vec<_> = (0..4).map(|_| waits()).collect();
    let mut times: Vec<_> =
        block_on(futures::future::join_all(calls)).into_iter().map(Result::unwrap).collect();
    times.sort();
    for pair in times.windows(2) {
        let apart = pair[1] - pair[0];
        // Each waits for the answer as well, the one before perhaps for longer.
        assert!(apart > Duration::from_millis(60) && apart < Duration::from_secs(5), "{apart:?}");
    }
}

#[rate_limit(
    max = 5,
    window = "1s",
    algorithm = "leaky_bucket",
    burst = 3,
    store = "redis",
    name = "attribute.queue",
    wait
)]
async fn queue() -> Result<Instant, RateLimited> {
    Ok(Instant::now())
}

fn a_queue_takes_in_what_a_meter_admits_and_lets_it_through_evenly() {
    let calls: Vec<_> = (0..6).map(|_| queue()).collect();
    let began = Instant::now();
    let answers = block_on(futures::future::join_all(calls));
    let took = began.elapsed();
    let mut times: Vec<_> = answers.iter().flatten().copied().collect();
    times.sort();
    assert_eq!(times.len(), 3, "{answers:?}");
    assert!(took >= Duration::from_millis(390), "{took:?}");
    assert!(times.windows(2).all(|pair| pair[1] - pair[0] > Duration::from_millis(150)));
    assert!(
        answers
            .iter()
            .filter_map(|answer| answer.as_ref().err())
            .all(|denial| denial.reason() == Reason::Exceeded)
    );
}

#[rate_limit(max = 1000, window = "1h", store = "slow", name = "attribute.outer")]
#[rate_limit(max = 10, window = "1h", key = "key", store = "redis", name = "attribute.inner")]
fn stacked(key: &str) -> Result<(), RateLimited> {
    Ok(())
}

fn a_call_that_timed_out_is_charged_for_what_its_other_limits_admit(server: &Server) {
    let used = || handle("attribute.outer").used(&());
    let slowly = |key: &str| {
        let time = (TIMEOUT * 2).as_millis().to_string();
        redis::cmd("CLIENT").arg(&["PAUSE", &time, "WRITE"]).exec(&mut server.connect()).unwrap();
        stacked(key)
    };
    assert!(eventually(LIVELY, || stacked("full").is_err()));
    let before = used();
    for _ in 0..3 {
        assert_eq!(slowly("full").unwrap_err().name(), "attribute.inner");
    }
    assert!(eventually(LIVELY, || used() == before), "{} of {before}", used());
    // By its policy, a call that timed out is admitted, and charged when the server decides.
    handle("attribute.outer").reset();
    slowly("free").unwrap();
    assert!(eventually(LIVELY, || used() == 1), "{}", used());
}
