//! The scripts that decide, what they are told, and what they answer.
//!
//! Six algorithms are three scripts: what a window and a log count ages charge by charge, and what refills steadily is one
//! number. A script decides about as many calls as wait: each for itself, in their order, by one time. That is the
//! server's, in microseconds; where a product may be larger than a double holds exactly, it is formed here.

#[cfg(test)]
mod tests;

use std::{
    sync::{Arc, LazyLock},
    time::Duration,
};

use ratelimit_runtime::{Algorithm, LimitSpec, StoreCall, StoreOutlook, StoreReceipt, StoreVerdict};
use redis::Value;

use crate::resp;

/// The time of the server, before everything else: tests put their own in its place.
const CLOCK: &str = include_str!("scripts/clock.lua");

/// Decides about calls that are counted in the same way.
pub(crate) fn decide(algorithm: Algorithm) -> &'static Arc<Script> {
    static CHARGES: LazyLock<Arc<Script>> = LazyLock::new(|| decide_by(CLOCK, Algorithm::SlidingLog));
    static WINDOW: LazyLock<Arc<Script>> = LazyLock::new(|| decide_by(CLOCK, Algorithm::FixedWindow));
    static FLOW: LazyLock<Arc<Script>> = LazyLock::new(|| decide_by(CLOCK, Algorithm::Gcra));
    match algorithm {
        Algorithm::SlidingWindow | Algorithm::SlidingLog => &CHARGES,
        Algorithm::FixedWindow => &WINDOW,
        Algorithm::TokenBucket | Algorithm::LeakyBucket | Algorithm::Gcra => &FLOW,
    }
}

fn decide_by(clock: &str, algorithm: Algorithm) -> Arc<Script> {
    let decide = match algorithm {
        Algorithm::SlidingWindow | Algorithm::SlidingLog => include_str!("scripts/charges.lua"),
        Algorithm::FixedWindow => include_str!("scripts/window.lua"),
        Algorithm::TokenBucket | Algorithm::LeakyBucket | Algorithm::Gcra => include_str!("scripts/flow.lua"),
    };
    let parts = [clock, include_str!("scripts/common.lua"), decide, include_str!("scripts/each.lua")];
    Arc::new(Script { takes_many: true, ..Script::new(&parts.concat()) })
}

/// Counts the processes that use a store.
pub(crate) fn nodes() -> Arc<Script> {
    static NODES: LazyLock<Arc<Script>> =
        LazyLock::new(|| Arc::new(Script::new(&[CLOCK, include_str!("scripts/nodes.lua")].concat())));
    Arc::clone(&NODES)
}

/// Tells when a limit was first used.
pub(crate) fn since() -> Arc<Script> {
    static SINCE: LazyLock<Arc<Script>> =
        LazyLock::new(|| Arc::new(Script::new(&[CLOCK, include_str!("scripts/since.lua")].concat())));
    Arc::clone(&SINCE)
}

/// Removes all budgets of a limit, some at a time.
pub(crate) fn reset_all() -> Arc<Script> {
    static RESET_ALL: LazyLock<Arc<Script>> =
        LazyLock::new(|| Arc::new(Script::new(include_str!("scripts/reset_all.lua"))));
    Arc::clone(&RESET_ALL)
}

/// A script, and how a call of it begins.
pub(crate) struct Script {
    /// With its code, which makes it known to the server.
    by_code: Vec<u8>,
    /// With the name under which the server knows it then.
    by_hash: Vec<u8>,
    /// Whether one call of it does several things, each to a key, and answers with as many values: one alone is told bare.
    pub(crate) takes_many: bool,
}

impl Script {
    fn new(code: &str) -> Self {
        let begun = |command: &[u8], script: &str| {
            let mut call = Vec::new();
            resp::write_text(&mut call, command);
            resp::write_text(&mut call, script.as_bytes());
            call
        };
        let hash = redis::Script::new(code);
        Self { by_code: begun(b"EVAL", code), by_hash: begun(b"EVALSHA", hash.get_hash()), takes_many: false }
    }

    /// Asks the server to run it, if it knows it.
    pub(crate) fn by_hash<'a>(&self, orders: impl Iterator<Item = &'a Order> + Clone, to: &mut Vec<u8>) {
        Self::call(&self.by_hash, orders, to);
    }

    /// Asks the server to run it, and makes it known.
    pub(crate) fn by_code<'a>(&self, orders: impl Iterator<Item = &'a Order> + Clone, to: &mut Vec<u8>) {
        Self::call(&self.by_code, orders, to);
    }

    fn call<'a>(begun: &[u8], orders: impl Iterator<Item = &'a Order> + Clone, to: &mut Vec<u8>) {
        let count = orders.clone().count();
        resp::write_list(to, 3 + 2 * count);
        to.extend_from_slice(begun);
        resp::write_text(to, itoa::Buffer::new().format(count).as_bytes());
        orders.clone().for_each(|order| resp::write_text(to, order.key()));
        orders.for_each(|order| resp::write_text(to, order.argument()));
    }
}

/// What a script is to do, and to which key.
#[derive(Clone)]
pub(crate) struct Order {
    /// The key, and after it the argument: one allocation, since what is asked changes threads.
    text: Vec<u8>,
    key_length: usize,
}

impl Order {
    /// `key` may have room for the argument.
    pub(crate) fn new(key: Vec<u8>, append_argument: impl FnOnce(&mut Vec<u8>)) -> Self {
        let (key_length, mut text) = (key.len(), key);
        append_argument(&mut text);
        Self { text, key_length }
    }

    pub(crate) fn key(&self) -> &[u8] {
        &self.text[..self.key_length]
    }

    fn argument(&self) -> &[u8] {
        &self.text[self.key_length..]
    }
}

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Charge,
    Look,
    /// Gives back what was charged at `made`, as what counts from `given`.
    Give {
        given: u64,
        made: u64,
    },
    /// Forgets every charge.
    Reset,
}

/// What a call asks of its budget.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    pub(crate) spec: LimitSpec,
    cost: u32,
    capacity: u32,
}

impl Terms {
    pub(crate) fn of(call: &StoreCall<'_>) -> Self {
        let StoreCall { spec, cost, capacity, .. } = *call;
        Self { spec, cost, capacity }
    }
}

/// `untouched_since` is when the limit was first used, for buckets that were not full then.
pub(crate) fn order(key: Vec<u8>, verb: Verb, terms: Terms, untouched_since: u64) -> Order {
    Order::new(key, |text| append_argument(text, verb, terms, untouched_since))
}

/// What the script is told of a call: whole numbers, packed as doubles, which it reads fastest.
fn append_argument(argument: &mut Vec<u8>, verb: Verb, terms: Terms, untouched_since: u64) {
    let Terms { spec, cost, capacity } = terms;
    let (letter, given, made) = match verb {
        Verb::Charge => (b'C', 0, 0),
        Verb::Look => (b'L', 0, 0),
        Verb::Give { given, made } => (b'G', given, made),
        Verb::Reset => return argument.extend_from_slice(b"reset"),
    };
    argument.reserve(1 + 10 * 8);
    argument.push(letter);
    let mut put = |numbers: &[u64]| {
        for number in numbers {
            argument.extend_from_slice(&double(*number));
        }
    };
    if let Some(flow) = Flow::of(&spec) {
        let (cost_whole, cost_part) = flow.time(cost);
        let (room_whole, room_part) = flow.time(capacity.saturating_sub(cost));
        let missing = flow.time(spec.burst().saturating_sub(spec.initial()));
        let full_at = match missing {
            (0, 0) => 0,
            (whole, part) => untouched_since + whole + u64::from(part > 0),
        };
        put(&[
            cost.into(),
            flow.max,
            flow.window,
            cost_whole,
            cost_part,
            room_whole,
            room_part,
            full_at,
            given,
            made,
        ]);
    } else {
        let window = micros(spec.window());
        let buckets = match spec.algorithm() {
            Algorithm::SlidingWindow => u64::from(spec.buckets()).min(window),
            _ => 0,
        };
        put(&[cost.into(), capacity.into(), window, buckets, given, made]);
    }
}

/// What came of a charge. `None` if the answer is none of ours.
pub(crate) fn verdict(terms: Terms, answer: &Value) -> Option<StoreVerdict> {
    let [admitted, amount, made_or_wait, counts_from, part] = numbers(answer)?;
    let remaining = terms.capacity.saturating_sub(used(&terms.spec, amount, part));
    Some(if admitted == 1 {
        // It counts from the end of its bucket, from the begin of its window, or from when the budget would have been full
        // without it.
        StoreVerdict::Admitted { remaining, receipt: StoreReceipt([made_or_wait, counts_from]) }
    } else {
        StoreVerdict::Denied { remaining, retry_after: Duration::from_micros(made_or_wait) }
    })
}

/// Gives back what the permit of an admitted call was worth.
pub(crate) fn refund(spec: &LimitSpec, StoreReceipt([made, counts_from]): StoreReceipt) -> Verb {
    // What refills has done so ever since.
    Verb::Give { given: if Flow::of(spec).is_some() { made } else { counts_from }, made }
}

/// Gives back what was charged to a call that another limit has denied.
pub(crate) fn undo(StoreReceipt([made, counts_from]): StoreReceipt) -> Verb {
    Verb::Give { given: counts_from, made }
}

/// What takes back what was answered so, if it has charged anything.
pub(crate) fn undoing(order: &Order, answer: &Value) -> Option<Order> {
    let (cost, _) = order.argument().strip_prefix(b"C")?.split_first_chunk()?;
    let [admitted, _, made, counts_from] = numbers(answer)?;
    if admitted != 1 || *cost == double(0) {
        return None;
    }
    let mut back = order.clone();
    back.text[order.key_length] = b'G';
    // The last numbers of all, whatever the algorithm.
    let told = back.text.last_chunk_mut::<16>()?;
    told[..8].copy_from_slice(&double(counts_from));
    told[8..].copy_from_slice(&double(made));
    Some(back)
}

/// What came of a look.
pub(crate) fn outlook(terms: Terms, answer: &Value) -> Option<StoreOutlook> {
    let [_, amount, wait, _, part] = numbers(answer)?;
    Some(StoreOutlook { used: used(&terms.spec, amount, part), ready_in: Duration::from_micros(wait) })
}

fn used(spec: &LimitSpec, amount: u64, part: u64) -> u32 {
    match Flow::of(spec) {
        Some(flow) => flow.permits(amount, part),
        None => u32::try_from(amount).unwrap_or(u32::MAX),
    }
}

/// Up to so many packed integers, none below 0; those that are not there are 0.
fn numbers<const N: usize>(answer: &Value) -> Option<[u64; N]> {
    let Value::BulkString(bytes) = answer else { return None };
    let mut numbers = [0; N];
    for (number, bytes) in numbers.iter_mut().zip(bytes.chunks_exact(8)) {
        *number = u64::try_from(i64::from_le_bytes(bytes.try_into().ok()?)).unwrap_or(0);
    }
    (bytes.len() >= 3 * 8).then_some(numbers)
}

#[expect(clippy::cast_precision_loss, reason = "exact below 2^53, and no window's nanoseconds need be")]
fn double(number: u64) -> [u8; 8] {
    (number as f64).to_le_bytes()
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos().div_ceil(1000)).unwrap_or(u64::MAX)
}

/// A steady flow of `max` permits in `window` nanoseconds. `max * 1000` units are a microsecond, `window` units a permit.
struct Flow {
    max: u64,
    window: u64,
}

/// 71 years: so far apart that sums of such times and of today's date are exact as doubles.
const LONGEST_TIME: u64 = 1 << 51;

impl Flow {
    fn of(spec: &LimitSpec) -> Option<Self> {
        match spec.algorithm() {
            Algorithm::SlidingWindow | Algorithm::SlidingLog | Algorithm::FixedWindow => None,
            Algorithm::TokenBucket | Algorithm::LeakyBucket | Algorithm::Gcra => Some(Self {
                max: spec.max().max(1).into(),
                window: u64::try_from(spec.window().as_nanos()).unwrap_or(u64::MAX),
            }),
        }
    }

    fn units(&self) -> u128 {
        u128::from(self.max) * 1000
    }

    /// How long so many permits take: whole microseconds, and units.
    fn time(&self, permits: u32) -> (u64, u64) {
        let units = u128::from(permits) * u128::from(self.window);
        match u64::try_from(units / self.units()) {
            Ok(whole) if whole < LONGEST_TIME => {
                (whole, u64::try_from(units % self.units()).unwrap_or_default())
            }
            _ => (LONGEST_TIME, 0),
        }
    }

    /// The permits that take so long, begun ones included.
    fn permits(&self, whole: u64, part: u64) -> u32 {
        let units = u128::from(whole) * self.units() + u128::from(part);
        u32::try_from(units.div_ceil(u128::from(self.window.max(1)))).unwrap_or(u32::MAX)
    }
}
