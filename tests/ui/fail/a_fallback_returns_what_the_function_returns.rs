use ratelimit_runtime::rate_limit;

#[rate_limit(rate = "1/s", fallback = |limited| limited.remaining())]
fn by_closure() -> String {
    String::new()
}

#[rate_limit(rate = "1/s", fallback = zero)]
fn by_path() -> String {
    String::new()
}

fn zero(_: u32) -> String {
    String::new()
}

fn main() {
    let _ = (by_closure(), by_path());
}
