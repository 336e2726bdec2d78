//! Linux: the time since the machine was started, precise and as of the last tick.

use rustix::time::{ClockId, Timespec, clock_getres, clock_gettime};

#[inline]
pub(crate) fn now() -> u64 {
    nanos(clock_gettime(ClockId::Monotonic))
}

/// The time at the last tick: never later than [`now`], and about 3 ns to read where that takes 20.
#[inline]
pub(crate) fn coarse_now() -> u64 {
    nanos(clock_gettime(ClockId::MonotonicCoarse))
}

/// Two ticks and 5 %. A tick that was due may not have been served yet, or have found the clock being written.
pub(crate) fn lag() -> u64 {
    // No kernel ticks more than 1000 times a second; a sandbox may tell the precise clock's resolution for both.
    const SHORTEST_TICK: u64 = 1_000_000;
    let tick = nanos(clock_getres(ClockId::MonotonicCoarse)).max(SHORTEST_TICK);
    2 * tick + tick / 10
}

/// In 64 bits for the 580 years that a machine is up. Neither part is negative.
#[inline]
fn nanos(time: Timespec) -> u64 {
    let (seconds, nanos) = (time.tv_sec.cast_unsigned(), u64::try_from(time.tv_nsec).unwrap_or(0));
    seconds.wrapping_mul(1_000_000_000).wrapping_add(nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lag_is_more_than_two_ticks() {
        assert!(lag() > 2 * nanos(clock_getres(ClockId::MonotonicCoarse)));
    }

    #[test]
    fn the_coarse_clock_follows() {
        let (started, coarse) = (now(), coarse_now());
        while now() < started + 2 * lag() {
            std::thread::yield_now();
        }
        assert!(coarse_now() > coarse);
    }
}
