//! In line for each algorithm: first come, first served, at the instants that were foreseen.

use std::time::Duration;

use ratelimit_runtime::{Clock, Limiter, ManualClock, Reason};

use crate::support::{ALGORITHMS, Call, SECOND, just_before, limiter, ms};

/// A limiter of 2 per second of which nothing is left.
fn used_up(algorithm: &str) -> (Limiter, ManualClock) {
    let (limiter, clock) = limiter(&format!("2/1s algorithm={algorithm}"));
    limiter.try_acquire_n(2).unwrap();
    (limiter, clock)
}

/// All but the queue, which takes nobody in while it is full.
fn algorithms() -> impl Iterator<Item = &'static str> {
    ALGORITHMS.into_iter().filter(|algorithm| *algorithm != "leaky_bucket")
}

#[test]
fn those_in_line_are_let_in_one_by_one_at_the_instants_that_were_foreseen() {
    for algorithm in algorithms() {
        let (limiter, clock) = used_up(algorithm);
        let mut line = Vec::new();
        let mut foreseen = Vec::new();
        for cost in [1, 2, 1, 1] {
            foreseen.push(limiter.try_acquire_n(cost).unwrap_err().retry_after().unwrap());
            line.push(Call::waiting(limiter.acquire_n(cost, None)));
        }
        assert!(foreseen.is_sorted(), "{algorithm}: {foreseen:?}");
        for (call, at) in line.iter_mut().zip(foreseen) {
            if clock.now() < at {
                clock.set(just_before(at));
                assert!(!call.is_through(), "{algorithm}: too early for {at:?}");
                clock.set(at);
            }
            assert!(call.is_through(), "{algorithm}: not at {at:?}");
        }
    }
}

#[test]
fn what_is_foreseen_is_exact_however_late_a_line_moves_on() {
    for algorithm in algorithms() {
        for late_by in [1, 130, 400, 700, 1700] {
            let (limiter, clock) = used_up(algorithm);
            let mut first = Call::waiting(limiter.acquire());
            let mut second = Call::waiting(limiter.acquire_n(2, None));
            let _third = Call::waiting(limiter.acquire());
            clock.set(ms(500 + late_by));
            _ = first.is_through();
            clock.set(ms(1500 + 2 * late_by));
            _ = second.is_through();
            let foreseen = limiter.try_acquire().unwrap_err().retry_after();
            // Has all be worked out anew.
            limiter.set_spec(limiter.spec()).unwrap();
            assert_eq!(
                limiter.try_acquire().unwrap_err().retry_after(),
                foreseen,
                "{algorithm}, {late_by} ms"
            );
        }
    }
}

#[test]
fn a_small_cost_does_not_overtake_a_large_one() {
    for algorithm in algorithms() {
        let (limiter, clock) = limiter(&format!("2/1s algorithm={algorithm}"));
        limiter.try_acquire().unwrap();
        let mut large = Call::waiting(limiter.acquire_n(2, None));
        let mut small = Call::waiting(limiter.acquire());
        assert!(limiter.try_acquire().is_err(), "{algorithm}: nobody passes those in line");
        clock.set(3 * SECOND);
        assert!(!small.is_through(), "{algorithm}");
        assert!(large.is_through(), "{algorithm}");
    }
}

#[test]
fn a_wait_that_would_be_too_long_is_refused_at_once() {
    for algorithm in algorithms() {
        let (limiter, clock) = used_up(algorithm);
        let next_in = || limiter.try_acquire().unwrap_err().retry_after().unwrap();
        let in_time = next_in();
        let mut first = Call::waiting(limiter.acquire_n(1, Some(in_time)));
        let free_in = next_in();
        let denial = Call::new(limiter.acquire_n(1, Some(just_before(free_in)))).is_denied();
        assert_eq!(
            (denial.reason(), denial.retry_after()),
            (Reason::WaitTooLong, Some(free_in)),
            "{algorithm}"
        );
        let mut second = Call::waiting(limiter.acquire_n(1, Some(free_in)));
        clock.set(in_time);
        assert!(first.is_through(), "{algorithm}");
        clock.set(free_in);
        assert!(second.is_through(), "{algorithm}");
    }
}

#[test]
fn who_leaves_lets_those_behind_move_up() {
    for algorithm in algorithms() {
        let (limiter, clock) = used_up(algorithm);
        let free_in = limiter.try_acquire().unwrap_err().retry_after().unwrap();
        let first = Call::waiting(limiter.acquire());
        let mut second = Call::waiting(limiter.acquire());
        drop(first);
        clock.set(free_in);
        assert!(second.is_through(), "{algorithm}");
    }
}

#[test]
fn a_refund_and_a_reset_let_in_at_once() {
    for algorithm in algorithms() {
        let (limiter, _clock) = limiter(&format!("2/1s algorithm={algorithm}"));
        let permit = limiter.try_acquire_n(2).unwrap();
        let mut first = Call::waiting(limiter.acquire_n(2, None));
        permit.refund();
        assert!(first.is_through(), "{algorithm}");
        let mut second = Call::waiting(limiter.acquire());
        limiter.reset();
        assert!(second.is_through(), "{algorithm}");
    }
}

#[test]
fn a_change_of_the_algorithm_decides_the_line_anew() {
    for from in algorithms() {
        for to in ALGORITHMS {
            let (limiter, clock) = used_up(from);
            let mut first = Call::waiting(limiter.acquire());
            let mut second = Call::waiting(limiter.acquire());
            limiter.set_spec(format!("4/1s algorithm={to}").parse().unwrap()).unwrap();
            if to == "leaky_bucket" {
                // In a queue each has its turn.
                clock.set(ms(500));
                assert!(first.is_through() && !second.is_through(), "{from} to {to}");
                clock.set(ms(750));
                assert!(second.is_through(), "{from} to {to}");
            } else {
                assert!(first.is_through() && second.is_through(), "{from} to {to}");
            }
        }
    }
}

#[test]
fn a_call_that_waits_blocking_is_let_in_by_real_time() {
    for algorithm in ALGORITHMS {
        let spec = format!("100/1s algorithm={algorithm}").parse().unwrap();
        let limiter = Limiter::new(spec).unwrap();
        limiter.try_acquire_n(99).unwrap();
        limiter.acquire_blocking(1, Some(Duration::from_secs(10))).unwrap();
    }
}
