//! Functions that return a boxed future without `async_trait`: written out, by an alias of a crate, by one of the user's.

use std::cell::Cell;
use std::future::{Future, ready};
use std::pin::Pin;
use std::rc::Rc;

use futures::FutureExt as _;
use futures::future::{BoxFuture, LocalBoxFuture};
use ratelimit_runtime::{RateLimited, Reason, rate_limit};

use crate::{Bodies, admit_one_more, at_once, handle, is_send, waits_without_its_thread};

type Job<'a, T> = Pin<Box<dyn Future<Output = Result<T, RateLimited>> + Send + Sync + 'a>>;
type Count = Job<'static, usize>;

#[test]
fn a_denial_is_a_ready_future_whatever_the_type_is_called() {
    static BODIES: Bodies = Bodies::new();

    #[rate_limit(max = 1, window = "1h")]
    fn written_out(word: &str) -> Pin<Box<dyn Future<Output = Option<usize>> + '_>> {
        BODIES.run();
        Box::pin(async { Some(word.len()) })
    }

    #[rate_limit(max = 1, window = "1h")]
    fn of_a_crate(word: &str) -> BoxFuture<'_, Option<usize>> {
        BODIES.run();
        async { Some(word.len()) }.boxed()
    }

    #[rate_limit(max = 1, window = "1h")]
    fn local(word: Rc<str>) -> LocalBoxFuture<'static, Option<usize>> {
        BODIES.run();
        async move { Some(word.len()) }.boxed_local()
    }

    #[rate_limit(max = 1, window = "1h")]
    fn of_the_users(word: &str) -> Count {
        BODIES.run();
        Box::pin(ready(Ok(word.len())))
    }

    assert_eq!([at_once(written_out("tea")), at_once(written_out("tea"))], [Some(3), None]);
    assert_eq!([at_once(is_send(of_a_crate("tea"))), at_once(of_a_crate("tea"))], [Some(3), None]);
    assert_eq!([at_once(local("tea".into())), at_once(local("tea".into()))], [Some(3), None]);
    assert_eq!(at_once(of_the_users("tea")).unwrap(), 3);
    assert_eq!(at_once(of_the_users("tea")).unwrap_err().reason(), Reason::Exceeded);
    assert_eq!(BODIES.count(), 4);
}

#[test]
fn a_function_that_does_not_wait_is_decided_at_the_call() {
    #[rate_limit(max = 1, window = "1h")]
    fn call(number: u8) -> BoxFuture<'static, Option<u8>> {
        Box::pin(async move { Some(number) })
    }

    let first = call(1);
    assert_eq!(at_once(call(2)), None);
    assert_eq!(at_once(first), Some(1));
}

#[tokio::test]
async fn a_boxed_future_waits_where_it_is_polled() {
    #[rate_limit(max = 1, window = "10s", wait, name = "boxed_futures.written_out")]
    fn written_out(word: &str) -> Pin<Box<dyn Future<Output = usize> + '_>> {
        Box::pin(async { word.len() })
    }

    #[rate_limit(max = 1, window = "10s", wait, name = "boxed_futures.of_a_crate")]
    fn of_a_crate(word: &str) -> BoxFuture<'_, usize> {
        async { word.len() }.boxed()
    }

    #[rate_limit(max = 1, window = "10s", wait, name = "boxed_futures.local")]
    fn local(word: Rc<str>) -> LocalBoxFuture<'static, usize> {
        async move { word.len() }.boxed_local()
    }

    #[rate_limit(key = word, max = 1, window = "10s", wait = "1h", name = "boxed_futures.of_the_users")]
    fn of_the_users(word: &str) -> Count {
        Box::pin(ready(Ok(word.len())))
    }

    at_once(written_out("tea"));
    assert_eq!(waits_without_its_thread("boxed_futures.written_out", || written_out("pots")).await, 4);
    at_once(of_a_crate("tea"));
    assert_eq!(waits_without_its_thread("boxed_futures.of_a_crate", || of_a_crate("pots")).await, 4);
    at_once(local("tea".into()));
    assert_eq!(waits_without_its_thread("boxed_futures.local", || local("pots".into())).await, 4);
    at_once(of_the_users("tea")).unwrap();
    let waited = waits_without_its_thread("boxed_futures.of_the_users", || of_the_users("tea")).await;
    assert_eq!(waited.unwrap(), 3);
}

#[tokio::test]
async fn the_future_that_a_service_names_waits_too() {
    trait Service<Request> {
        type Future: Future;
        fn call(&mut self, request: Request) -> Self::Future;
    }

    struct Length;

    impl Service<&'static str> for Length {
        type Future = Count;

        #[rate_limit(key = request, max = 1, window = "10s", wait = "1h", name = "boxed_futures.service")]
        fn call(&mut self, request: &'static str) -> Self::Future {
            Box::pin(async move { Ok(request.len()) })
        }
    }

    assert_eq!(at_once(Length.call("tea")).unwrap(), 3);
    let waited = waits_without_its_thread("boxed_futures.service", || Length.call("tea")).await;
    assert_eq!(waited.unwrap(), 3);
}

#[test]
fn a_hopeless_wait_is_a_ready_denial_and_the_made_future_is_not_polled() {
    static BODIES: Bodies = Bodies::new();

    #[rate_limit(max = 1, window = "1h", wait = "1s")]
    fn call() -> Count {
        Box::pin(async {
            BODIES.run();
            Ok(7)
        })
    }

    assert_eq!(at_once(call()).unwrap(), 7);
    assert_eq!(at_once(call()).unwrap_err().reason(), Reason::WaitTooLong);
    assert_eq!(BODIES.count(), 1);
}

#[test]
fn a_fallback_returns_a_future_like_the_function() {
    #[rate_limit(max = 1, window = "1h", fallback = |limited| Box::pin(ready(format!("{name}: {:?}", limited.reason()))))]
    fn greet(name: &str) -> BoxFuture<'_, String> {
        Box::pin(async move { format!("hello {name}") })
    }

    #[rate_limit(max = 1, window = "1h", wait = "1s", fallback = |limited| Box::pin(async move { format!("{name}: {:?}", limited.reason()) }))]
    fn wake(name: &str) -> BoxFuture<'_, String> {
        Box::pin(async move { format!("{name} is awake") })
    }

    fn asleep(_: RateLimited) -> BoxFuture<'static, String> {
        Box::pin(ready("asleep".to_owned()))
    }

    #[rate_limit(max = 1, window = "1h", wait = "1s", fallback = asleep)]
    fn nudge(name: &'static str) -> BoxFuture<'static, String> {
        Box::pin(async move { format!("{name} is awake") })
    }

    assert_eq!([at_once(greet("ada")), at_once(greet("bob"))], ["hello ada", "bob: Exceeded"]);
    assert_eq!([at_once(wake("ada")), at_once(wake("bob"))], ["ada is awake", "bob: WaitTooLong"]);
    assert_eq!([at_once(nudge("ada")), at_once(nudge("bob"))], ["ada is awake", "asleep"]);
}

#[test]
fn a_permit_is_the_waiting_futures_own() {
    #[rate_limit(max = 2, window = "1h", wait = "1s", permit = permit, name = "boxed_futures.permit")]
    fn call(give_back: bool) -> BoxFuture<'static, Result<u32, RateLimited>> {
        Box::pin(async move {
            let remaining = permit.remaining();
            if give_back {
                permit.refund();
            }
            Ok(remaining)
        })
    }

    assert_eq!(
        [true, true, false, false].map(|give_back| at_once(call(give_back)).ok()),
        [Some(1), Some(1), Some(1), Some(0)]
    );
    assert!(at_once(call(false)).is_err());
    assert_eq!(handle("boxed_futures.permit").stats().refunded, 2);
}

#[test]
fn a_body_may_leave_early_whether_it_waits_or_not() {
    #[derive(Debug, PartialEq)]
    enum Answer {
        Early,
        Late(char),
    }

    macro_rules! leaves_early {
        ($(#[$attribute:meta])* $name:ident) => {
            $(#[$attribute])*
            fn $name(word: &str) -> BoxFuture<'_, Option<Answer>> {
                if word.is_empty() {
                    return Box::pin(ready(Some(Answer::Early)));
                }
                Box::pin(async move {
                    let first = word.chars().next()?;
                    Some(Answer::Late(first))
                })
            }
        };
    }

    leaves_early!(
        #[rate_limit(max = 2, window = "1h")]
        decides
    );
    leaves_early!(
        #[rate_limit(max = 2, window = "1h", wait = "1s")]
        waits
    );

    for call in [decides, waits] {
        assert_eq!(at_once(call("")), Some(Answer::Early));
        assert_eq!(at_once(call("tea")), Some(Answer::Late('t')));
        assert_eq!(at_once(call("")), None);
    }
}

#[test]
fn a_future_dropped_unpolled_or_while_it_waits_charges_nothing() {
    #[rate_limit(max = 1, window = "10s", wait, name = "boxed_futures.dropped")]
    fn call() -> BoxFuture<'static, ()> {
        Box::pin(ready(()))
    }

    drop(call());
    at_once(call());
    let mut given_up = call();
    assert!(given_up.as_mut().now_or_never().is_none());
    drop(given_up);
    admit_one_more("boxed_futures.dropped");
    at_once(call());
    assert_eq!(handle("boxed_futures.dropped").stats().allowed, 2);
}

#[test]
fn what_a_denied_body_holds_is_dropped_without_being_polled() {
    struct Held<'a>(&'a Cell<u32>);

    impl Drop for Held<'_> {
        fn drop(&mut self) {
            self.0.set(self.0.get() + 1);
        }
    }

    #[rate_limit(max = const { 1 }, window = "1h", wait = "1s")]
    fn call(held: Held<'_>) -> LocalBoxFuture<'_, Option<u32>> {
        Box::pin(async move {
            let held = held;
            Some(held.0.get())
        })
    }

    let dropped = Cell::new(0);
    assert_eq!(at_once(call(Held(&dropped))), Some(0));
    assert_eq!(at_once(call(Held(&dropped))), None);
    assert_eq!(dropped.get(), 2);
}
