//! Other macros on the same function, above and below: an attribute sees what the ones above it have left.

use std::sync::atomic::{AtomicU64, Ordering};

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use ratelimit_runtime::{RateLimited, Reason, rate_limit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber, instrument};

use crate::{Bodies, at_once, handle, is_send};

#[tokio::test]
#[rate_limit(max = 1, window = "1h", name = "other_attributes.tokio_above")]
async fn tokio_test_above() -> Result<(), RateLimited> {
    tokio::task::yield_now().await;
    assert_eq!(handle("other_attributes.tokio_above").stats().allowed, 1);
    Ok(())
}

#[rate_limit(max = 1, window = "1h", name = "other_attributes.tokio_below")]
#[tokio::test]
async fn tokio_test_below() -> Result<(), RateLimited> {
    tokio::task::yield_now().await;
    assert_eq!(handle("other_attributes.tokio_below").stats().allowed, 1);
    Ok(())
}

#[test]
#[rate_limit(max = 1, window = "1h", name = "other_attributes.test_above")]
fn test_above() -> Result<(), RateLimited> {
    assert_eq!(handle("other_attributes.test_above").stats().allowed, 1);
    Ok(())
}

#[rate_limit(max = 1, window = "1h", wait, name = "other_attributes.test_below")]
#[test]
fn test_below() {
    assert_eq!(handle("other_attributes.test_below").stats().allowed, 1);
}

#[test]
fn the_attribute_under_another_name_decides_by_itself() {
    use ratelimit_runtime::rate_limit as limited;

    static BODIES: Bodies = Bodies::new();

    #[limited(max = 3, window = "1h")]
    #[rate_limit(max = 1, window = "1h", name = "other_attributes.one_decision")]
    fn takes_in() -> Option<()> {
        BODIES.run();
        Some(())
    }

    #[rate_limit(max = 1, window = "1h")]
    #[limited(max = 3, window = "1h", name = "other_attributes.two_decisions")]
    fn is_not_taken_in() -> Option<()> {
        BODIES.run();
        Some(())
    }

    assert_eq!([(); 5].map(|()| takes_in().is_some()), [true, false, false, false, false]);
    assert_eq!([(); 5].map(|()| is_not_taken_in().is_some()), [true, false, false, false, false]);
    assert_eq!(BODIES.count(), 2);
    assert_eq!(handle("other_attributes.one_decision").stats().denied, 4);
    let around = handle("other_attributes.two_decisions").stats();
    assert_eq!((around.allowed, around.denied), (3, 2), "the limit inside denies what this one has charged");
}

#[test]
fn debug_handler_above_and_below() {
    static BODIES: Bodies = Bodies::new();

    #[axum::debug_handler]
    #[rate_limit(max = 1, window = "1h")]
    async fn above(body: String) -> Result<String, Busy> {
        BODIES.run();
        Ok(body)
    }

    #[rate_limit(key = body, max = 1, window = "1h", fallback = |limited| Busy::from(limited).into_response())]
    #[axum::debug_handler]
    async fn below(body: String) -> Response {
        BODIES.run();
        body.into_response()
    }

    struct Busy;

    impl From<RateLimited> for Busy {
        fn from(_: RateLimited) -> Self {
            Self
        }
    }

    impl IntoResponse for Busy {
        fn into_response(self) -> Response {
            StatusCode::TOO_MANY_REQUESTS.into_response()
        }
    }

    let statuses = [(); 2].map(|()| {
        let tea = || "tea".to_owned();
        [at_once(above(tea())).into_response(), at_once(below(tea()))].map(|response| response.status())
    });
    assert_eq!(statuses, [[StatusCode::OK; 2], [StatusCode::TOO_MANY_REQUESTS; 2]]);
    assert_eq!(BODIES.count(), 2);
}

#[test]
fn instrument_above_and_below() {
    static BODIES: Bodies = Bodies::new();
    static SPANS: AtomicU64 = AtomicU64::new(0);

    /// Counts the spans that are made.
    struct Spans;

    impl Subscriber for Spans {
        fn enabled(&self, _: &Metadata<'_>) -> bool {
            true
        }
        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(SPANS.fetch_add(1, Ordering::Relaxed) + 1)
        }
        fn record(&self, _: &Id, _: &Record<'_>) {}
        fn record_follows_from(&self, _: &Id, _: &Id) {}
        fn event(&self, _: &Event<'_>) {}
        fn enter(&self, _: &Id) {}
        fn exit(&self, _: &Id) {}
    }

    #[instrument(skip(words), fields(count = words.len()))]
    #[rate_limit(key = name, max = 1, window = "1h")]
    async fn above(name: &str, words: Vec<String>) -> Result<usize, RateLimited> {
        BODIES.run();
        std::future::ready(()).await;
        Ok(name.len() + words.len())
    }

    #[rate_limit(key = name, max = 1, window = "1h")]
    #[instrument(err(Debug), ret)]
    async fn below(name: &str, words: Vec<String>) -> Result<usize, RateLimited> {
        BODIES.run();
        Ok(name.len() + words.len())
    }

    #[instrument]
    #[rate_limit(max = 1, window = "1h", wait = "1ms", permit = permit)]
    fn above_and_waits(mut number: u32) -> Result<u32, RateLimited> {
        BODIES.run();
        number += permit.remaining();
        Ok(number)
    }

    #[rate_limit(max = 1, window = "1h", wait = "1ms", permit = permit)]
    #[instrument]
    fn below_and_waits(mut number: u32) -> Result<u32, RateLimited> {
        BODIES.run();
        number += permit.remaining();
        Ok(number)
    }

    let spans = |call: &dyn Fn()| {
        let before = SPANS.load(Ordering::Relaxed);
        call();
        SPANS.load(Ordering::Relaxed) - before
    };
    tracing::subscriber::with_default(Spans, || {
        assert_eq!(spans(&|| assert_eq!(at_once(is_send(above("tea", vec![]))).unwrap(), 3)), 1);
        let denied = || assert_eq!(at_once(above("tea", vec![])).unwrap_err().reason(), Reason::Exceeded);
        assert_eq!(spans(&denied), 0, "the span above is inside the limit");

        assert_eq!(spans(&|| assert_eq!(at_once(is_send(below("tea", vec![]))).unwrap(), 3)), 1);
        let denied = || assert_eq!(at_once(below("tea", vec![])).unwrap_err().reason(), Reason::Exceeded);
        assert_eq!(spans(&denied), 1, "the span below is around it");

        assert_eq!(above_and_waits(7).unwrap(), 7);
        assert_eq!(above_and_waits(7).unwrap_err().reason(), Reason::WaitTooLong);
        assert_eq!(below_and_waits(7).unwrap(), 7);
        assert_eq!(below_and_waits(7).unwrap_err().reason(), Reason::WaitTooLong);
    });
    assert_eq!(BODIES.count(), 4);
}

#[test]
fn instrument_beside_async_trait() {
    #[async_trait::async_trait]
    trait Shop {
        async fn buy(&self, item: &str) -> Result<usize, RateLimited>;
        async fn sell(&self, item: &str) -> Result<usize, RateLimited>;
    }

    #[async_trait::async_trait]
    impl Shop for () {
        #[instrument(skip(self))]
        #[rate_limit(key = item, max = 1, window = "1h")]
        async fn buy(&self, item: &str) -> Result<usize, RateLimited> {
            Ok(item.len())
        }

        #[rate_limit(key = item, max = 1, window = "1h", wait = "1ms")]
        #[instrument(skip(self))]
        async fn sell(&self, item: &str) -> Result<usize, RateLimited> {
            Ok(item.len())
        }
    }

    assert_eq!([at_once(().buy("tea")).ok(), at_once(().buy("tea")).ok()], [Some(3), None]);
    assert_eq!([at_once(().sell("tea")).ok(), at_once(().sell("tea")).ok()], [Some(3), None]);
}
