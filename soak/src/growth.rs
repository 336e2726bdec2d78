//! Whether the process has grown.

use std::{fmt, fs};

/// With fewer samples than this there is nothing to compare.
pub(crate) const FEWEST: usize = 6;

/// What the process holds while all is idle.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sample {
    /// Bytes allocated and not freed.
    allocated: u64,
    /// Bytes in memory; 0 where the system does not tell.
    resident: u64,
    threads: u64,
}

impl Sample {
    pub(crate) fn take(allocated: usize) -> Self {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let number = |field: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(field))?;
            line.split_whitespace().next()?.parse::<u64>().ok()
        };
        Self {
            allocated: allocated as u64,
            resident: number("VmRSS:").unwrap_or(0) * 1024,
            threads: number("Threads:").unwrap_or(0),
        }
    }
}

impl fmt::Display for Sample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { allocated, resident, threads } = self;
        write!(f, "idle: {} allocated, {} resident, {threads} threads", kb(*allocated), kb(*resident))
    }
}

fn kb(bytes: u64) -> String {
    format!("{:>6} kB", bytes / 1000)
}

/// Compares the end with the beginning: the least of the last third against the middle of the first. So a sample out of
/// line is no growth, what grows only at the beginning neither, and growth that goes on is.
pub(crate) fn judge(samples: &[Sample]) -> Result<(), String> {
    let third = samples.len() / 3;
    let (first, last) = (&samples[..third], &samples[samples.len() - third..]);
    let grown = |what: &str, of: fn(&Sample) -> u64, margin: fn(u64) -> u64| {
        let mut first: Vec<u64> = first.iter().map(of).collect();
        first.sort_unstable();
        let (before, after) = (*first.get(third / 2)?, last.iter().map(of).min()?);
        (after > before + margin(before)).then(|| format!("{what} grew from {before} to {after}"))
    };
    let found: Vec<String> = [
        // Maps that have once been larger, and the lines of tasks, are kept at some size.
        grown("bytes allocated while idle", |sample| sample.allocated, |before| before / 20 + 250_000),
        // An allocator gives back late, and in its own order.
        grown("bytes resident while idle", |sample| sample.resident, |before| before / 4 + 16_000_000),
        grown("threads", |sample| sample.threads, |_| 0),
    ]
    .into_iter()
    .flatten()
    .collect();
    if found.is_empty() { Ok(()) } else { Err(found.join("; ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_allocated(bytes: impl IntoIterator<Item = u64>) -> Vec<Sample> {
        bytes.into_iter().map(|allocated| Sample { allocated, ..Sample::default() }).collect()
    }

    #[test]
    fn what_goes_on_growing_is_named() {
        let found = judge(&of_allocated((0..30).map(|step| 1_000_000 + step * 30_000))).unwrap_err();
        assert_eq!(found, "bytes allocated while idle grew from 1150000 to 1600000");
        let threads = (1..10).map(|threads| Sample { threads, ..Sample::default() });
        assert_eq!(judge(&threads.collect::<Vec<_>>()).unwrap_err(), "threads grew from 2 to 7");
    }

    #[test]
    fn what_varies_is_no_growth() {
        assert_eq!(judge(&of_allocated((0..30).map(|step| 1_000_000 + step % 7 * 100_000))), Ok(()));
        let one_out_of_line = (0..30).map(|step| if step == 28 { 9_000_000 } else { 1_000_000 });
        assert_eq!(judge(&of_allocated(one_out_of_line)), Ok(()));
    }

    #[test]
    fn what_grows_only_at_the_beginning_is_no_growth() {
        assert_eq!(judge(&of_allocated((0..30).map(|step| 1_000_000 * (step + 1).min(4)))), Ok(()));
    }
}
