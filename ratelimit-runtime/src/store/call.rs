//! How a limit calls its store, for whatever is not a decision.

use ratelimit_spec::LimitSpec;

use super::{Store, StoreCall, StoreFailure, StoreReceipt, line};
use crate::{demand::Demand, key::Key, limit::Limit, park::block_on_future};

/// What a call asks of the store.
pub(super) fn call<'a>(limit: &'a Limit, spec: &LimitSpec, key: &'a [u8], demand: &Demand) -> StoreCall<'a> {
    StoreCall::new(limit.name(), demand.spec(spec), key)
        .with_cost(demand.cost)
        .with_capacity(demand.capacity(spec))
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
