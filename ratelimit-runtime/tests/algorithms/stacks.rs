//! Limits of several algorithms on one function.

use ratelimit_runtime::{LazyLimiter, RateLimited, Reason, limit, limiter, rate_limit, test_util};
use tokio::time::Instant;

use crate::support::{SECOND, just_before, ms};

static BUCKET: LazyLimiter = limiter!(rate = "10/s", algorithm = "token_bucket", name = "stack.bucket");
static METER: LazyLimiter = limiter!(rate = "10/s", algorithm = "leaky_bucket", name = "stack.meter");
static CELLS: LazyLimiter = limiter!(rate = "10/s", algorithm = "gcra", name = "stack.cells");
static LOG: LazyLimiter = limiter!(rate = "10/s", algorithm = "sliding_log", name = "stack.log");
static WINDOW: LazyLimiter = limiter!(rate = "10/s", algorithm = "fixed_window", name = "stack.window");
static CLOSED: LazyLimiter = limiter!(max = 1, window = "1h", name = "stack.closed");

#[rate_limit(limiter = BUCKET, cost = "cost")]
#[rate_limit(limiter = METER, cost = "cost")]
#[rate_limit(limiter = CELLS, cost = "cost")]
#[rate_limit(limiter = LOG, cost = "cost")]
#[rate_limit(limiter = WINDOW, cost = "cost")]
#[rate_limit(limiter = CLOSED)]
fn through_all(cost: u32) -> Result<(), RateLimited> {
    Ok(())
}

const OPEN: [&str; 5] = ["stack.bucket", "stack.meter", "stack.cells", "stack.log", "stack.window"];

fn used(name: &str) -> u32 {
    limit(name).unwrap().used(&())
}

#[test]
fn none_of_any_algorithm_is_charged_if_one_denies() {
    let _time = test_util::isolate();
    assert!(through_all(4).is_ok());
    assert_eq!(OPEN.map(used), [4; 5]);
    for _ in 0..100 {
        let denial = through_all(3).unwrap_err();
        assert_eq!((denial.name(), denial.reason()), ("stack.closed", Reason::Exceeded));
    }
    assert_eq!(OPEN.map(used), [4; 5]);
}

#[test]
fn denials_that_take_back_charges_never_delay_a_refill() {
    let time = test_util::isolate();
    assert!(through_all(10).is_ok());
    for _ in 0..1000 {
        assert!(through_all(1).is_err());
        time.advance(ms(1));
    }
    assert_eq!(OPEN.map(used), [0; 5]);
}

#[rate_limit(rate = "10/s", algorithm = "leaky_bucket", burst = 3, name = "stack.queue", wait)]
#[rate_limit(max = 2, window = "1s", algorithm = "sliding_log", name = "stack.beside")]
async fn queued() -> Result<Instant, RateLimited> {
    Ok(Instant::now())
}

#[tokio::test(start_paused = true)]
async fn in_a_stack_a_queue_holds_its_burst_and_spaces_what_the_others_let_in() {
    let _time = test_util::isolate();
    let start = Instant::now();
    let (one, two, three, four) = tokio::join!(queued(), queued(), queued(), queued());
    // The first has leaked when there is room beside, and the two that stand in line then fill the bucket with it.
    let full = four.unwrap_err();
    assert_eq!(
        (full.name(), full.reason(), full.retry_after()),
        ("stack.queue", Reason::Exceeded, Some(ms(100)))
    );
    assert_eq!([one, two, three].map(|turn| turn.unwrap() - start), [ms(0), ms(100), SECOND]);
}

#[tokio::test(start_paused = true)]
async fn who_is_held_up_beside_a_queue_saves_up_no_turns() {
    let _time = test_util::isolate();
    let start = Instant::now();
    limit("stack.beside").unwrap().set_spec("3/1s algorithm=fixed_window".parse().unwrap()).unwrap();
    let (one, two, three) = tokio::join!(queued(), queued(), queued());
    assert_eq!([one, two, three].map(|turn| turn.unwrap() - start), [0, 100, 200].map(ms));
    let (four, five) = tokio::join!(queued(), queued());
    assert_eq!([four, five].map(|turn| turn.unwrap() - start), [1000, 1100].map(ms));
}

#[rate_limit(limiter = TWICE, wait)]
#[rate_limit(limiter = TWICE, cost = 2)]
async fn twice() -> Result<(), RateLimited> {
    Ok(())
}

static TWICE: LazyLimiter =
    limiter!(rate = "10/s", algorithm = "leaky_bucket", burst = 6, name = "stack.twice");

#[tokio::test(start_paused = true)]
async fn a_queue_asked_twice_by_one_call_lets_it_through_in_one_turn() {
    let _time = test_util::isolate();
    let start = Instant::now();
    let (one, two, three) = tokio::join!(twice(), twice(), twice());
    assert!(one.is_ok() && two.is_ok());
    assert_eq!(start.elapsed(), ms(300));
    assert_eq!(three.unwrap_err().retry_after(), Some(ms(300)));
    tokio::time::advance(just_before(ms(300))).await;
}
