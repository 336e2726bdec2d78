//! A budget in one word, that refills steadily.

use std::sync::Arc;

use loom::thread;

use super::{Steps, WINDOW, model};
use crate::{Algorithm, LimitSpec, Limiter};

fn spec(burst: u32) -> LimitSpec {
    LimitSpec::new(1, WINDOW).with_algorithm(Algorithm::Gcra).with_burst(burst)
}

fn limiter(burst: u32) -> Arc<Limiter> {
    let limiter = Limiter::with_clock(spec(burst), Steps::new()).unwrap();
    // Sets the budget out.
    assert_eq!(limiter.used(), 0);
    Arc::new(limiter)
}

#[test]
fn a_permit_costs_what_the_limit_in_force_says() {
    model(|| {
        let limiter = limiter(2);
        let beside = limiter.clone();
        let other = thread::spawn(move || beside.try_acquire().is_ok());
        limiter.set_spec(LimitSpec::new(3, WINDOW).with_algorithm(Algorithm::Gcra)).unwrap();
        assert!(other.join().unwrap());
        assert_eq!((limiter.used(), limiter.remaining()), (1, 2));
    });
}

#[test]
fn nothing_is_charged_twice_as_time_goes_on() {
    model(|| {
        let clock = Steps::new();
        let limiter = Arc::new(Limiter::with_clock(spec(1), clock.clone()).unwrap());
        limiter.try_acquire().unwrap();
        let beside = limiter.clone();
        let other = thread::spawn(move || beside.try_acquire().is_ok());
        clock.set(1_500);
        let this = limiter.try_acquire().is_ok();
        assert!(this != other.join().unwrap(), "one of them, at the new time");
    });
}
