#![deny(warnings, deprecated, unsafe_code)]

use ratelimit_runtime::{RateLimited, rate_limit};

#[rate_limit(rate = "1/s")]
fn unused_variables(unused: u32) -> Option<u32> {
    let mut number = 1;
    let also_unused = 2;
    Some(number)
}

#[rate_limit(rate = "1/s", wait = "1s")]
async fn unused_in_an_async_function(unused: u32, key: u32) -> Result<u32, RateLimited> {
    return Ok(key);
    Ok(0)
}

#[rate_limit(rate = "1/s", fallback = |denied| 0, permit = permit)]
fn unused_names_of_the_attribute() -> u32 {
    1
}

#[rate_limit(rate = "1/s")]
#[must_use = "kept below the attribute"]
fn below() -> Option<()> {
    #![allow(unused_parens)]
    (None)
}

#[deprecated = "kept above the attribute"]
#[rate_limit(rate = "1/s", wait)]
fn above() {
    unsafe {}
}

fn main() {
    below();
    above();
    let _ = unused_variables(1);
    let _ = unused_in_an_async_function(1, 2);
    let _ = unused_names_of_the_attribute();
}
