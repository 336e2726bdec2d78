//! How late the machine itself is, so that it is not laid to the charge of what is tested.

use std::{
    sync::{Condvar, LazyLock, Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

const PERIOD: Duration = Duration::from_millis(2);

#[derive(Default)]
struct Metronome {
    /// The ticks so far, and how late all of them were together.
    ticks: Mutex<(u64, Duration)>,
    ticked: Condvar,
}

static METRONOME: LazyLock<&Metronome> = LazyLock::new(|| {
    let metronome: &Metronome = Box::leak(Box::default());
    thread::spawn(move || {
        loop {
            let began = Instant::now();
            thread::sleep(PERIOD);
            let mut ticks = metronome.ticks.lock().unwrap_or_else(PoisonError::into_inner);
            ticks.0 += 1;
            ticks.1 += began.elapsed().saturating_sub(PERIOD);
            metronome.ticked.notify_all();
        }
    });
    metronome
});

/// As of the next tick.
fn lateness() -> Duration {
    let ticks = METRONOME.ticks.lock().unwrap_or_else(PoisonError::into_inner);
    let next = ticks.0 + 1;
    let ticks = METRONOME.ticked.wait_while(ticks, |ticks| ticks.0 < next).unwrap();
    ticks.1
}

/// How long it takes, less what a timer was late meanwhile that nobody hinders but the machine.
pub(crate) fn timed<T>(act: impl FnOnce() -> T) -> (T, Duration) {
    let late = lateness();
    let began = Instant::now();
    let outcome = act();
    let took = began.elapsed();
    (outcome, took.saturating_sub(lateness().saturating_sub(late)))
}
