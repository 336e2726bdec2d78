//! The memory of keys: what a million of them add to what is allocated, counted by the allocator.

use crate::contestant::Contestant;
use crate::keys::Stretch;

const KEYS: u32 = 1_000_000;

/// The bytes that each key takes, if the contestant's are a million and none was used before.
pub(crate) fn bytes_per_key(contestant: &Contestant) -> f64 {
    let all = Stretch { thread: 0, from: 0, calls: KEYS as usize };
    let taken = allocation_counter::measure(|| {
        contestant.call(all);
    });
    let thousandths =
        i32::try_from(taken.bytes_current / 1_000).expect("a million keys take less than a terabyte");
    f64::from(thousandths) / f64::from(KEYS / 1_000)
}
