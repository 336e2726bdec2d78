use ratelimit_runtime::{RateLimited, rate_limit};

#[rate_limit(rate = "1/s")]
#[rate_limit(rate = "1/m")]
struct Orders;

#[rate_limit(rate = "1/s")]
impl Orders {
    fn list(&self) {}
}

trait Shop {
    #[rate_limit(rate = "1/s")]
    fn open(&self) -> Result<(), RateLimited>;
}

#[rate_limit(rate = "1/s")]
const fn constant() -> u32 {
    5
}

const FIVE: u32 = constant();

fn main() {
    Orders.list();
    let _ = FIVE;
}
