//! What is left to do once the room is left.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    task::Waker,
};

use super::bell::{Bell, Setting};

/// It waits until then because it may run a task, which may come here.
#[derive(Default)]
pub(super) struct Afterwards {
    wake: Vec<Waker>,
    drop: Vec<Waker>,
    set: Vec<Setting>,
    silence: Vec<Arc<Bell>>,
}

impl Afterwards {
    pub(super) fn wake(&mut self, waker: Option<Waker>) {
        self.wake.extend(waker);
    }

    pub(super) fn drop(&mut self, waker: Option<Waker>) {
        self.drop.extend(waker);
    }

    pub(super) fn set(&mut self, alarm: Setting) {
        self.set.push(alarm);
    }

    pub(super) fn silence(&mut self, bell: Option<Arc<Bell>>) {
        self.silence.extend(bell);
    }

    pub(super) fn carry_out(self) {
        self.silence.iter().for_each(|bell| bell.silence());
        self.set.into_iter().for_each(Setting::set);
        for waker in self.wake {
            // One that panics, of which the panic hook tells, is no matter of the call that comes by, nor of the others.
            _ = catch_unwind(AssertUnwindSafe(|| waker.wake()));
        }
    }
}
