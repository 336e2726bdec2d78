//! Two limits of one name are found out at start-up. A program of its own: in any other they would be a mistake.
#![cfg(feature = "macros")]

use ratelimit_runtime::{RateLimited, limit, limits, rate_limit, verify};

#[rate_limit(max = 1, window = "1s", name = "login")]
fn login() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(max = 2, window = "1s", name = "login")]
#[rate_limit(max = 3, window = "1s", name = "orders")]
fn login_again() -> Result<(), RateLimited> {
    Ok(())
}

mod elsewhere {
    #[ratelimit_runtime::rate_limit(max = 4, window = "1s", name = "orders")]
    pub(crate) fn orders() -> Option<()> {
        Some(())
    }
}

fn lines_of(name: &str) -> [u32; 2] {
    let limits = limits().filter(|limit| limit.name() == name);
    limits.map(|limit| limit.line()).collect::<Vec<_>>().try_into().unwrap()
}

#[test]
fn every_name_that_is_used_twice_is_reported_with_its_places() {
    let [first, second] = lines_of("login");
    let [third, fourth] = lines_of("orders");
    let file = file!();
    let error = verify().unwrap_err();
    let message = error.to_string();
    assert_eq!(format!("{error:?}"), message, "what a `main` shows that returns it");
    assert_eq!(
        message,
        format!(
            "2 limits are named `login`: {file}:{first}, {file}:{second}; \
             2 limits are named `orders`: {file}:{third}, {file}:{fourth}; give each a `name` of its own"
        )
    );
}

#[test]
fn limits_of_one_name_are_limits_apart() {
    login().unwrap();
    login().unwrap_err();
    login_again().unwrap();
    elsewhere::orders().unwrap();
    assert_eq!(limits().count(), 4);
    assert!(limit("login").is_some());
}
