//! Where the buckets of a window begin.

/// Divides the timeline into buckets, `buckets` of them to a window. The window need not be divisible: bucket `i` begins
/// at `i * window / buckets`, rounded up, so buckets differ by 1 ns at most, and their edges never drift.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Grid {
    /// In nanoseconds, above 0.
    window: u64,
    /// At least 1, and no more than the window has nanoseconds.
    buckets: u32,
    /// That of every bucket, if the window is divisible; else 0.
    width: u64,
}

impl Grid {
    pub(super) fn new(window: u64, buckets: u32) -> Self {
        let window = window.max(1);
        let buckets = u32::try_from(window).map_or(buckets, |most| buckets.min(most)).max(1);
        let width = if window.is_multiple_of(u64::from(buckets)) { window / u64::from(buckets) } else { 0 };
        Self { window, buckets, width }
    }

    pub(super) fn buckets(self) -> u32 {
        self.buckets
    }

    /// The number of the bucket that holds `instant`.
    pub(super) fn bucket_at(self, instant: u64) -> u64 {
        if let Some(bucket) = instant.checked_div(self.width) {
            return bucket;
        }
        saturate(u128::from(instant) * u128::from(self.buckets) / u128::from(self.window))
    }

    /// The first instant of a bucket, which is the end of the one before it.
    #[inline]
    pub(super) fn start(self, bucket: u64) -> u64 {
        if self.width != 0 {
            return bucket.saturating_mul(self.width);
        }
        saturate((u128::from(bucket) * u128::from(self.window)).div_ceil(u128::from(self.buckets)))
    }

    /// The last instant of the bucket that holds `instant`.
    pub(super) fn last_of_bucket(self, instant: u64) -> u64 {
        self.start(self.bucket_at(instant) + 1) - 1
    }
}

fn saturate(number: u128) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
