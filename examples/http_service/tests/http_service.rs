//! The service over a socket, as its clients see it.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use reqwest::{Client, RequestBuilder, Response, StatusCode};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// Starts the service at a free port.
async fn start() -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(http_service::serve(listener));
    address
}

/// A client at an address of its own.
fn client_at(address: [u8; 4]) -> Client {
    Client::builder().no_proxy().local_address(IpAddr::from(address)).build().expect("a client")
}

async fn answer(request: RequestBuilder) -> Response {
    request.send().await.expect("an answer")
}

fn retry_after(response: &Response) -> u64 {
    response.headers()["retry-after"].to_str().expect("text").parse().expect("whole seconds")
}

#[tokio::test]
async fn only_failed_logins_count_and_each_client_has_its_own() {
    let service = start().await;
    let login = |client: &Client, password: &str| {
        let request =
            client.post(format!("http://{service}/login")).header("content-type", "application/json");
        answer(request.body(format!(r#"{{"user": 7, "password": "{password}"}}"#)))
    };
    let client = client_at([127, 0, 0, 1]);
    for _ in 0..5 {
        for _ in 0..3 {
            assert_eq!(login(&client, "correct horse").await.status(), StatusCode::OK);
        }
        assert_eq!(login(&client, "guess").await.status(), StatusCode::UNAUTHORIZED);
    }

    let denied = login(&client, "guess").await;
    assert_eq!(denied.status(), StatusCode::TOO_MANY_REQUESTS);
    let wait = retry_after(&denied);
    assert!((1..=61).contains(&wait), "{wait}");
    assert_eq!(denied.headers()["ratelimit-policy"], r#""login";q=5;w=60"#);
    assert_eq!(denied.headers()["ratelimit"], format!(r#""login";r=0;t={wait}"#).as_str());
    assert_eq!(denied.headers()["content-type"], "application/json");
    let body = denied.text().await.expect("a body");
    assert_eq!(
        body,
        format!(r#"{{"code":429001,"message":"too many requests","retryAfterSeconds":{wait}}}"#)
    );

    assert_eq!(login(&client, "correct horse").await.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(login(&client_at([127, 0, 0, 2]), "guess").await.status(), StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn each_user_has_a_budget_and_strangers_none() {
    let service = start().await;
    let client = client_at([127, 0, 0, 1]);
    let url = format!("http://{service}/profile");
    let profile = |user: &str| answer(client.get(&url).header("x-user-id", user));
    for _ in 0..30 {
        assert_eq!(profile("1").await.status(), StatusCode::OK);
    }
    assert_eq!(profile("1").await.status(), StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(profile("2").await.text().await.expect("a body"), "profile of user 2");
    for _ in 0..40 {
        assert_eq!(answer(client.get(&url)).await.status(), StatusCode::UNAUTHORIZED);
    }
}

#[tokio::test]
async fn an_order_denied_to_a_user_takes_nothing_from_the_others() {
    let service = start().await;
    let client = client_at([127, 0, 0, 1]);
    let order =
        |user: &str| answer(client.post(format!("http://{service}/orders")).header("x-user-id", user));
    for _ in 0..3 {
        assert_eq!(order("1").await.status(), StatusCode::OK);
    }
    for _ in 0..3 {
        let denied = order("1").await;
        assert_eq!(denied.status(), StatusCode::TOO_MANY_REQUESTS);
        assert!((1..=11).contains(&retry_after(&denied)));
        assert_eq!(denied.headers()["ratelimit-policy"], r#""orders.user";q=3;w=10"#);
    }
    assert_eq!(order("2").await.status(), StatusCode::OK);
    let all = ratelimit_runtime::limit("orders").expect("a limit of that name").stats();
    assert_eq!(all.allowed, 4);
}

#[tokio::test]
async fn calls_to_the_partner_wait_for_their_turn_or_are_denied_at_once() {
    let service = start().await;
    let client = client_at([127, 0, 0, 1]);
    let started = Instant::now();
    let mut calls = JoinSet::new();
    for _ in 0..15 {
        let request = client.get(format!("http://{service}/rates"));
        calls.spawn(async move {
            let response = answer(request).await;
            (response, started.elapsed())
        });
    }

    let (mut at_once, mut waited, mut denied) = (0, 0, 0);
    for (response, time) in calls.join_all().await {
        match response.status() {
            StatusCode::OK if time < Duration::from_secs(1) => at_once += 1,
            StatusCode::OK => waited += 1,
            status => {
                assert_eq!(status, StatusCode::TOO_MANY_REQUESTS);
                assert!(retry_after(&response) >= 1);
                denied += 1;
            }
        }
    }
    assert_eq!((at_once, waited, denied), (5, 5, 5));
}
