//! A denied call as an HTTP answer, for axum (feature `axum`).
//!
//! [`RateLimited`] is a response of its own, so a handler needs no error type. (Without the feature it is none, and axum
//! says that `Handler<_, _>` is not satisfied.)
//!
//! ```
//! use axum::Json;
//! use ratelimit_runtime::RateLimited;
//!
//! async fn profile() -> Result<Json<u32>, RateLimited> {
//!     Ok(Json(7))
//! }
//! # let _: axum::Router = axum::Router::new().route("/profile", axum::routing::get(profile));
//! ```
//!
//! The answer is
//!
//! * the status 429, or 503 where the limit's store cannot be reached ([`Reason::StoreUnavailable`]), which is no fault of
//!   the caller;
//! * `Retry-After` in whole seconds, rounded up, at least 1, and left out where there is no such time;
//! * `RateLimit-Policy` and `RateLimit`, as in draft-ietf-httpapi-ratelimit-headers-10. They carry a limit's name only
//!   where it was given one, else `default`: the path of a function is nobody's business. A window is rounded up to whole
//!   seconds, so a client that goes by it is never too fast;
//! * a JSON body, `{"code":429001,"message":"too many requests","retryAfterSeconds":3}`, where the last is `null` if there
//!   is no such time. [`set_denial_body`] replaces it.
//!
//! An error type of your own keeps all this with `limited.into_response()`. A function may also return a
//! [`Response`], or an error that a `RateLimited` turns into: `(StatusCode, String)`, whose text says when to try again,
//! or a bare [`StatusCode`]. Both of these lose `Retry-After` and the other headers.

mod body;
mod fields;

use axum_core::response::{IntoResponse, Response};
use http::StatusCode;

pub use body::{DenialBodyAlreadySet, set_denial_body};

use crate::{FromRateLimited, RateLimited, Reason};

impl IntoResponse for RateLimited {
    fn into_response(self) -> Response {
        let mut response = body::of(&self);
        *response.status_mut() = status(&self);
        fields::set(&self, response.headers_mut());
        response
    }
}

impl From<RateLimited> for Response {
    fn from(limited: RateLimited) -> Self {
        limited.into_response()
    }
}

impl FromRateLimited for Response {
    fn from_rate_limited(limited: RateLimited) -> Self {
        limited.into_response()
    }
}

/// Loses `Retry-After` and the other headers; the text says when to try again.
impl From<RateLimited> for (StatusCode, String) {
    fn from(limited: RateLimited) -> Self {
        let message = message(&limited);
        let text = match retry_after_seconds(&limited) {
            Some(seconds) => format!("{message}, try again in {seconds} s"),
            None => message.to_owned(),
        };
        (status(&limited), text)
    }
}

/// Loses `Retry-After`, the other headers and the body.
impl From<RateLimited> for StatusCode {
    fn from(limited: RateLimited) -> Self {
        status(&limited)
    }
}

fn status(limited: &RateLimited) -> StatusCode {
    match limited.reason() {
        Reason::StoreUnavailable => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::TOO_MANY_REQUESTS,
    }
}

/// What the caller is told: never a name, a path or a key.
fn message(limited: &RateLimited) -> &'static str {
    match limited.reason() {
        Reason::StoreUnavailable => "service unavailable",
        Reason::CostExceedsCapacity => "more than the limit ever allows",
        _ => "too many requests",
    }
}

/// Whole seconds, never too early, and never 0, which clients take for "at once".
fn retry_after_seconds(limited: &RateLimited) -> Option<u64> {
    limited.retry_after().map(fields::whole_seconds)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use ratelimit_spec::LimitSpec;

    use super::*;
    use crate::{denied::Subject, name::Name};

    #[test]
    fn a_store_that_is_down_is_a_503_that_claims_nothing_of_the_budget() {
        let limited = RateLimited {
            subject: Subject::Copied(
                Name::shared("orders", true),
                LimitSpec::new(5, Duration::from_secs(10)),
            ),
            reason: Reason::StoreUnavailable,
            retry_after: None,
            remaining: 0,
        };
        let response = limited.clone().into_response();
        assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(response.headers()["ratelimit-policy"], r#""orders";q=5;w=10"#);
        assert!(!response.headers().contains_key("ratelimit"));
        assert!(!response.headers().contains_key("retry-after"));
        assert_eq!(StatusCode::from(limited.clone()), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(
            <(_, String)>::from(limited),
            (StatusCode::SERVICE_UNAVAILABLE, "service unavailable".to_owned())
        );
    }
}
