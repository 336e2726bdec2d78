use std::fmt;
use std::time::Duration;

/// What messages about durations propose.
pub(crate) const EXAMPLES: &str = "`\"1s\"`, `\"100ms\"` or `\"1m 30s\"`";

/// Prints a window as one number in the largest unit that is exact, such as `90m`, which
/// [`parse_window`](crate::parse_window) reads.
pub(crate) struct ShortestWindow(pub(crate) Duration);

impl fmt::Display for ShortestWindow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // In nanoseconds, the longest first. Not months and years, which hardly anyone takes for 30.44 and 365.25 days.
        const UNITS: [(u128, &str); 7] = [
            (86_400_000_000_000, "d"),
            (3_600_000_000_000, "h"),
            (60_000_000_000, "m"),
            (1_000_000_000, "s"),
            (1_000_000, "ms"),
            (1_000, "us"),
            (1, "ns"),
        ];
        let nanos = self.0.as_nanos();
        if nanos == 0 {
            return f.write_str("0s");
        }
        let (length, unit) =
            UNITS.into_iter().find(|(length, _)| nanos.is_multiple_of(*length)).unwrap_or((1, "ns"));
        write!(f, "{}{unit}", nanos / length)
    }
}
