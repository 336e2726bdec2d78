//! What an HTTP client sees of a denied call.

use std::time::Duration;

use axum::Json;
use axum::body::to_bytes;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use ratelimit_runtime::{FromRateLimited, Limiter, ManualClock, RateLimited};

/// The denial of one call more than `spec` admits, `after` the others.
fn denial(spec: &str, name: Option<&str>, after: Duration) -> RateLimited {
    let clock = ManualClock::new();
    let limiter = Limiter::with_clock(spec.parse().expect("a limit"), clock.clone()).expect("a right limit");
    let limiter = match name {
        Some(name) => limiter.with_name(name),
        None => limiter,
    };
    while limiter.remaining() > 0 {
        limiter.try_acquire().expect("a permit remains");
    }
    clock.advance(after);
    limiter.try_acquire().expect_err("no permit remains")
}

fn login() -> RateLimited {
    denial("5/1m", Some("login"), Duration::ZERO)
}

/// The seconds that a client must wait, as the denial itself has them.
fn seconds(limited: &RateLimited) -> u64 {
    (limited.retry_after().expect("a time") + Duration::from_nanos(999_999_999)).as_secs()
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers.get(name).map(|value| value.to_str().expect("a header in ASCII"))
}

async fn body(response: Response) -> String {
    let bytes = to_bytes(response.into_body(), 10_000).await.expect("a body");
    String::from_utf8(bytes.to_vec()).expect("a text")
}

#[tokio::test]
async fn answers_429_with_headers_and_a_json_body() {
    let limited = login();
    let wait = seconds(&limited);
    let response = limited.into_response();

    assert_eq!(response.status(), StatusCode::TOO_MANY_REQUESTS);
    let headers = response.headers();
    assert_eq!(header(headers, "retry-after"), Some(&*wait.to_string()));
    assert_eq!(header(headers, "ratelimit-policy"), Some(r#""login";q=5;w=60"#));
    assert_eq!(header(headers, "ratelimit"), Some(&*format!(r#""login";r=0;t={wait}"#)));
    assert_eq!(header(headers, "content-type"), Some("application/json"));
    assert_eq!(
        body(response).await,
        format!(r#"{{"code":429001,"message":"too many requests","retryAfterSeconds":{wait}}}"#)
    );
}

#[test]
fn retry_after_is_rounded_up_and_at_least_one() {
    for after in [0, 1, 500, 1_500, 59_001, 59_999, 60_000] {
        let limited = denial("5/1m", None, Duration::from_millis(after));
        let wait = seconds(&limited);
        assert!(wait >= 1);
        assert_eq!(
            header(limited.into_response().headers(), "retry-after"),
            Some(&*wait.to_string()),
            "{after} ms"
        );
    }
    let response = denial("5/10ms", None, Duration::ZERO).into_response();
    assert_eq!(header(response.headers(), "retry-after"), Some("1"));
}

#[tokio::test]
async fn a_call_that_can_never_be_admitted_is_not_told_when_to_retry() {
    let response = denial("0/1m", Some("closed"), Duration::ZERO).into_response();
    assert_eq!(response.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(header(response.headers(), "retry-after"), None);
    assert_eq!(header(response.headers(), "ratelimit"), Some(r#""closed";r=0"#));
    assert_eq!(header(response.headers(), "ratelimit-policy"), Some(r#""closed";q=0;w=60"#));
    assert!(body(response).await.ends_with(r#""retryAfterSeconds":null}"#));

    let limiter = Limiter::new("5/1m".parse().expect("a limit")).expect("a right limit");
    let response = limiter.try_acquire_n(6).expect_err("6 are more than there ever are").into_response();
    assert_eq!(response.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(header(response.headers(), "retry-after"), None);
    assert_eq!(header(response.headers(), "ratelimit"), Some(r#""default";r=5"#));
}

#[test]
fn a_window_is_told_in_whole_seconds_and_never_shorter_than_it_is() {
    for (spec, policy) in [
        ("3/10ms", r#""default";q=3;w=1"#),
        ("3/1500ms", r#""default";q=3;w=2"#),
        ("3/1day", r#""default";q=3;w=86400"#),
    ] {
        let response = denial(spec, None, Duration::ZERO).into_response();
        assert_eq!(header(response.headers(), "ratelimit-policy"), Some(policy));
    }
}

#[test]
fn a_name_becomes_a_string_of_a_structured_field_whatever_is_in_it() {
    for (name, string) in [
        ("login.ip", r#""login.ip""#),
        (r#"the "quick" \ way"#, r#""the \"quick\" \\ way""#),
        ("größe", r#""gr??e""#),
        ("a\r\nset-cookie: b\0\u{7f}", r#""a??set-cookie: b??""#),
        ("~ !", r#""~ !""#),
        ("", r#""""#),
    ] {
        let response = denial("1/1m", Some(name), Duration::ZERO).into_response();
        assert_eq!(header(response.headers(), "ratelimit-policy"), Some(&*format!("{string};q=1;w=60")));
        assert!(header(response.headers(), "ratelimit").is_some_and(|value| value.starts_with(string)));
        assert_eq!(response.headers().len(), 4, "{:?}", response.headers());
    }
}

#[tokio::test]
async fn every_way_to_a_response_is_the_same_answer() {
    async fn shown(response: Response) -> (StatusCode, HeaderMap, String) {
        (response.status(), response.headers().clone(), body(response).await)
    }
    let limited = login();
    let expected = shown(limited.clone().into_response()).await;
    assert_eq!(shown(Response::from(limited.clone())).await, expected);
    assert_eq!(shown(Response::from_rate_limited(limited.clone())).await, expected);
    assert_eq!(shown(Err::<Json<u8>, _>(limited.clone()).into_response()).await, expected);
    assert_eq!(
        shown(Result::<Json<u8>, RateLimited>::from_rate_limited(limited.clone()).into_response()).await,
        expected
    );
    assert_eq!(
        shown(axum::response::Result::<Json<u8>>::from_rate_limited(limited).into_response()).await,
        expected
    );
}

#[test]
fn an_error_of_status_and_text_says_when_to_retry_in_the_text() {
    let limited = login();
    let wait = seconds(&limited);
    assert_eq!(
        Result::<(), (StatusCode, String)>::from_rate_limited(limited.clone()),
        Err((StatusCode::TOO_MANY_REQUESTS, format!("too many requests, try again in {wait} s")))
    );
    assert_eq!(Result::<(), StatusCode>::from_rate_limited(limited), Err(StatusCode::TOO_MANY_REQUESTS));

    let (_, text) = <(StatusCode, String)>::from(denial("0/1m", None, Duration::ZERO));
    assert_eq!(text, "more than the limit ever allows");
}

#[cfg(feature = "macros")]
#[tokio::test]
async fn a_denied_handler_answers_whichever_way_it_returns_a_response() {
    use std::future::ready;

    use ratelimit_runtime::rate_limit;

    type Answer = Response;

    #[rate_limit(rate = "1/h")]
    async fn response(text: &'static str) -> Answer {
        ready(text).await.into_response()
    }
    #[rate_limit(rate = "1/h")]
    async fn result(text: &'static str) -> Result<Json<&'static str>, RateLimited> {
        Ok(Json(ready(text).await))
    }
    #[rate_limit(rate = "1/h")]
    async fn axum_result(text: &'static str) -> axum::response::Result<Json<&'static str>> {
        Ok(Json(ready(text).await))
    }
    #[rate_limit(rate = "1/h")]
    async fn status(text: &'static str) -> Result<&'static str, StatusCode> {
        Ok(ready(text).await)
    }
    for expected in [StatusCode::OK, StatusCode::TOO_MANY_REQUESTS] {
        assert_eq!(response("fine").await.status(), expected);
        assert_eq!(result("fine").await.into_response().status(), expected);
        assert_eq!(axum_result("fine").await.into_response().status(), expected);
        assert_eq!(status("fine").await.into_response().status(), expected);
    }
}

#[cfg(feature = "macros")]
#[test]
fn a_policy_tells_of_the_max_that_the_call_brought() {
    #[ratelimit_runtime::rate_limit(max = max, window = "1m", name = "http.per_call")]
    fn call(max: u32) -> Result<(), RateLimited> {
        Ok(())
    }

    assert!(call(3).is_ok());
    let response = call(1).unwrap_err().into_response();
    assert_eq!(header(response.headers(), "ratelimit-policy"), Some(r#""http.per_call";q=1;w=60"#));
}
