//! What an alarm rings: it moves a line on by itself, whether or not the task that waits is ever polled again.

use std::{
    mem,
    sync::{Arc, Mutex, Weak},
    task::Waker,
    time::Duration,
};

use super::line::Number;
use crate::{limit::Limit, sync::unpoisoned, timer::Alarm};

/// The bell of one ticket. What happens when it rings is said in `turn.rs`: it rings in the room, above this file.
pub(super) struct Bell {
    /// Its clock is the one that the waiter goes by. Weak: a clock may hold the bell until its time comes, and the limit
    /// holds the clock.
    limit: Weak<Limit>,
    ticket: Number,
    alarm: Mutex<Newest>,
    being_set: Mutex<BeingSet>,
}

/// A clock may ring the bell that it is asked to ring later. If its time has not moved by then, ringing would only have
/// it asked again, and so on without end.
#[derive(Default)]
struct BeingSet {
    /// The time at which the clock is being asked.
    since: Option<u64>,
    has_rung: bool,
}

/// The alarm that was decided about last, however late the others are set.
#[derive(Default)]
struct Newest {
    decision: u64,
    alarm: Option<Alarm>,
}

/// An alarm that was decided about in the room, to be set once that is left: it may ring at once.
pub(super) struct Setting {
    pub(super) bell: Arc<Bell>,
    /// Counts what was decided about this bell.
    pub(super) decision: u64,
    pub(super) now: u64,
    pub(super) at: u64,
}

impl Bell {
    pub(super) fn new(limit: &Arc<Limit>, ticket: Number) -> Arc<Self> {
        Arc::new(Self {
            limit: Arc::downgrade(limit),
            ticket,
            alarm: Mutex::default(),
            being_set: Mutex::default(),
        })
    }

    /// Whose turn it may be, and what time it is by the waiter's clock; `None` while the alarm is being set, or with the
    /// limit gone.
    pub(super) fn heard(&self) -> Option<(Number, u64)> {
        let now = self.limit.upgrade()?.precise_now();
        let mut being_set = unpoisoned(self.being_set.lock());
        if being_set.since.is_some_and(|since| now <= since) {
            being_set.has_rung = true;
            return None;
        }
        Some((self.ticket, now))
    }

    /// It never rings again.
    pub(super) fn silence(&self) {
        self.replace(u64::MAX, None);
    }

    fn replace(&self, decision: u64, mut alarm: Option<Alarm>) {
        let mut newest = unpoisoned(self.alarm.lock());
        if newest.decision < decision {
            newest.decision = decision;
            std::mem::swap(&mut newest.alarm, &mut alarm);
        }
        drop(newest);
        // The one that is not needed: dropped after the lock is gone.
        drop(alarm);
    }
}

impl Setting {
    pub(super) fn set(self) {
        let Self { bell, decision, now, at } = self;
        let Some(limit) = bell.limit.upgrade() else { return };
        let waker = Waker::from(bell.clone());
        unpoisoned(bell.being_set.lock()).since = Some(now);
        let by_clock = limit.clock.wake_at(at, &waker);
        let rung_too_early = mem::take(&mut *unpoisoned(bell.being_set.lock())).has_rung;
        if !by_clock || rung_too_early {
            let after = Duration::from_nanos(at.saturating_sub(now)).max(Duration::from_millis(1));
            bell.replace(decision, Some(Alarm::new(after, &waker)));
        }
    }
}
