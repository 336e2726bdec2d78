//! Functions that `async_trait` has rewritten: denied by a ready future, and waiting inside the future.

use std::fmt::Display;
use std::sync::Arc;

use async_trait::async_trait;
use futures::FutureExt as _;
use ratelimit_runtime::{RateLimited, Reason, rate_limit};

use crate::{Bodies, admit_one_more, at_once, handle, is_send, waits_without_its_thread};

static BODIES: Bodies = Bodies::new();

#[async_trait]
trait Shop: Sync {
    #[rate_limit(key = item, max = 1, window = "1h")]
    async fn price(&self, item: &str) -> Option<usize> {
        BODIES.run();
        Some(item.len())
    }

    async fn buy(&mut self, item: &str) -> Result<usize, RateLimited>;
    async fn ask(&self, question: String) -> String;
    async fn count(&self) -> Result<u32, RateLimited>;
    async fn open(self: Arc<Self>, hour: u8) -> Box<dyn Display + Send>;
    async fn close<'a>(&'a self, hour: u8, door: &'a str) -> Result<&'a str, RateLimited>;
    async fn rest(&self);
    async fn wake(&self, name: &str) -> String;
}

#[derive(Default)]
struct Corner {
    name: &'static str,
    sold: usize,
}

#[async_trait]
impl Shop for Corner {
    #[rate_limit(max = 1, window = "1h")]
    async fn buy(&mut self, item: &str) -> Result<usize, RateLimited> {
        BODIES.run();
        self.sold += item.len();
        Ok(self.sold)
    }

    #[rate_limit(max = 1, window = "1h", fallback = |limited| {
        std::future::ready(()).await;
        format!("{}: {question}? {}", self.name, limited.name())
    }, name = "async_trait.fallback")]
    async fn ask(&self, question: String) -> String {
        question
    }

    #[rate_limit(max = 3, window = "1h", permit = permit)]
    async fn count(&self) -> Result<u32, RateLimited> {
        std::future::ready(()).await;
        let remaining = permit.remaining();
        permit.refund();
        Ok(remaining)
    }

    #[rate_limit(max = 1, window = "10s", wait, name = "async_trait.wait")]
    async fn open(self: Arc<Self>, hour: u8) -> Box<dyn Display + Send> {
        if hour < 9 {
            return Box::new(self.name);
        }
        Box::new(hour)
    }

    #[rate_limit(key = (hour, door), max = 1, window = "10s", wait = "1m", permit = permit, name = "async_trait.permit")]
    async fn close<'a>(&'a self, hour: u8, door: &'a str) -> Result<&'a str, RateLimited> {
        assert_eq!((permit.remaining(), hour), (0, 20));
        Ok(door)
    }

    #[rate_limit(max = 1, window = "10s", wait, name = "async_trait.dropped")]
    async fn rest(&self) {}

    #[rate_limit(max = 1, window = "1h", wait = "1s", fallback = |limited| format!("{name}: {:?}", limited.reason()))]
    async fn wake(&self, name: &str) -> String {
        format!("{name} is awake")
    }
}

#[test]
fn a_denial_is_a_ready_future() {
    let mut shop: Box<dyn Shop> = Box::new(Corner::default());
    let before = BODIES.count();
    assert_eq!(at_once(shop.price("tea")), Some(3));
    assert_eq!(at_once(shop.price("pots")), Some(4));
    assert_eq!(at_once(shop.price("tea")), None);
    assert_eq!(at_once(shop.buy("tea")).unwrap(), 3);
    assert_eq!(at_once(is_send(shop.buy("tea"))).unwrap_err().reason(), Reason::Exceeded);
    assert_eq!(BODIES.count() - before, 3);
}

#[test]
fn a_fallback_is_the_value_that_is_awaited() {
    let shop = Corner { name: "corner", sold: 0 };
    assert_eq!(at_once(shop.ask("why".to_owned())), "why");
    assert_eq!(at_once(shop.ask("why".to_owned())), "corner: why? async_trait.fallback");
}

#[test]
fn a_permit_lives_into_the_future() {
    let shop = Corner::default();
    assert_eq!(at_once(shop.count()).unwrap(), 2);
    assert_eq!(at_once(shop.count()).unwrap(), 2, "it has been refunded");
}

#[tokio::test]
async fn a_call_waits_in_the_future_and_not_in_the_call() {
    let shop = Arc::new(Corner { name: "corner", sold: 0 });
    assert_eq!(at_once(shop.clone().open(8)).to_string(), "corner");
    let opened = waits_without_its_thread("async_trait.wait", || is_send(shop.open(9))).await;
    assert_eq!(opened.to_string(), "9");
}

#[tokio::test]
async fn a_call_that_may_be_denied_waits_with_its_permit() {
    let shop = Corner::default();
    let door = "front".to_owned();
    assert_eq!(at_once(shop.close(20, &door)).unwrap(), "front");
    // The permit that it gets is the last one of the limit, which has one more by then.
    assert_eq!(
        waits_without_its_thread("async_trait.permit", || shop.close(20, &door)).await.unwrap(),
        "front"
    );
    assert_eq!(handle("async_trait.permit").stats().waited, 1);
}

#[test]
fn a_hopeless_wait_is_a_ready_denial_or_the_fallback() {
    let shop = Corner::default();
    assert_eq!(at_once(shop.wake("ada")), "ada is awake");
    assert_eq!(at_once(shop.wake("ada")), "ada: WaitTooLong");
}

#[test]
fn a_future_that_is_dropped_while_it_waits_charges_nothing() {
    let shop = Corner::default();
    at_once(shop.rest());
    let mut given_up = shop.rest();
    assert!(given_up.as_mut().now_or_never().is_none());
    drop((given_up, shop.rest()));
    admit_one_more("async_trait.dropped");
    at_once(shop.rest());
    assert_eq!(handle("async_trait.dropped").stats().allowed, 2);
}

#[test]
fn a_body_that_waits_may_leave_early() {
    #[async_trait]
    trait Parse {
        async fn parse(&self, text: &str) -> Result<u32, AppError>;
    }

    #[derive(Debug)]
    enum AppError {
        Busy,
        NoNumber,
    }

    impl From<RateLimited> for AppError {
        fn from(_: RateLimited) -> Self {
            Self::Busy
        }
    }

    impl From<std::num::ParseIntError> for AppError {
        fn from(_: std::num::ParseIntError) -> Self {
            Self::NoNumber
        }
    }

    #[async_trait]
    impl Parse for () {
        #[rate_limit(max = 3, window = "1h", wait = "1s")]
        async fn parse(&self, text: &str) -> Result<u32, AppError> {
            if text.is_empty() {
                return Ok(0);
            }
            let number: u32 = text.parse()?;
            Ok(number)
        }
    }

    assert_eq!(at_once(().parse("")).unwrap(), 0);
    assert!(matches!(at_once(().parse("x")), Err(AppError::NoNumber)));
    assert_eq!(at_once(().parse("7")).unwrap(), 7);
    assert!(matches!(at_once(().parse("7")), Err(AppError::Busy)));
}

#[test]
fn generic_methods_and_futures_that_are_not_send_are_limited() {
    #[async_trait(?Send)]
    trait Store<T> {
        async fn put<const N: usize>(&mut self, items: [T; N]) -> Result<usize, RateLimited>
        where
            T: 'static;
    }

    #[async_trait(?Send)]
    impl<T: Clone> Store<T> for Vec<T> {
        #[rate_limit(key = N, max = 1, window = "1h", wait = "1s")]
        async fn put<const N: usize>(&mut self, items: [T; N]) -> Result<usize, RateLimited>
        where
            T: 'static,
        {
            self.extend_from_slice(&items);
            Ok(self.len())
        }
    }

    let mut store = Vec::new();
    assert_eq!(at_once(store.put([std::rc::Rc::new(1); 1])).unwrap(), 1);
    assert!(at_once(store.put([std::rc::Rc::new(1); 1])).is_err());
    assert_eq!(store.len(), 1);
}
