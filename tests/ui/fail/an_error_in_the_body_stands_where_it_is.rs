use ratelimit_runtime::{RateLimited, rate_limit};

#[rate_limit(rate = "1/s")]
fn wrong_value(number: u32) -> Result<u32, RateLimited> {
    number
}

#[rate_limit(rate = "1/s")]
async fn wrong_value_in_the_middle(number: u32) -> Result<u32, RateLimited> {
    if number == 0 {
        return number;
    }
    Ok(number)
}

#[rate_limit(rate = "1/s")]
fn no_value(number: u32) -> Result<u32, RateLimited> {
    let _ = number;
}

#[rate_limit(rate = "1/s", wait)]
fn unknown_name() -> u32 {
    nowhere
}

type Number = Option<u32>;

#[rate_limit(rate = "1/s", wait)]
fn wrong_value_behind_an_alias(number: u32) -> Number {
    number
}

fn main() {
    let _ = wrong_value_behind_an_alias(1);
    let _ = (wrong_value(1), wrong_value_in_the_middle(1), no_value(1), unknown_name());
}
