//! What a limit knows of its store.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use ratelimit_spec::LimitSpec;

use super::{OnFailure, Store, StoreFailure, installed::installed};

pub(crate) struct Stored {
    name: &'static str,
    store: OnceLock<Arc<dyn Store>>,
    /// The share that the budgets of this process hold, as bits. Relaxed: it is changed while the limit's rules are, and a
    /// caller that reads an old one changes them once more.
    share: AtomicU64,
}

impl Stored {
    pub(crate) fn new(name: &'static str) -> Self {
        Self { name, store: OnceLock::new(), share: AtomicU64::new(1_f64.to_bits()) }
    }

    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    pub(super) fn store(&self) -> Result<&Arc<dyn Store>, StoreFailure> {
        if let Some(store) = self.store.get() {
            return Ok(store);
        }
        let Some(store) = installed(self.name) else {
            let message = format!("no store is installed as `{}`", self.name);
            return Err(StoreFailure::new(message, OnFailure::Local, 1.0));
        };
        Ok(self.store.get_or_init(|| store))
    }

    pub(crate) fn has_share(&self, share: f64) -> bool {
        self.share.load(Relaxed) == share.to_bits()
    }

    pub(crate) fn set_share(&self, share: f64) {
        self.share.store(share.to_bits(), Relaxed);
    }

    /// The rules were changed, to a limit that is not divided yet.
    pub(crate) fn is_whole_again(&self) {
        self.set_share(1.0);
    }
}

/// This process's part of so many permits: at least one of any, so that nothing is closed for being shared.
pub(crate) fn part(permits: u32, share: f64) -> u32 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates, as it should")]
    let part = (f64::from(permits) * share) as u32;
    part.clamp(permits.min(1), permits)
}

/// This process's share of a limit.
pub(crate) fn share_of(spec: LimitSpec, share: f64) -> LimitSpec {
    let algorithm = spec.algorithm();
    // Each call brings its own, and takes its part of that.
    let max = if spec.max() == u32::MAX { u32::MAX } else { part(spec.max(), share) };
    let mut shared = spec.with_max(max);
    if algorithm.takes_burst() {
        shared = shared.with_burst(part(spec.burst(), share));
    }
    if algorithm.takes_initial() {
        shared = shared.with_initial(part(spec.initial(), share));
    }
    shared
}
