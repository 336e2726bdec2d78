//! What a budget takes along when its limit is changed to another algorithm, or to other numbers of the same.

#[cfg(test)]
mod tests;

use super::{grid::Grid, rate::Rate};

/// What is in use at the instant of the change.
pub(super) struct Carried {
    /// The instant of the change.
    pub(super) at: u64,
    /// A charge made before this had aged out.
    pub(super) since: u64,
    pub(super) used: Used,
}

pub(super) enum Used {
    /// Charges that age out each by itself: instant and permits, the oldest first.
    Charges(Vec<(u64, u32)>, Placed),
    /// An amount that flows off.
    Drops(u128, Rate),
}

/// Where in a list of charges one made at a given instant is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Placed {
    /// At that instant.
    Exactly,
    /// At the latest instant of its bucket, and so much later, if that is not after the change.
    InBuckets { grid: Grid, later: u64 },
    /// At the change, with all others.
    Together,
}

/// How to find the charges that were made before a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Past {
    at: u64,
    since: u64,
    placed: Placed,
}

impl Carried {
    /// The same, where each charge may have been made so much later, though not after the change.
    pub(super) fn made_later(mut self, by: u64) -> Self {
        if let Used::Charges(charges, placed) = &mut self.used
            && let Placed::InBuckets { later, .. } = placed
        {
            *later = by;
            for (at, _) in charges {
                *at = at.saturating_add(by).min(self.at);
            }
        }
        self
    }

    /// All of it in drops of this rate.
    pub(super) fn drops(&self, rate: Rate) -> u128 {
        match &self.used {
            Used::Charges(charges, _) => charges.iter().map(|&(_, permits)| rate.drops(permits)).sum(),
            Used::Drops(drops, from) => rate.convert(*drops, *from),
        }
    }

    /// All of it as charges, and how to find them. What flows becomes one charge made at the change, and is not given
    /// back: how much of it still belongs to which permit, only the flow knew.
    pub(super) fn charges(self) -> (Vec<(u64, u32)>, Past) {
        let Self { at, since, used } = self;
        match used {
            Used::Charges(charges, placed) => (charges, Past { at, since, placed }),
            Used::Drops(drops, rate) => {
                let permits = rate.permits(drops);
                let charges = if permits == 0 { Vec::new() } else { vec![(at, permits)] };
                (charges, Past { at, since: since.max(at), placed: Placed::Together })
            }
        }
    }
}

impl Past {
    /// The instant at which a charge is counted that was made at `charged_at`; `None` if it had aged out.
    pub(super) fn place(&self, charged_at: u64) -> Option<u64> {
        if charged_at < self.since {
            return None;
        }
        Some(if charged_at >= self.at { charged_at } else { self.placed.place(charged_at, self.at) })
    }

    pub(super) fn since(&self) -> u64 {
        self.since
    }
}

impl Placed {
    /// For a charge made before the change at `change`.
    pub(super) fn place(self, charged_at: u64, change: u64) -> u64 {
        match self {
            Placed::Exactly => charged_at,
            Placed::InBuckets { grid, later } => {
                grid.last_of_bucket(charged_at).saturating_add(later).min(change)
            }
            Placed::Together => change,
        }
    }
}
