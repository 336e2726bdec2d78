//! The table of what each limit did.

use std::io;

use ratelimit_runtime::LimitHandle;

/// Prints one line for each limit, in the order of their names.
pub(crate) fn print(out: &mut impl io::Write, limits: impl Iterator<Item = LimitHandle>) -> io::Result<()> {
    let mut limits: Vec<LimitHandle> = limits.collect();
    limits.sort_by(|one, other| one.name().cmp(other.name()));
    let width = limits.iter().map(|limit| limit.name().len()).max().unwrap_or(0).max("limit".len());

    writeln!(
        out,
        "{:<width$}  {:>8}  {:>7}  {:>7}  {:>7}",
        "limit", "at most", "allowed", "denied", "waited"
    )?;
    for limit in limits {
        let stats = limit.stats();
        writeln!(
            out,
            "{:<width$}  {:>8}  {:>7}  {:>7}  {:>7}",
            limit.name(),
            limit.spec().to_string(),
            stats.allowed,
            stats.denied,
            stats.waited
        )?;
    }
    Ok(())
}
