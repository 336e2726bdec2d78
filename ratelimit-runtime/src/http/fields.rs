//! The header fields of a denied call's answer.

use std::time::Duration;

use http::header::{HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};

use super::retry_after_seconds;
use crate::{RateLimited, Reason};

const RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");
const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");

/// The policy of a limit that was given no name.
const UNNAMED: &str = "default";

pub(super) fn set(limited: &RateLimited, headers: &mut HeaderMap) {
    if let Some(seconds) = retry_after_seconds(limited) {
        headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    let (policy, state) = draft(limited);
    for (field, value) in [(RATE_LIMIT_POLICY, Some(policy)), (RATE_LIMIT, state)] {
        if let Some(value) = value.and_then(|value| HeaderValue::try_from(value).ok()) {
            headers.insert(field, value);
        }
    }
}

/// The values of `RateLimit-Policy` and `RateLimit` by draft-ietf-httpapi-ratelimit-headers-10, sections 3 and 4. The one
/// place that follows the draft.
fn draft(limited: &RateLimited) -> (String, Option<String>) {
    let name = string(if limited.named_explicitly() { limited.name() } else { UNNAMED });
    let limit = limited.limit();
    let policy = format!("{name};q={};w={}", limit.max(), whole_seconds(limit.window()));

    // What remains is not known where the store cannot be asked, and only the policy is.
    let state = (limited.reason() != Reason::StoreUnavailable).then(|| {
        let remaining = limited.remaining();
        match retry_after_seconds(limited) {
            Some(seconds) => format!("{name};r={remaining};t={seconds}"),
            None => format!("{name};r={remaining}"),
        }
    });
    (policy, state)
}

/// A structured field's string (RFC 9651, section 3.3.3): printable ASCII in quotes, and a backslash before each quote
/// and backslash in it.
fn string(text: &str) -> String {
    let mut string = String::with_capacity(text.len() + 2);
    string.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => string.extend(['\\', character]),
            ' '..='~' => string.push(character),
            _ => string.push('?'),
        }
    }
    string.push('"');
    string
}

/// Rounded up, and at least 1: the draft knows no shorter window, and 0 means "at once" to a client that waits.
pub(super) fn whole_seconds(duration: Duration) -> u64 {
    duration.as_secs().saturating_add(u64::from(duration.subsec_nanos() > 0)).max(1)
}
