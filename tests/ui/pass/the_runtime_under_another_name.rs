#![deny(warnings)]

mod vendored {
    pub mod limits {
        pub use ratelimit_runtime::*;
    }
}

use vendored::limits as ratelimit;

static LOGIN: ratelimit::LazyLimiter = ratelimit::limiter!(rate = "5/m", crate = crate::vendored::limits);

#[derive(ratelimit::RateLimitKey)]
#[rate_limit_key(crate = crate::vendored::limits)]
struct UserId(u64);

#[ratelimit::rate_limit(rate = "1/s", key = user, crate = crate::vendored::limits)]
#[ratelimit::rate_limit(limiter = LOGIN)]
fn by_path(user: &UserId) -> Option<u64> {
    Some(user.0)
}

#[ratelimit::rate_limit(rate = "1/s", crate = "crate::vendored::limits")]
fn by_string() -> Option<()> {
    Some(())
}

macro_rules! limited {
    ($name:ident) => {
        #[$crate::vendored::limits::rate_limit(rate = "1/s", crate = $crate::vendored::limits)]
        fn $name() -> Option<()> {
            Some(())
        }
    };
}

limited!(by_macro);

fn main() {
    assert_eq!(by_path(&UserId(7)), Some(7));
    assert_eq!(by_path(&UserId(7)), None);
    assert!(by_string().is_some());
    assert!(by_macro().is_some());
}
