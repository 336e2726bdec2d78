#![deny(dead_code)]

use ratelimit_runtime::rate_limit;

struct Shop;

impl Shop {
    #[rate_limit(rate = "1/s", wait)]
    fn method(&self) {}
}

#[rate_limit(key = number, rate = "1/s")]
async fn function(number: u32) -> Option<()> {
    called(number)
}

fn called(_: u32) -> Option<()> {
    None
}

fn main() {
    let _ = Shop;
}
