//! Limiters on a clock moved by hand, and futures polled by hand.

use std::{
    future::Future,
    pin::Pin,
    task::{Context, Poll, Waker},
    time::Duration,
};

use ratelimit_runtime::{Limiter, ManualClock, Permit, RateLimited};

pub(crate) const SECOND: Duration = Duration::from_secs(1);
pub(crate) const NANOSECOND: Duration = Duration::from_nanos(1);

pub(crate) const ALGORITHMS: [&str; 6] =
    ["sliding_window", "fixed_window", "sliding_log", "token_bucket", "leaky_bucket", "gcra"];

pub(crate) fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

pub(crate) fn just_before(instant: Duration) -> Duration {
    instant.saturating_sub(NANOSECOND)
}

pub(crate) fn limiter(limit: &str) -> (Limiter, ManualClock) {
    let clock = ManualClock::new();
    (Limiter::with_clock(limit.parse().unwrap(), clock.clone()).unwrap(), clock)
}

/// A call in line, or decided.
pub(crate) struct Call<'a> {
    future: Pin<Box<dyn Future<Output = Result<Permit<'a>, RateLimited>> + 'a>>,
}

impl<'a> Call<'a> {
    pub(crate) fn new(future: impl Future<Output = Result<Permit<'a>, RateLimited>> + 'a) -> Self {
        Self { future: Box::pin(future) }
    }

    /// One that has to wait.
    pub(crate) fn waiting(future: impl Future<Output = Result<Permit<'a>, RateLimited>> + 'a) -> Self {
        let mut call = Self::new(future);
        assert!(call.decided().is_none(), "it has to wait");
        call
    }

    pub(crate) fn decided(&mut self) -> Option<Result<Permit<'a>, RateLimited>> {
        match self.future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(decision) => Some(decision),
            Poll::Pending => None,
        }
    }

    pub(crate) fn is_through(&mut self) -> bool {
        self.decided().is_some_and(|decision| decision.is_ok())
    }

    pub(crate) fn is_denied(&mut self) -> RateLimited {
        self.decided().expect("it is denied at once").unwrap_err()
    }
}
