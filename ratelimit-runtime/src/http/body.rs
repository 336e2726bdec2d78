//! The body of a denied call's answer.

use std::fmt;
use std::sync::OnceLock;

use axum_core::response::{IntoResponse, Response};
use http::header::CONTENT_TYPE;

use super::{message, retry_after_seconds, status};
use crate::RateLimited;

type DenialBody = Box<dyn Fn(&RateLimited) -> Response + Send + Sync>;

static DENIAL_BODY: OnceLock<DenialBody> = OnceLock::new();

/// Replaces the body of the answer to a denied call, in the whole process, once: at start-up.
///
/// Whatever axum takes for a response will do: text, `Json`, a content type with bytes. The status, `Retry-After` and the
/// `RateLimit` headers are set on it afterwards.
///
/// # Errors
///
/// If it has been called before, in which case the body set first stays.
///
/// ```
/// use ratelimit_runtime::http::{self, DenialBodyAlreadySet};
///
/// fn main() -> Result<(), DenialBodyAlreadySet> {
///     http::set_denial_body(|limited| {
///         let retry = limited.retry_after().map_or("not at all".into(), |wait| format!("in {wait:?}"));
///         ([("content-type", "text/plain")], format!("Too fast. Try again {retry}."))
///     })
/// }
/// ```
pub fn set_denial_body<F, R>(body: F) -> Result<(), DenialBodyAlreadySet>
where
    F: Fn(&RateLimited) -> R + Send + Sync + 'static,
    R: IntoResponse,
{
    DENIAL_BODY
        .set(Box::new(move |limited| body(limited).into_response()))
        .map_err(|_| DenialBodyAlreadySet(()))
}

/// [`set_denial_body`] was called a second time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DenialBodyAlreadySet(());

impl fmt::Display for DenialBodyAlreadySet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the body of denials has already been set")
    }
}

impl std::error::Error for DenialBodyAlreadySet {}

pub(super) fn of(limited: &RateLimited) -> Response {
    match DENIAL_BODY.get() {
        Some(body) => body(limited),
        None => json(limited),
    }
}

fn json(limited: &RateLimited) -> Response {
    // Nothing in it needs escaping: the message is one of ours.
    let code = u32::from(status(limited).as_u16()) * 1000 + 1;
    let message = message(limited);
    let retry_after = retry_after_seconds(limited).map_or("null".to_owned(), |seconds| seconds.to_string());
    let body = format!(r#"{{"code":{code},"message":"{message}","retryAfterSeconds":{retry_after}}}"#);
    ([(CONTENT_TYPE, "application/json")], body).into_response()
}
