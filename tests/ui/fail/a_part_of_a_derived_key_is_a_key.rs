use ratelimit_runtime::RateLimitKey;

#[derive(RateLimitKey)]
struct Cell {
    row: u32,
    height: f32,
}

#[derive(RateLimitKey)]
enum Caller {
    Anonymous,
    At { longitude: f64 },
}

fn main() {
    let _ = (Cell { row: 1, height: 0.5 }, Caller::Anonymous, Caller::At { longitude: 0.5 });
}
