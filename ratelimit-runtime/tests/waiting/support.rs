//! Futures polled by hand, and limiters on a clock moved by hand.

use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    task::{Context, Poll, Wake, Waker},
    time::Duration,
};

use ratelimit_runtime::{LimitSpec, Limiter, ManualClock, Permit, RateLimited};

pub(crate) const SECOND: Duration = Duration::from_secs(1);
pub(crate) const NANOSECOND: Duration = Duration::from_nanos(1);

/// How long a permit of a limiter without keys is in use: a window and a bucket, of the finer ones that it has.
pub(crate) const IN_USE: Duration = Duration::from_micros(1_006_250);

/// Longer than it takes until a permit of these tests is free again: a window and a bucket, at the most.
pub(crate) const LONG: Duration = Duration::from_secs(3);

pub(crate) fn just_before(instant: Duration) -> Duration {
    instant.saturating_sub(NANOSECOND)
}

pub(crate) fn spec(max: u32) -> LimitSpec {
    LimitSpec::new(max, SECOND)
}

pub(crate) fn limiter(max: u32) -> (Limiter, ManualClock) {
    let clock = ManualClock::new();
    (Limiter::with_clock(spec(max), clock.clone()).unwrap(), clock)
}

/// A limiter of which nothing is left.
pub(crate) fn used_up(max: u32) -> (Limiter, ManualClock) {
    let (limiter, clock) = limiter(max);
    limiter.try_acquire_n(max).unwrap();
    (limiter, clock)
}

/// How long until one permit is free, behind all in line.
pub(crate) fn next_in(limiter: &Limiter) -> Duration {
    limiter.try_acquire().unwrap_err().retry_after().unwrap()
}

/// Counts how often it is woken.
#[derive(Default)]
pub(crate) struct Count(AtomicUsize);

impl Count {
    pub(crate) fn get(&self) -> usize {
        self.0.load(SeqCst)
    }
}

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, SeqCst);
    }
}

/// A future that is polled by hand.
pub(crate) struct Task<F> {
    future: Pin<Box<F>>,
    wakes: Arc<Count>,
}

pub(crate) type Decision<'a> = Result<Permit<'a>, RateLimited>;

impl<F: Future> Task<F> {
    pub(crate) fn new(future: F) -> Self {
        Self { future: Box::pin(future), wakes: Arc::default() }
    }

    /// A future that has been polled once, and waits.
    pub(crate) fn waiting(future: F) -> Self {
        let mut task = Self::new(future);
        assert!(task.poll().is_pending(), "it has to wait");
        task
    }

    pub(crate) fn poll(&mut self) -> Poll<F::Output> {
        let waker = Waker::from(self.wakes.clone());
        self.future.as_mut().poll(&mut Context::from_waker(&waker))
    }

    pub(crate) fn is_pending(&mut self) -> bool {
        self.poll().is_pending()
    }

    pub(crate) fn wakes(&self) -> usize {
        self.wakes.get()
    }
}

impl<'a, F: Future<Output = Decision<'a>>> Task<F> {
    /// Was woken, and is admitted.
    pub(crate) fn admitted(&mut self) -> Permit<'a> {
        assert!(self.wakes() > 0, "it is woken");
        match self.poll() {
            Poll::Ready(decision) => decision.expect("admitted"),
            Poll::Pending => panic!("still waits"),
        }
    }

    /// Is denied.
    pub(crate) fn denied(&mut self) -> RateLimited {
        match self.poll() {
            Poll::Ready(decision) => decision.expect_err("denied"),
            Poll::Pending => panic!("still waits"),
        }
    }
}
