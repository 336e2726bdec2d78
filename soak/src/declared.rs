//! Limits declared by attribute and by `limiter!`, alone and stacked.

use ratelimit_runtime::{
    LazyKeyedLimiter, LazyLimiter, LimitHandle, LimitSpec, Mode, Permit, RateLimited, limiter, limits,
    rate_limit,
};

use crate::{
    random::Random,
    specs::{LONGEST_WINDOW, some_spec},
};

static PLAIN: LazyLimiter = limiter!(max = 200, window = "50ms", name = "plain");
static KEYED: LazyKeyedLimiter = limiter!(keyed, max = 5, window = "700ms", name = "keyed", max_keys = 5000);

#[rate_limit(max = 3000, window = "1s")]
#[rate_limit(key = "user", max = 3, window = "200ms", max_keys = 3000)]
#[rate_limit(key = "user % 7", max = 300, window = "100ms", algorithm = "token_bucket")]
fn stacked(user: u64) -> Result<u64, RateLimited> {
    Ok(user)
}

#[rate_limit(rate = "2000/s", burst = 20, algorithm = "leaky_bucket", wait = "20ms", max_waiters = 20)]
async fn paced() -> Result<(), RateLimited> {
    Ok(())
}

#[rate_limit(limiter = PLAIN, wait = "10ms")]
#[rate_limit(limiter = KEYED, key = "user")]
async fn stacked_in_line(user: u64) -> Result<(), RateLimited> {
    Ok(())
}

pub(crate) fn call(random: &mut Random) {
    _ = stacked(random.next() % 100_000);
}

pub(crate) async fn call_and_wait(random: &mut Random) {
    if random.one_in(2) {
        _ = paced().await;
    } else {
        _ = stacked_in_line(random.next() % 100).await;
    }
}

/// A permit to be kept and given back later.
pub(crate) fn permit(random: &mut Random) -> Option<Permit<'static>> {
    if random.one_in(2) { PLAIN.try_acquire().ok() } else { KEYED.try_acquire(&random.below(50_000)).ok() }
}

/// Looks at the limits, and changes one.
pub(crate) fn meddle(random: &mut Random) {
    let handles: Vec<LimitHandle> = limits().collect();
    let limit = random.one_of(&handles);
    match random.below(4) {
        0 => limit.set_mode(*random.one_of(&[Mode::Enforce, Mode::Shadow, Mode::Off])),
        1 => _ = limit.set_spec(some_spec(random)),
        2 => {
            limit.reset_key(&u64::from(random.below(100)));
            _ = limit.used(&7);
        }
        _ => _ = limit.stats(),
    }
}

/// Before each burst of work, whatever the one before has left.
pub(crate) fn enforce_all() {
    limits().for_each(|limit| limit.set_mode(Mode::Enforce));
}

pub(crate) fn restore() {
    for limit in limits() {
        _ = limit.set_spec(LimitSpec::new(100, LONGEST_WINDOW));
        limit.reset();
    }
}

pub(crate) fn tracked_keys() -> u64 {
    limits().map(|limit| limit.stats().tracked_keys).sum()
}
