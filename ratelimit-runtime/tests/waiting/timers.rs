//! Any executor will do: tokio's with and without its timer, and those that have none.

use std::{
    future::{Future, poll_fn},
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
    thread::{self, Thread},
    time::{Duration, Instant},
};

use ratelimit_runtime::{LimitSpec, Limiter};
use tokio::runtime::Builder;

const WINDOW: Duration = Duration::from_millis(40);

fn real() -> Limiter {
    Limiter::new(LimitSpec::new(1, WINDOW)).unwrap()
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// The least of all executors.
fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = std::pin::pin!(future);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

async fn three_in_a_row(limiter: &Limiter) {
    let started = Instant::now();
    for _ in 0..3 {
        limiter.acquire().await.unwrap();
    }
    assert!(started.elapsed() >= 2 * WINDOW);
}

#[test]
fn an_executor_without_a_timer() {
    block_on(three_in_a_row(&real()));
}

#[test]
fn tokio_on_one_thread() {
    Builder::new_current_thread().enable_time().build().unwrap().block_on(three_in_a_row(&real()));
}

#[test]
fn tokio_on_several_threads() {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_time().build().unwrap();
    runtime.block_on(async {
        let limiter = Arc::new(real());
        let started = Instant::now();
        let tasks: Vec<_> = (0..4)
            .map(|_| {
                let limiter = limiter.clone();
                tokio::spawn(async move { limiter.acquire().await.map(drop) })
            })
            .collect();
        for task in tasks {
            task.await.unwrap().unwrap();
        }
        assert!(started.elapsed() >= 3 * WINDOW);
    });
}

#[test]
fn tokio_without_its_timer() {
    Builder::new_current_thread().build().unwrap().block_on(three_in_a_row(&real()));
    Builder::new_multi_thread().worker_threads(1).build().unwrap().block_on(three_in_a_row(&real()));
}

#[test]
fn a_future_may_move_from_one_runtime_to_another() {
    let limiter = real();
    limiter.try_acquire().unwrap();
    let mut call = Box::pin(limiter.acquire());
    let runtime = Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let once = std::future::poll_fn(|context| Poll::Ready(call.as_mut().poll(context).is_pending()));
        assert!(once.await);
    });
    drop(runtime);
    block_on(call).unwrap();
}

#[test]
fn a_task_that_has_used_up_its_turn_is_woken_in_time() {
    let runtime = Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let limiter = real();
        limiter.try_acquire().unwrap();
        // Makes use of tokio's budget for one poll, so that its own futures are pending.
        while std::future::poll_fn(|context| {
            let mut ready = std::pin::pin!(tokio::task::consume_budget());
            Poll::Ready(ready.as_mut().poll(context).is_ready())
        })
        .await
        {}
        limiter.acquire().await.unwrap();
    });
}

#[test]
fn one_whose_waker_panics_takes_nobodys_timer_away() {
    struct Panics;
    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            panic!("this waker is of no use");
        }
    }

    let limiter = real();
    limiter.try_acquire().unwrap();
    let mut unlucky = Box::pin(limiter.acquire());
    let waker = Waker::from(Arc::new(Panics));
    assert!(unlucky.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    block_on(three_in_a_row(&limiter));
}

#[cfg(feature = "tokio")]
mod paused {
    use ratelimit_runtime::Clock;
    use tokio::time::{Instant, timeout};

    use super::*;

    struct TokioClock(Instant);

    impl Clock for TokioClock {
        fn now(&self) -> Duration {
            self.0.elapsed()
        }
    }

    fn limiter(max: u32) -> Limiter {
        let clock = TokioClock(Instant::now());
        Limiter::with_clock(LimitSpec::new(max, Duration::from_secs(3600)), clock).unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn hours_pass_at_once() {
        let (started, real) = (Instant::now(), std::time::Instant::now());
        let limiter = limiter(2);
        for _ in 0..10 {
            limiter.acquire().await.unwrap();
        }
        assert!(started.elapsed() >= Duration::from_secs(4 * 3600));
        assert!(started.elapsed() < Duration::from_secs(5 * 3600));
        assert!(real.elapsed() < Duration::from_secs(60));
    }

    #[tokio::test(start_paused = true)]
    async fn a_wait_that_is_given_up_takes_no_permit() {
        let limiter = limiter(1);
        limiter.acquire().await.unwrap();
        let started = Instant::now();
        timeout(Duration::from_secs(60), limiter.acquire()).await.unwrap_err();
        limiter.acquire().await.unwrap();
        assert!(started.elapsed() < Duration::from_secs(2 * 3600));
    }

    #[tokio::test(start_paused = true)]
    async fn one_that_is_not_polled_holds_up_nobody() {
        let limiter = limiter(1);
        limiter.acquire().await.unwrap();
        let started = Instant::now();
        let mut frozen = Box::pin(limiter.acquire());
        let once = std::future::poll_fn(|context| Poll::Ready(frozen.as_mut().poll(context).is_pending()));
        assert!(once.await);
        limiter.acquire_n(1, Some(Duration::from_secs(2 * 3600 + 600))).await.unwrap();
        assert!(started.elapsed() < Duration::from_secs(2 * 3600 + 600));
    }
}

#[test]
fn a_runtime_that_goes_down_takes_its_waiters_along_and_no_permit() {
    const WAITERS: usize = 100;
    let limiter = Arc::new(Limiter::new(LimitSpec::new(1, Duration::from_secs(3600))).unwrap());
    limiter.try_acquire().unwrap();
    for builder in [Builder::new_current_thread, Builder::new_multi_thread] {
        let runtime = builder().enable_all().build().unwrap();
        let in_line = Arc::new(AtomicUsize::new(0));
        for _ in 0..WAITERS {
            let (limiter, in_line) = (limiter.clone(), in_line.clone());
            runtime.spawn(async move {
                let mut waits = pin!(limiter.acquire());
                let first = poll_fn(|context| Poll::Ready(waits.as_mut().poll(context))).await;
                assert!(first.is_pending());
                in_line.fetch_add(1, Ordering::SeqCst);
                waits.await.map(drop)
            });
        }
        runtime.block_on(async {
            while in_line.load(Ordering::SeqCst) < WAITERS {
                tokio::task::yield_now().await;
            }
        });
        drop(runtime);
        limiter.reset();
        limiter.try_acquire().unwrap();
        limiter.try_acquire().unwrap_err();
    }
}
