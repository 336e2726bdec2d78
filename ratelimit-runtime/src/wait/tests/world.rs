//! Calls that wait for real, by a clock that is moved by hand, and what can be seen of them without polling them.

use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    task::{Context, Poll, Wake, Waker},
    time::Duration,
};

use super::super::{Stage, Waiting};
use crate::{
    LimitSpec, ManualClock, Permit, RateLimited,
    claim::Claim,
    clock::TimeSource,
    demand::Demand,
    denied::Reason,
    key::Key,
    limit::Limit,
    lines::{Terms, outcome},
    name::Name,
};

#[derive(Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Relaxed);
    }
}

/// A call that is polled by hand.
pub(super) struct Caller<'a, const N: usize> {
    pub(super) id: usize,
    waiting: Pin<Box<Waiting<'a, N>>>,
    woken: Arc<Woken>,
    /// It is polled once, and never again.
    pub(super) frozen: bool,
}

#[derive(Debug, PartialEq)]
pub(super) enum Status {
    Waits,
    Granted,
    Denied(Reason),
}

pub(super) fn limit(spec: LimitSpec, clock: &ManualClock, keyed: bool) -> Arc<Limit> {
    let (name, clock) = (Name::UNNAMED, TimeSource::custom(clock.clone()));
    Arc::new(if keyed { Limit::keyed(name, spec, clock, 4) } else { Limit::unkeyed(name, spec, clock) })
}

pub(super) fn claims<const N: usize>(limits: &[Arc<Limit>; N], costs: [u32; N]) -> [Claim<'_>; N] {
    std::array::from_fn(|number| Claim::new(&limits[number], Key::NONE, Demand::new(costs[number])))
}

impl<'a, const N: usize> Caller<'a, N> {
    pub(super) fn new(id: usize, claims: [Claim<'a>; N], terms: Terms, frozen: bool) -> Self {
        let waiting = Box::pin(Waiting::new(claims, terms));
        Self { id, waiting, woken: Arc::default(), frozen }
    }

    pub(super) fn poll(&mut self) -> Poll<Result<Permit<'a>, RateLimited>> {
        self.woken.0.store(false, Relaxed);
        let waker = Waker::from(self.woken.clone());
        self.waiting.as_mut().poll(&mut Context::from_waker(&waker))
    }

    pub(super) fn is_woken(&self) -> bool {
        self.woken.0.load(Relaxed)
    }

    /// How it stands, without a poll.
    pub(super) fn status(&self) -> Status {
        let Stage::InLine(ticket) = self.waiting.stage else { panic!("not in line") };
        match outcome(ticket) {
            None => Status::Waits,
            Some(Ok(())) => Status::Granted,
            Some(Err(reason)) => Status::Denied(reason),
        }
    }
}

pub(super) fn terms(at_most: Option<Duration>, max_waiters: usize) -> Terms {
    Terms { at_most, max_waiters, surely: false }
}
