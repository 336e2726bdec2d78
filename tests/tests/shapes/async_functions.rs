//! `async fn`: decided at the first poll of the future, and never before.

use std::cell::Cell;
use std::fmt::Display;

use futures::FutureExt as _;
use ratelimit_runtime::{RateLimited, Reason, rate_limit};

use crate::{Bodies, admit_one_more, at_once, handle, is_send, waits_without_its_thread};

#[test]
fn an_async_function_returns_a_boxed_closure() {
    static BODIES: Bodies = Bodies::new();

    #[rate_limit(max = 1, window = "1h", fallback = |_| Box::new(|_| 0))]
    async fn adder(number: i32) -> Box<dyn Fn(i32) -> i32 + Send> {
        BODIES.run();
        Box::new(move |to| to + number)
    }

    assert_eq!(at_once(adder(2))(40), 42);
    assert_eq!(at_once(adder(2))(40), 0);
    assert_eq!(BODIES.count(), 1);
}

#[test]
fn an_async_function_returns_a_trait_object() {
    static BODIES: Bodies = Bodies::new();

    #[rate_limit(max = 2, window = "1h")]
    async fn show(number: Option<u8>) -> Result<Box<dyn Display + Send>, RateLimited> {
        BODIES.run();
        if let Some(number) = number {
            return Ok(Box::new(number));
        }
        Ok(Box::new("nothing"))
    }

    assert_eq!(at_once(show(Some(7))).unwrap().to_string(), "7");
    assert_eq!(at_once(show(None)).unwrap().to_string(), "nothing");
    assert_eq!(at_once(show(None)).err().unwrap().reason(), Reason::Exceeded);
    assert_eq!(BODIES.count(), 2);
}

#[tokio::test]
async fn an_async_function_that_waits_returns_a_trait_object() {
    #[rate_limit(max = 1, window = "10s", wait, name = "async_functions.trait_object")]
    async fn show(number: u8) -> Box<dyn Display + Send> {
        if number == 0 {
            return Box::new("nothing");
        }
        Box::new(number)
    }

    assert_eq!(at_once(show(0)).to_string(), "nothing");
    let shown = waits_without_its_thread("async_functions.trait_object", || show(7)).await;
    assert_eq!(shown.to_string(), "7");
}

#[test]
fn async_methods_of_traits_and_their_implementations_are_limited_each() {
    static BODIES: Bodies = Bodies::new();

    trait Shop {
        #[rate_limit(key = item, max = 1, window = "1h")]
        async fn price(&self, item: &str) -> Option<usize> {
            BODIES.run();
            Some(item.len())
        }

        async fn buy(&mut self, item: &str) -> Result<usize, RateLimited>;
    }

    struct Corner {
        sold: usize,
    }

    impl Shop for Corner {
        #[rate_limit(max = 1, window = "1h")]
        async fn buy(&mut self, item: &str) -> Result<usize, RateLimited> {
            BODIES.run();
            self.sold += item.len();
            Ok(self.sold)
        }
    }

    let mut shop = Corner { sold: 1 };
    assert_eq!(at_once(shop.price("tea")), Some(3));
    assert_eq!(at_once(shop.price("pots")), Some(4));
    assert_eq!(at_once(shop.price("tea")), None);
    assert_eq!(at_once(shop.buy("tea")).unwrap(), 4);
    assert!(at_once(shop.buy("tea")).is_err());
    assert_eq!((BODIES.count(), shop.sold), (3, 4));
}

#[test]
fn a_future_dropped_before_its_first_poll_charges_nothing() {
    static BODIES: Bodies = Bodies::new();

    #[rate_limit(max = 1, window = "1h", name = "async_functions.unpolled")]
    async fn call() -> Result<(), RateLimited> {
        BODIES.run();
        Ok(())
    }

    for _ in 0..5 {
        drop(call());
    }
    assert_eq!((handle("async_functions.unpolled").stats().allowed, BODIES.count()), (0, 0));
    at_once(call()).unwrap();
    assert_eq!(BODIES.count(), 1);
}

#[test]
fn a_future_dropped_while_it_waits_charges_nothing() {
    static BODIES: Bodies = Bodies::new();

    #[rate_limit(max = 1, window = "1h", wait, name = "async_functions.dropped")]
    async fn call() {
        BODIES.run();
    }

    at_once(call());
    let mut given_up = Box::pin(call());
    assert!(given_up.as_mut().now_or_never().is_none());
    drop(given_up);
    admit_one_more("async_functions.dropped");
    at_once(call());
    assert_eq!((handle("async_functions.dropped").stats().allowed, BODIES.count()), (2, 2));
}

#[tokio::test]
async fn an_argument_that_is_not_sync_keeps_the_future_send() {
    struct Session {
        user: String,
        visits: Cell<u32>,
    }

    #[rate_limit(
        key = (session.user, session.visits.get()),
        cost = session.visits.get(),
        when = session.visits.get() > 0,
        max = 1,
        window = "10s",
        wait = "1h",
        name = "async_functions.not_sync"
    )]
    async fn visit(session: Session) -> Result<String, RateLimited> {
        session.visits.set(2);
        Ok(session.user)
    }

    let ada = |visits| is_send(visit(Session { user: "ada".to_owned(), visits: Cell::new(visits) }));
    assert_eq!(at_once(ada(1)).unwrap(), "ada");
    assert_eq!(at_once(ada(2)).unwrap_err().reason(), Reason::CostExceedsCapacity);
    assert_eq!(at_once(ada(0)).unwrap(), "ada");
    waits_without_its_thread("async_functions.not_sync", || ada(1)).await.unwrap();
}

#[test]
fn an_async_function_calls_itself() {
    static BODIES: Bodies = Bodies::new();

    #[rate_limit(max = 3, window = "1h")]
    async fn down(depth: u32) -> Result<u32, RateLimited> {
        BODIES.run();
        if depth == 0 {
            return Ok(0);
        }
        Ok(Box::pin(down(depth - 1)).await? + 1)
    }

    assert_eq!(at_once(down(2)).unwrap(), 2);
    assert!(at_once(down(0)).is_err());
    assert_eq!(BODIES.count(), 3);
}
