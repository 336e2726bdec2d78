//! A web service whose limits stand on its functions, to start from.
//!
//! ```sh
//! cargo run -p http_service
//!
//! # Five failed logins a minute for each client; the sixth is answered with 429 and `Retry-After`.
//! for _ in 1 2 3 4 5 6; do
//!     curl -i localhost:3000/login -H 'content-type: application/json' -d '{"user": 7, "password": "guess"}'
//! done
//!
//! # Three orders in ten seconds for each user, and a thousand a second for all together.
//! curl -i -X POST localhost:3000/orders -H 'x-user-id: 7'
//!
//! # Ten at once: the partner takes five a second, so half of them wait for their turn.
//! for _ in 1 2 3 4 5 6 7 8 9 10; do curl -s localhost:3000/rates & done; wait
//! ```

use std::net::SocketAddr;

use axum::extract::{ConnectInfo, FromRequestParts};
use axum::http::StatusCode;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use ratelimit_runtime::{RateLimitKey, RateLimited, client_net, rate_limit};
use serde::Deserialize;
use tokio::net::TcpListener;

/// Serves until the process ends.
///
/// # Errors
///
/// Those of the listener.
pub async fn serve(listener: TcpListener) -> std::io::Result<()> {
    // The client's address is that of its connection. Behind a proxy it is the proxy's: then take what that proxy says.
    axum::serve(listener, router().into_make_service_with_connect_info::<SocketAddr>()).await
}

fn router() -> Router {
    Router::new()
        .route("/login", post(login))
        .route("/profile", get(profile))
        .route("/orders", post(order))
        .route("/rates", get(rates))
}

#[derive(Deserialize)]
struct Login {
    user: u64,
    password: String,
}

/// Only failed logins count: a good one gives its permit back. Once the limit is used up even the right password is
/// denied, so guessing tells nothing.
#[rate_limit(key = "client_net(peer.ip())", rate = "5/min", name = "login", permit = permit)]
async fn login(
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    Json(login): Json<Login>,
) -> Result<String, ApiError> {
    if login.password != "correct horse" {
        return Err(ApiError::WrongPassword);
    }
    permit.refund();
    Ok(format!("welcome, user {}", login.user))
}

/// A budget for each user, in the plainest form: what is denied is an answer of its own.
#[rate_limit(key = "user", rate = "30/min", name = "profile")]
async fn profile(user: UserId) -> Result<String, RateLimited> {
    Ok(format!("profile of user {}", user.0))
}

/// Two limits, one decision: an order denied to a user takes nothing from what all users have together.
#[rate_limit(rate = "1000/s", name = "orders")]
#[rate_limit(key = "user", rate = "3/10s", name = "orders.user")]
async fn order(user: UserId) -> Result<String, ApiError> {
    Ok(format!("ordered for user {}", user.0))
}

/// Not limited itself, but what it calls is: the denial comes through `?`.
async fn rates() -> Result<String, ApiError> {
    let rate = ask_partner("EUR").await?;
    Ok(format!("1 EUR is {rate} USD"))
}

/// The partner takes five calls a second. Further ones wait in line; one that would wait longer than 1.5 s is denied
/// at once.
#[rate_limit(rate = "5/s", name = "partner", wait = "1500ms")]
async fn ask_partner(currency: &str) -> Result<f64, RateLimited> {
    // Here it would be asked.
    Ok(if currency == "EUR" { 1.25 } else { 1.0 })
}

/// The user, as the gateway in front of this service has found out. Your own authentication goes here.
#[derive(Clone, Copy, RateLimitKey)]
struct UserId(u64);

impl<S: Sync> FromRequestParts<S> for UserId {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ApiError> {
        let id = parts.headers.get("x-user-id").and_then(|id| id.to_str().ok()?.parse().ok());
        id.map(Self).ok_or(ApiError::NotSignedIn)
    }
}

enum ApiError {
    WrongPassword,
    NotSignedIn,
    Limited(RateLimited),
}

/// All that a function needs of its error type to be limited.
impl From<RateLimited> for ApiError {
    fn from(limited: RateLimited) -> Self {
        Self::Limited(limited)
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        match self {
            Self::WrongPassword => (StatusCode::UNAUTHORIZED, "wrong user or password").into_response(),
            Self::NotSignedIn => (StatusCode::UNAUTHORIZED, "sign in first").into_response(),
            // 429, `Retry-After`, `RateLimit` and a JSON body.
            Self::Limited(limited) => limited.into_response(),
        }
    }
}
