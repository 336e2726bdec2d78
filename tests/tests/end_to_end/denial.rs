//! What a denied call returns, and that its body does not run.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use ratelimit_runtime::{FromRateLimited, KeyedLimiter, ManualClock, RateLimited, Reason, rate_limit};

use crate::handle;

#[test]
fn the_body_runs_only_for_admitted_calls() {
    static RAN: AtomicU32 = AtomicU32::new(0);

    #[rate_limit(max = 3, window = "1h")]
    fn count() -> Result<(), RateLimited> {
        RAN.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    let admitted = (0..10).filter(|_| count().is_ok()).count();
    assert_eq!(admitted, 3);
    assert_eq!(RAN.load(Ordering::Relaxed), 3);
}

#[test]
fn a_result_gets_the_users_own_error() {
    #[derive(Debug)]
    enum AppError {
        Busy(RateLimited),
        Broken,
    }

    impl From<RateLimited> for AppError {
        fn from(limited: RateLimited) -> Self {
            Self::Busy(limited)
        }
    }

    #[rate_limit(max = 1, window = "1h", name = "denial.own_error")]
    fn call(broken: bool) -> Result<u8, AppError> {
        if broken { Err(AppError::Broken) } else { Ok(7) }
    }

    assert!(matches!(call(true), Err(AppError::Broken)), "the body's own error passes through");
    let Err(AppError::Busy(limited)) = call(false) else {
        panic!("the body's error was a call like any other")
    };
    assert_eq!(limited.name(), "denial.own_error");
    assert_eq!(limited.reason(), Reason::Exceeded);
    assert_eq!(limited.remaining(), 0);
    assert_eq!(limited.limit().max(), 1);
    let retry_after = limited.retry_after().unwrap();
    assert!(retry_after > Duration::from_secs(3590), "{retry_after:?}");
    assert!(
        retry_after <= Duration::from_secs(3660 + 40),
        "an hour, a bucket, and the clock's 1 %: {retry_after:?}"
    );
}

#[test]
fn an_option_gets_none_also_behind_an_alias() {
    type Maybe = Option<u8>;

    #[rate_limit(max = 1, window = "1h")]
    fn call() -> Maybe {
        Some(7)
    }

    assert_eq!(call(), Some(7));
    assert_eq!(call(), None);
}

#[test]
fn a_type_of_the_users_says_itself_what_a_denial_is() {
    #[derive(Debug, PartialEq)]
    enum Answer {
        Yes,
        NotNow,
    }

    impl FromRateLimited for Answer {
        fn from_rate_limited(_: RateLimited) -> Self {
            Self::NotNow
        }
    }

    #[rate_limit(max = 1, window = "1h")]
    fn call() -> Answer {
        Answer::Yes
    }

    assert_eq!(call(), Answer::Yes);
    assert_eq!(call(), Answer::NotNow);
}

#[test]
fn a_fallback_sees_the_parameters_and_the_denial() {
    #[rate_limit(max = 1, window = "1h", name = "denial.fallback", fallback = |limited| format!("{user}: {}", limited.name()))]
    fn call(user: &str) -> String {
        format!("{user}: welcome")
    }

    assert_eq!(call("ada"), "ada: welcome");
    assert_eq!(call("bob"), "bob: denial.fallback");
}

#[test]
fn a_fallback_may_be_a_function() {
    fn zero(_: RateLimited) -> u8 {
        0
    }

    #[rate_limit(max = 1, window = "1h", fallback = zero)]
    fn call() -> u8 {
        7
    }

    assert_eq!([call(), call()], [7, 0]);
}

#[tokio::test]
async fn a_fallback_of_an_async_function_may_await() {
    async fn cached() -> u8 {
        tokio::task::yield_now().await;
        1
    }

    #[rate_limit(max = 1, window = "1h", fallback = |_| cached().await)]
    async fn call() -> u8 {
        7
    }

    assert_eq!([call().await, call().await], [7, 1]);
}

#[tokio::test]
async fn a_boxed_future_is_a_ready_one() {
    type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;

    #[rate_limit(max = 1, window = "1h")]
    fn call() -> Boxed<Result<u8, RateLimited>> {
        Box::pin(async { Ok(7) })
    }

    assert_eq!(call().await.unwrap(), 7);
    assert_eq!(call().await.unwrap_err().reason(), Reason::Exceeded);
}

#[tokio::test]
async fn async_trait_methods_are_denied_by_a_ready_future() {
    #[async_trait::async_trait]
    trait Shop {
        async fn buy(&self, number: u32) -> Result<u32, RateLimited>;
    }

    struct Corner;

    #[async_trait::async_trait]
    impl Shop for Corner {
        #[rate_limit(key = "number", max = 1, window = "1h")]
        async fn buy(&self, number: u32) -> Result<u32, RateLimited> {
            Ok(number)
        }
    }

    let shop: Box<dyn Shop> = Box::new(Corner);
    assert_eq!(shop.buy(1).await.unwrap(), 1);
    assert_eq!(shop.buy(2).await.unwrap(), 2);
    assert!(shop.buy(1).await.is_err());
}

#[test]
fn the_message_says_max_per_window_and_names_the_limit() {
    #[rate_limit(max = 1, window = "1h", name = "denial.message")]
    fn call() -> Result<(), RateLimited> {
        Ok(())
    }

    call().unwrap();
    let message = call().unwrap_err().to_string();
    assert!(message.starts_with("rate limit `denial.message` (1/1h) exceeded; retry in 36"), "{message}");
}

#[test]
fn a_denial_tells_of_the_max_that_the_call_brought() {
    #[rate_limit(max = max, window = "1h", name = "denial.per_call")]
    fn call(max: u32) -> Result<(), RateLimited> {
        Ok(())
    }

    assert!(call(2).is_ok() && call(2).is_ok());
    for max in [2, 1, 0] {
        let limited = call(max).unwrap_err();
        assert_eq!(limited.limit().max(), max);
        assert_eq!(limited.remaining(), 0);
        let message = limited.to_string();
        assert!(message.contains(&format!("`denial.per_call` ({max}/1h)")), "{message}");
    }
    assert!(call(3).is_ok());

    let limit = handle("denial.per_call");
    assert_eq!(limit.spec().max(), u32::MAX, "each call brings its own");
    limit.set_spec("1/1h".parse().unwrap()).unwrap();
    assert_eq!(call(9).unwrap_err().limit().max(), 1, "a limit that was set wins");
}

#[test]
fn the_text_rounds_the_time_up_to_a_readable_length() {
    let clock = ManualClock::new();
    let limiter = KeyedLimiter::with_clock("2/1s".parse().unwrap(), clock.clone()).unwrap();
    limiter.try_acquire_n(&7, 2).unwrap();
    for (now, exact, text) in [
        (Duration::ZERO, Duration::from_millis(1_050), "1.05s"),
        (Duration::from_nanos(1), Duration::from_nanos(1_049_999_999), "1.05s"),
        (Duration::from_nanos(1_000_001), Duration::from_nanos(1_048_999_999), "1.049s"),
        (Duration::from_nanos(927_000_500), Duration::from_nanos(122_999_500), "123ms"),
        (Duration::from_nanos(927_000_501), Duration::from_nanos(122_999_499), "123ms"),
        (Duration::from_nanos(1_049_999_999), Duration::from_nanos(1), "1µs"),
    ] {
        clock.set(now);
        let denial = limiter.try_acquire(&7).unwrap_err();
        assert_eq!(denial.retry_after(), Some(exact));
        assert_eq!(denial.to_string(), format!("rate limit `limiter` (2/1s) exceeded; retry in {text}"));
    }
}
