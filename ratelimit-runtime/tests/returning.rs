//! Functions that are no `async fn` and wait: inside the boxed future that they return, else by blocking.
#![cfg(feature = "macros")]

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll, Waker};

use ratelimit_runtime::{RateLimited, rate_limit};

type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
type LocalBoxed<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;
type Answer<T> = Result<T, RateLimited>;

/// None of these has to wait: a call is admitted, or hopeless, at its first poll.
fn ready<T>(mut future: Pin<&mut (impl Future<Output = T> + ?Sized)>) -> T {
    match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("the future is decided at its first poll"),
    }
}

#[test]
fn a_boxed_future_behind_an_alias_is_decided_when_polled() {
    static BODIES: AtomicU32 = AtomicU32::new(0);

    #[rate_limit(max = 1, window = "1h", wait = "1s")]
    fn by_hand(number: &u32) -> Boxed<'_, Answer<u32>> {
        Box::pin(async move {
            BODIES.fetch_add(1, Ordering::Relaxed);
            Ok(*number)
        })
    }

    let mut first_called = by_hand(&1);
    let mut first_polled = by_hand(&2);
    drop(by_hand(&3));
    assert_eq!(ready(first_polled.as_mut()).unwrap(), 2);
    assert!(ready(first_called.as_mut()).is_err());
    assert_eq!(BODIES.load(Ordering::Relaxed), 1);
}

#[test]
fn a_permit_given_back_before_the_call_is_admitted_is_given_back_when_it_is() {
    #[rate_limit(max = 1, window = "1h", wait = "1s", permit = permit)]
    fn free() -> Boxed<'static, Answer<()>> {
        permit.refund();
        Box::pin(async { Ok(()) })
    }

    for _ in 0..3 {
        ready(free().as_mut()).unwrap();
    }
}

#[test]
fn an_associated_type_that_is_a_boxed_future_is_found_too() {
    trait Service {
        type Future;
        fn call(&mut self, amount: u32) -> Self::Future;
    }

    struct Counter(u32);

    impl Service for Counter {
        type Future = Boxed<'static, Answer<u32>>;

        #[rate_limit(key = self.0, max = 1, window = "1h", wait = "1s")]
        fn call(&mut self, amount: u32) -> Self::Future {
            self.0 += amount;
            let sum = self.0;
            Box::pin(async move { Ok(sum) })
        }
    }

    let mut counter = Counter(0);
    let mut unused = counter.call(0);
    assert_eq!(ready(counter.call(0).as_mut()).unwrap(), 0);
    assert!(ready(unused.as_mut()).is_err());
}

#[test]
fn a_fallback_of_a_boxed_future_is_a_future_itself() {
    #[rate_limit(max = 1, window = "1h", wait = "1s", fallback = |_| Box::pin(async move { text.len() }))]
    fn length(text: &str) -> Pin<Box<dyn Future<Output = usize> + '_>> {
        Box::pin(async move { text.len() + 100 })
    }

    assert_eq!(ready(length("abc").as_mut()), 103);
    assert_eq!(ready(length("abc").as_mut()), 3);
}

#[test]
fn the_permit_of_a_boxed_future_is_there_when_its_body_is_polled() {
    #[rate_limit(max = 5, window = "1h", wait = "1s", permit = permit)]
    fn refunding<'a>(give_back: &'a bool, _other: &mut u8) -> LocalBoxed<'a, Answer<u32>> {
        if permit.remaining() != u32::MAX {
            return Box::pin(async { unreachable!("the body runs before the call is admitted") });
        }
        Box::pin(async move {
            let remaining = permit.remaining();
            if *give_back {
                permit.refund();
            }
            Ok(remaining)
        })
    }

    let remaining = |give_back| ready(refunding(&give_back, &mut 0).as_mut()).unwrap();
    assert_eq!([remaining(false), remaining(true), remaining(true), remaining(false)], [4, 3, 3, 3]);
}

#[test]
fn a_bare_wait_on_a_boxed_future_needs_no_way_to_deny() {
    #[rate_limit(max = 1, window = "1h", wait)]
    fn unit() -> Boxed<'static, ()> {
        Box::pin(async {})
    }

    ready(unit().as_mut());
    assert!(unit().as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
}

#[test]
fn any_other_function_is_decided_in_the_call() {
    struct Length(usize);

    #[rate_limit(max = 1, window = "1h", wait = "1ms", permit = permit)]
    fn checked(text: &str) -> Answer<Length> {
        assert_eq!(permit.remaining(), 0);
        let length = u32::try_from(text.len()).map(|length| length as usize);
        Ok(Length(length.unwrap_or_default()))
    }

    #[rate_limit(max = 1, window = "1h", wait = "1ms", fallback = |_| Length(text.len()))]
    fn length(text: String) -> Length {
        let Some(first) = text.chars().next() else { return Length(0) };
        drop(text);
        Length(100 + first.len_utf8())
    }

    assert_eq!(checked("abc").map(|length| length.0).ok(), Some(3));
    assert!(checked("abc").is_err());
    assert_eq!(length("abc".to_owned()).0, 101);
    assert_eq!(length("abc".to_owned()).0, 3);
}
