//! Whatever the clock does: the order and the bound hold, and in the end everybody is served.

use std::{
    future::Future,
    task::{Context, Poll, Waker},
    time::Duration,
};

use proptest::prelude::*;
use ratelimit_runtime::{Clock, LimitSpec, Limiter, ManualClock};

use crate::support::{SECOND, Task, limiter};

const MAX: u32 = 3;

#[derive(Clone, Debug)]
enum Step {
    Wait {
        cost: u32,
    },
    Try {
        cost: u32,
    },
    Leave(usize),
    /// In hundredths of a second.
    SetClock(u64),
    Advance(u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (1..=MAX).prop_map(|cost| Step::Wait { cost }),
        1 => (1..=MAX).prop_map(|cost| Step::Try { cost }),
        1 => (0..10_usize).prop_map(Step::Leave),
        2 => (0..2000_u64).prop_map(Step::SetClock),
        4 => (0..150_u64).prop_map(Step::Advance),
    ]
}

fn check(steps: &[Step]) {
    let (limiter, clock) = limiter(MAX);
    let mut line = Vec::new();
    let mut now = Duration::ZERO;
    // By the latest time that the limiter has seen: it goes by that while the clock is behind.
    let mut latest = Duration::ZERO;
    let mut admitted: Vec<(Duration, u32)> = Vec::new();
    let finish = std::iter::repeat_n(&Step::Advance(500), 2 * steps.len());
    for step in steps.iter().chain(std::iter::once(&Step::SetClock(2000))).chain(finish) {
        match *step {
            Step::Wait { cost } => line.push((cost, Task::new(limiter.acquire_n(cost, None)))),
            Step::Try { cost } => {
                if limiter.try_acquire_n(cost).is_ok() {
                    assert!(line.is_empty(), "passes nobody");
                    admitted.push((latest, cost));
                }
            }
            Step::Leave(number) => {
                if let Some(place) = number.checked_rem(line.len()) {
                    drop(line.remove(place));
                }
            }
            Step::SetClock(to) => now = SECOND / 100 * u32::try_from(to).unwrap(),
            Step::Advance(by) => now += SECOND / 100 * u32::try_from(by).unwrap(),
        }
        latest = latest.max(now);
        clock.set(now);
        limiter.try_acquire_n(0).unwrap();
        let mut waits = false;
        line.retain_mut(|(cost, call)| match call.poll() {
            Poll::Pending => {
                waits = true;
                true
            }
            Poll::Ready(decision) => {
                assert!(!waits, "nobody is overtaken");
                decision.unwrap();
                admitted.push((latest, *cost));
                false
            }
        });
        let window = admitted.iter().filter(|(at, _)| latest < *at + SECOND);
        assert!(window.map(|(_, cost)| cost).sum::<u32>() <= MAX, "the bound holds");
    }
    assert!(line.is_empty(), "everybody is served");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn order_and_bound_hold_and_all_are_served(steps in prop::collection::vec(step(), 1..60)) {
        check(&steps);
    }
}

/// Wakes whoever asks to be woken, at once.
struct Hasty(ManualClock);

impl Clock for Hasty {
    fn now(&self) -> Duration {
        self.0.now()
    }

    fn wake_at(&self, _: Duration, waker: &Waker) -> bool {
        waker.wake_by_ref();
        true
    }
}

#[test]
fn a_clock_that_wakes_far_too_early_is_asked_again_in_time() {
    let clock = ManualClock::new();
    let limiter =
        Limiter::with_clock(LimitSpec::new(1, Duration::from_millis(20)), Hasty(clock.clone())).unwrap();
    limiter.try_acquire().unwrap();
    let mut waits = Box::pin(limiter.acquire());
    let mut context = Context::from_waker(Waker::noop());
    assert!(waits.as_mut().poll(&mut context).is_pending());
    clock.advance(Duration::from_secs(1));
    assert!(waits.as_mut().poll(&mut context).is_ready());
}

#[test]
fn a_wait_at_the_end_of_all_time_is_no_endless_loop() {
    let clock = ManualClock::new();
    clock.set(Duration::MAX);
    let limiter = Limiter::with_clock(LimitSpec::new(1, Duration::from_secs(1)), clock).unwrap();
    limiter.try_acquire().unwrap();
    let mut waits = Box::pin(limiter.acquire());
    assert!(waits.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
}
