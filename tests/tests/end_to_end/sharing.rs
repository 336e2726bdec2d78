//! One limiter for several functions, and beside code written by hand.

use ratelimit_runtime::{LazyKeyedLimiter, LazyLimiter, RateLimited, limiter, rate_limit};

use crate::handle;

static LOGIN: LazyLimiter = limiter!(max = 2, window = "1h", name = "sharing.login");
static PER_USER: LazyKeyedLimiter = limiter!(keyed, max = 2, window = "1h");

#[test]
fn functions_that_name_one_limiter_share_its_budget() {
    #[rate_limit(limiter = LOGIN)]
    fn by_password() -> Result<(), RateLimited> {
        Ok(())
    }

    #[rate_limit(limiter = LOGIN)]
    async fn by_token() -> Result<(), RateLimited> {
        Ok(())
    }

    assert!(by_password().is_ok());
    assert!(futures::executor::block_on(by_token()).is_ok());
    assert!(by_password().is_err());
    assert_eq!(LOGIN.try_acquire().unwrap_err().name(), "sharing.login");
    assert_eq!(LOGIN.used(), 2);
    assert_eq!(handle("sharing.login").stats().allowed, 2);
}

#[test]
fn a_keyed_limiter_is_shared_key_by_key() {
    #[rate_limit(limiter = PER_USER, key = user)]
    fn read(user: &str) -> Result<(), RateLimited> {
        Ok(())
    }

    #[rate_limit(limiter = PER_USER, key = user, cost = 2)]
    fn write(user: String) -> Result<(), RateLimited> {
        Ok(())
    }

    assert!(read("ada").is_ok());
    assert!(write("ada".to_owned()).is_err(), "one is left, and a write takes two");
    assert!(write("bob".to_owned()).is_ok());
    assert!(PER_USER.try_acquire("ada").is_ok());
    assert_eq!(PER_USER.tracked_keys(), 2);
    assert_eq!(handle("end_to_end::sharing::PER_USER").spec().max(), 2);
}
