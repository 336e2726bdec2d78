//! What a limit knows of its store.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use ratelimit_spec::LimitSpec;

use super::{OnFailure, Store, StoreCall, StoreFailure, StoreReceipt, installed::installed, line};
use crate::{demand::Demand, key::Key, limit::Limit, wait::block_on_future};

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

/// Hands a call of the limit to its store. `None`: it has none.
fn with_store<R>(
    limit: &Limit,
    key: Key,
    cost: u32,
    ask: impl FnOnce(&dyn Store, &StoreCall<'_>) -> R,
) -> Option<Result<R, StoreFailure>> {
    let store = limit.stored()?.store();
    Some(store.map(|store| {
        let (bytes, length) = key.bytes();
        let call = StoreCall::new(limit.name(), limit.spec(), &bytes[..length]).with_cost(cost);
        ask(&**store, &call)
    }))
}

/// How many permits that frees, as far as is known here: the store is not waited for.
pub(crate) fn refund(limit: &Limit, key: Key, cost: u32, receipt: StoreReceipt) -> u32 {
    let sent = with_store(limit, key, cost, |store, call| store.refund(call, receipt));
    line::hasten(limit, key);
    if matches!(sent, Some(Ok(()))) { cost } else { 0 }
}

pub(crate) fn undo(limit: &Limit, key: Key, cost: u32, receipt: StoreReceipt) {
    _ = with_store(limit, key, cost, |store, call| store.undo(call, receipt));
    line::hasten(limit, key);
}

/// Permits in use, if the store says so: of a limit without keys by all calls, whatever key is given.
pub(crate) fn used(limit: &Limit, key: Key) -> Option<u32> {
    let key = if limit.is_keyed() { key } else { Key::NONE };
    let answer = with_store(limit, key, 0, Store::look)?.ok()?;
    block_on_future(answer).ok().map(|outlook| outlook.used)
}

/// Empties a budget in the store, if the limit has one and it can be reached.
pub(crate) fn reset_key(limit: &Limit, key: Key) {
    if limit.is_keyed()
        && let Some(Ok(answer)) = with_store(limit, key, 0, Store::reset)
    {
        _ = block_on_future(answer);
        line::hasten(limit, key);
    }
}

/// Empties every budget in the store, if the limit has one and it can be reached.
pub(crate) fn reset_all(limit: &Limit) {
    if let Some(Ok(answer)) = with_store(limit, Key::NONE, 0, |store, call| store.reset_all(call.limit)) {
        _ = block_on_future(answer);
        line::changed(limit);
    }
}

/// What a call asks of the store.
pub(super) fn call<'a>(limit: &'a Limit, spec: &LimitSpec, key: &'a [u8], demand: &Demand) -> StoreCall<'a> {
    StoreCall::new(limit.name(), demand.spec(spec), key)
        .with_cost(demand.cost)
        .with_capacity(demand.capacity(spec))
}
