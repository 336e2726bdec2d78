//! A limit in three words, for cells that are read while they are written.

use std::time::Duration;

use crate::algorithm::Algorithm;
use crate::limit_spec::LimitSpec;

impl LimitSpec {
    /// The limit in three words: of a [valid](Self::validate) one, all of it.
    #[doc(hidden)]
    #[must_use]
    pub fn pack(&self) -> [u64; 3] {
        let window = u64::try_from(self.window().as_nanos()).unwrap_or(u64::MAX);
        // Neither is 0 where it is set.
        let (burst, buckets) = (self.burst.unwrap_or(0), self.buckets.unwrap_or(0));
        let (initial_is_set, initial) = (self.initial.is_some(), self.initial.unwrap_or(0));
        let algorithm = self.algorithm() as u8;
        [
            window,
            u64::from(self.max()) | u64::from(burst) << 32,
            u64::from(initial)
                | u64::from(initial_is_set) << 32
                | u64::from(algorithm) << 40
                | u64::from(buckets) << 48,
        ]
    }

    /// What [`pack`](Self::pack) packed.
    #[doc(hidden)]
    #[must_use]
    pub fn unpack([window, max_and_burst, rest]: [u64; 3]) -> Self {
        let algorithm = Algorithm::ALL.get((rest >> 40 & 0xFF) as usize).copied().unwrap_or_default();
        let set = |value: u32| (value > 0).then_some(value);
        let mut spec = Self::new(low(max_and_burst), Duration::from_nanos(window)).with_algorithm(algorithm);
        spec.burst = set(low(max_and_burst >> 32));
        spec.buckets = set(low(rest >> 48));
        spec.initial = (rest >> 32 & 1 == 1).then_some(low(rest));
        spec
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the low half")]
fn low(word: u64) -> u32 {
    word as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_is_unpacked() {
        for text in [
            "100/1s",
            "0/100years buckets=1000",
            "4294967295/1ns buckets=1",
            "5/1m algorithm=gcra burst=4294967295",
            "10/1m algorithm=token_bucket burst=7 initial=0",
            "10/1m algorithm=token_bucket initial=10",
            "10/1m algorithm=leaky_bucket",
            "10/1500ms algorithm=fixed_window",
            "10/1h algorithm=sliding_log",
        ] {
            let spec: LimitSpec = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(LimitSpec::unpack(spec.pack()), spec, "{text}");
        }
    }
}
