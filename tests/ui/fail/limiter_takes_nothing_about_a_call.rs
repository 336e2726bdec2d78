use ratelimit_runtime::{LazyKeyedLimiter, LazyLimiter, limiter};

static BY_USER: LazyKeyedLimiter = limiter!(keyed, max = 5, window = "1m", key = user_id, cost = 2);
static WAITING: LazyLimiter = limiter!(max = 5, window = "1m", wait, permit = permit);
static BY_PLAN: LazyLimiter = limiter!(max = plan.max(), window = "1m");
static ALIAS: LazyLimiter = limiter!(limiter = WAITING);
static KEYS: LazyLimiter = limiter!(max = 5, window = "1m", max_keys = 100);
static FLAG: LazyKeyedLimiter = limiter!(keyed = true, max = 5, window = "1m");

fn main() {
    let _ = (&BY_USER, &WAITING, &BY_PLAN, &ALIAS, &KEYS, &FLAG);
}
