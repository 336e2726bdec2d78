//! The body of denials, replaced: a test of its own, because that is once for the whole process.

use axum::body::to_bytes;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use ratelimit_runtime::{Limiter, http};

#[tokio::test]
async fn the_body_is_replaced_once_and_the_rest_of_the_answer_stays() {
    let set = http::set_denial_body(|limited| {
        let problem = format!(r#"{{"title":"slow down","limit":{}}}"#, limited.limit().max());
        (StatusCode::OK, [("content-type", "application/problem+json"), ("retry-after", "never")], problem)
    });
    assert_eq!(set, Ok(()));
    let again = http::set_denial_body(|_| "another");
    assert_eq!(
        again.map_err(|error| error.to_string()),
        Err("the body of denials has already been set".to_owned())
    );

    let limiter = Limiter::new("1/1h".parse().expect("a limit")).expect("a right limit");
    limiter.try_acquire().expect("the first call is admitted");
    let response = limiter.try_acquire().expect_err("the second is not").into_response();

    assert_eq!(response.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(response.headers()["content-type"], "application/problem+json");
    let retry_after = response.headers()["retry-after"].to_str().map(str::parse::<u32>);
    assert!(matches!(retry_after, Ok(Ok(3599..=3661))), "{retry_after:?}");
    assert!(response.headers().contains_key("ratelimit"));
    let body = to_bytes(response.into_body(), 1000).await.expect("a body");
    assert_eq!(&body[..], br#"{"title":"slow down","limit":1}"#);
}
