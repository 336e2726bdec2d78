//! Those who wait behind threads that are blocked, and have no bells of their own.

use std::{
    task::{Poll, Waker},
    time::Duration,
};

use ratelimit_spec::LimitSpec;

use super::world::{Caller, claims, limit, terms};
use crate::{ManualClock, store::decide, wait::Waiting};

#[test]
fn a_bell_moves_on_all_whom_its_call_waits_for() {
    let clock = ManualClock::new();
    let spec = LimitSpec::new(1, Duration::from_secs(1));
    let limits = [(); 3].map(|()| limit(spec, &clock, false));
    decide(&mut claims(&limits, [0, 0, 1])).unwrap();

    let blocked = |costs| {
        let mut call = Waiting::new(claims(&limits, costs), terms(None, 9));
        call.blocks = true;
        _ = call.turn(Waker::noop());
        call
    };
    let _blocked = (blocked([0, 0, 1]), blocked([0, 1, 1]));
    let mut last = Caller::new(0, claims(&limits, [1, 1, 0]), terms(None, 9), false);
    assert!(last.poll().is_pending());

    // The threads have not come round yet when its bell rings.
    for _ in 0..5 {
        clock.advance(Duration::from_secs(2));
    }
    assert!(last.is_woken());
    assert!(matches!(last.poll(), Poll::Ready(Ok(_))));
}
