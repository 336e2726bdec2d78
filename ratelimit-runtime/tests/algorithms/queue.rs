//! A leaky bucket whose calls wait: a queue that lets them through evenly.

use std::time::Duration;

use ratelimit_runtime::{KeyedLimiter, ManualClock, Mode, RateLimited, Reason, limit, rate_limit, test_util};
use tokio::time::Instant;

use crate::support::{Call, NANOSECOND, SECOND, just_before, limiter, ms};

const QUEUE: &str = "10/1s algorithm=leaky_bucket burst=4";

#[test]
fn calls_go_through_evenly_and_what_does_not_fit_is_denied_at_once() {
    let (limiter, clock) = limiter(QUEUE);
    assert!(Call::new(limiter.acquire()).is_through());
    let mut line = [(); 3].map(|()| Call::waiting(limiter.acquire()));
    let denial = Call::new(limiter.acquire()).is_denied();
    assert_eq!((denial.reason(), denial.retry_after()), (Reason::Exceeded, Some(ms(100))));
    for turn in 1..=3 {
        clock.set(just_before(ms(100 * turn)));
        assert!(line.iter_mut().skip(usize::try_from(turn).unwrap() - 1).all(|call| !call.is_through()));
        clock.set(ms(100 * turn));
        assert!(line[usize::try_from(turn).unwrap() - 1].is_through(), "turn {turn}");
    }
}

#[test]
fn exactly_the_calls_are_admitted_that_a_meter_admits() {
    let (queue, clock) = limiter(QUEUE);
    let (meter, meters_clock) = limiter(QUEUE);
    let mut line = Vec::new();
    for step in 0..400_u64 {
        let now = Duration::from_micros(step * 17_731);
        clock.set(now);
        meters_clock.set(now);
        line.retain_mut(|call: &mut Call<'_>| !call.is_through());
        let cost = u32::try_from(1 + step % 7 / 3).unwrap();
        let mut call = Call::new(queue.acquire_n(cost, None));
        match (meter.try_acquire_n(cost), call.decided()) {
            (Ok(_), Some(Ok(_))) => {}
            (Ok(_), None) => line.push(call),
            (Err(denied), Some(Err(refused))) => {
                assert_eq!(refused.retry_after(), denied.retry_after(), "step {step}");
                assert_eq!(refused.reason(), Reason::Exceeded);
            }
            (one, other) => panic!("step {step}: the meter says {one:?}, the queue {other:?}"),
        }
    }
}

#[test]
fn a_denied_call_is_told_when_there_will_be_room_in_the_queue() {
    let (limiter, clock) = limiter(QUEUE);
    limiter.try_acquire().unwrap();
    let mut line = [(); 3].map(|()| Call::waiting(limiter.acquire()));
    clock.set(ms(30));
    let denial = Call::new(limiter.acquire_n(2, None)).is_denied();
    assert_eq!(denial.retry_after(), Some(ms(170)));
    clock.set(just_before(ms(200)));
    assert_eq!(Call::new(limiter.acquire_n(2, None)).is_denied().retry_after(), Some(NANOSECOND));
    clock.set(ms(200));
    let mut last = Call::waiting(limiter.acquire_n(2, None));
    clock.set(just_before(ms(400)));
    assert!(!last.is_through());
    clock.set(ms(400));
    assert!(last.is_through());
    assert!(line.iter_mut().all(Call::is_through));
}

#[test]
fn a_cost_of_several_keeps_the_next_for_as_long() {
    let (limiter, clock) = limiter(QUEUE);
    assert!(Call::new(limiter.acquire_n(3, None)).is_through());
    let mut next = Call::waiting(limiter.acquire());
    clock.set(just_before(ms(300)));
    assert!(!next.is_through());
    clock.set(ms(300));
    assert!(next.is_through());
}

#[test]
fn a_call_that_costs_more_than_the_bucket_holds_never_waits() {
    let (limiter, _clock) = limiter(QUEUE);
    let denial = Call::new(limiter.acquire_n(5, None)).is_denied();
    assert_eq!((denial.reason(), denial.retry_after()), (Reason::CostExceedsCapacity, None));
}

#[test]
fn a_call_whose_turn_comes_too_late_is_refused_at_once() {
    let (limiter, clock) = limiter(QUEUE);
    limiter.try_acquire().unwrap();
    let _line = [(); 2].map(|()| Call::waiting(limiter.acquire()));
    let denial = Call::new(limiter.acquire_n(1, Some(just_before(ms(300))))).is_denied();
    assert_eq!((denial.reason(), denial.retry_after()), (Reason::WaitTooLong, Some(ms(300))));
    let mut in_time = Call::waiting(limiter.acquire_n(1, Some(ms(300))));
    clock.set(ms(300));
    assert!(in_time.is_through());
}

#[test]
fn who_leaves_the_queue_takes_nothing_and_those_behind_move_up() {
    let (limiter, clock) = limiter(QUEUE);
    limiter.try_acquire().unwrap();
    let mut first = Call::waiting(limiter.acquire());
    let second = Call::waiting(limiter.acquire());
    let mut third = Call::waiting(limiter.acquire());
    assert!(Call::new(limiter.acquire()).is_denied().retry_after().is_some());
    drop(second);
    let mut fourth = Call::waiting(limiter.acquire());
    for (turn, call) in [(100, &mut first), (200, &mut third), (300, &mut fourth)] {
        clock.set(just_before(ms(turn)));
        assert!(!call.is_through(), "before {turn} ms");
        clock.set(ms(turn));
        assert!(call.is_through(), "at {turn} ms");
    }
    clock.set(ms(400));
    assert_eq!(limiter.used(), 0);
}

#[test]
fn a_turn_that_was_granted_unheard_is_given_back() {
    let (limiter, clock) = limiter(QUEUE);
    limiter.try_acquire().unwrap();
    let first = Call::waiting(limiter.acquire());
    let mut second = Call::waiting(limiter.acquire());
    clock.set(ms(100));
    // In the name of the first, who is not polled.
    assert!(!second.is_through());
    drop(first);
    assert!(second.is_through());
}

#[test]
fn who_is_polled_late_keeps_up_nobody_behind() {
    let (limiter, clock) = limiter(QUEUE);
    limiter.try_acquire().unwrap();
    let mut line = [(); 3].map(|()| Call::waiting(limiter.acquire()));
    clock.set(ms(250));
    assert!(line[1].is_through());
    assert!(line[0].is_through());
    assert!(!line[2].is_through());
    clock.set(ms(300));
    assert!(line[2].is_through());
}

#[test]
fn a_call_that_does_not_wait_passes_nobody_in_the_queue() {
    let (limiter, clock) = limiter(QUEUE);
    limiter.try_acquire().unwrap();
    let mut waits = Call::waiting(limiter.acquire());
    assert_eq!(limiter.try_acquire().unwrap_err().retry_after(), Some(ms(100)));
    clock.set(ms(100));
    limiter.try_acquire().unwrap();
    assert!(waits.is_through());
    assert_eq!(limiter.used(), 2);
}

#[test]
fn a_reset_a_change_and_the_switch_decide_the_queue_anew() {
    let (limiter, clock) = limiter(QUEUE);
    limiter.try_acquire_n(2).unwrap();
    let mut line = [(); 2].map(|()| Call::waiting(limiter.acquire()));
    limiter.reset();
    assert!(line[0].is_through());
    assert!(!line[1].is_through());
    limiter.set_spec("100/1s algorithm=leaky_bucket burst=4".parse().unwrap()).unwrap();
    clock.set(ms(10));
    assert!(line[1].is_through());
}

#[test]
fn every_key_has_a_queue_of_its_own() {
    let clock = ManualClock::new();
    let limiter = KeyedLimiter::with_clock(QUEUE.parse().unwrap(), clock.clone()).unwrap();
    let keys = ["a", "b"];
    assert!(keys.iter().all(|key| Call::new(limiter.acquire(*key)).is_through()));
    let mut lines = keys.map(|key| [(); 3].map(|()| Call::waiting(limiter.acquire(key))));
    let denials = keys.map(|key| Call::new(limiter.acquire(key)).is_denied().reason());
    assert_eq!(denials, [Reason::Exceeded; 2]);
    clock.set(ms(300));
    assert!(lines.iter_mut().flatten().all(Call::is_through));
    clock.set(ms(400));
    assert_eq!(limiter.tracked_keys(), 0);
}

#[test]
fn most_calls_in_line_may_be_fewer_than_the_bucket_holds() {
    let (limiter, _clock) = limiter(QUEUE);
    let limiter = limiter.with_max_waiters(1);
    limiter.try_acquire().unwrap();
    let _waits = Call::waiting(limiter.acquire());
    let denial = Call::new(limiter.acquire()).is_denied();
    assert_eq!((denial.reason(), denial.retry_after()), (Reason::QueueFull, Some(ms(200))));
}

#[rate_limit(rate = "10/s", algorithm = "leaky_bucket", burst = 5, wait, name = "drip")]
async fn drip() -> Result<Instant, RateLimited> {
    Ok(Instant::now())
}

#[tokio::test(start_paused = true)]
async fn an_annotated_function_drips() {
    let _time = test_util::isolate();
    let start = Instant::now();
    let calls = [drip(), drip(), drip(), drip(), drip(), drip()];
    let [one, two, three, four, five, six] = calls;
    let (one, two, three, four, five, six) = tokio::join!(one, two, three, four, five, six);
    assert_eq!(six.unwrap_err().reason(), Reason::Exceeded);
    let turns = [one, two, three, four, five].map(|turn| turn.unwrap() - start);
    assert_eq!(turns, [0, 100, 200, 300, 400].map(ms));
    assert_eq!(limit("drip").unwrap().stats().denied, 1);
}

#[rate_limit(rate = "1/h", algorithm = "leaky_bucket", burst = 5, wait, name = "drip.off")]
async fn slow_drip() -> Result<(), RateLimited> {
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_queue_that_is_switched_off_lets_all_through() {
    let _time = test_util::isolate();
    let start = Instant::now();
    let off = async {
        tokio::time::sleep(SECOND).await;
        limit("drip.off").unwrap().set_mode(Mode::Off);
    };
    let (one, two, three, ()) = tokio::join!(slow_drip(), slow_drip(), slow_drip(), off);
    assert!(one.is_ok() && two.is_ok() && three.is_ok());
    assert_eq!(start.elapsed(), SECOND);
}
