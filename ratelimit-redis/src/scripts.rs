//! The scripts that decide, what they are told, and what they answer.
//!
//! Six algorithms are three scripts: what a window and a log count ages charge by charge, and what refills steadily is one
//! number. A decision is one call of one script on one key. Time is that of the server, in microseconds; where a product
//! may be larger than a double holds exactly, it is formed here.

#[cfg(test)]
mod tests;

use std::{
    sync::{Arc, LazyLock},
    time::Duration,
};

use ratelimit_runtime::{Algorithm, LimitSpec, StoreCall, StoreOutlook, StoreReceipt, StoreVerdict};
use redis::{Cmd, Value, cmd};

/// The time of the server, before everything else: tests put their own in its place.
const CLOCK: &str = include_str!("scripts/clock.lua");

pub(crate) struct Scripts {
    charges: Arc<Script>,
    window: Arc<Script>,
    flow: Arc<Script>,
}

/// Counts the processes that use a store.
pub(crate) fn nodes() -> Script {
    Script::new([CLOCK, include_str!("scripts/nodes.lua")].concat())
}

/// Tells when a limit was first used.
pub(crate) fn since() -> Arc<Script> {
    static SINCE: LazyLock<Arc<Script>> =
        LazyLock::new(|| Arc::new(Script::new([CLOCK, include_str!("scripts/since.lua")].concat())));
    Arc::clone(&SINCE)
}

/// Removes all budgets of a limit, some at a time.
pub(crate) fn reset_all() -> Arc<Script> {
    static RESET_ALL: LazyLock<Arc<Script>> =
        LazyLock::new(|| Arc::new(Script::new(include_str!("scripts/reset_all.lua").to_owned())));
    Arc::clone(&RESET_ALL)
}

/// A script, and the name by which the server knows it once it has seen it.
pub(crate) struct Script {
    code: String,
    hash: String,
}

impl Script {
    fn new(code: String) -> Self {
        let hash = redis::Script::new(&code).get_hash().to_owned();
        Self { code, hash }
    }

    /// Runs it, if the server knows it.
    pub(crate) fn by_hash(&self, key: &[u8], arguments: &[String]) -> Cmd {
        Self::command("EVALSHA", &self.hash, key, arguments)
    }

    /// Runs it, and makes it known.
    pub(crate) fn by_code(&self, key: &[u8], arguments: &[String]) -> Cmd {
        Self::command("EVAL", &self.code, key, arguments)
    }

    fn command(name: &str, script: &str, key: &[u8], arguments: &[String]) -> Cmd {
        let mut command = cmd(name);
        command.arg(script).arg(1).arg(key).arg(arguments);
        command
    }
}

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verb {
    Charge,
    Look,
    /// Gives back what counts since then.
    Give {
        charged_at: u64,
    },
    /// Forgets every charge.
    Reset,
}

impl Scripts {
    pub(crate) fn new() -> Self {
        Self::with_clock(CLOCK)
    }

    fn with_clock(clock: &str) -> Self {
        let compose =
            |body| Arc::new(Script::new([clock, include_str!("scripts/common.lua"), body].concat()));
        Self {
            charges: compose(include_str!("scripts/charges.lua")),
            window: compose(include_str!("scripts/window.lua")),
            flow: compose(include_str!("scripts/flow.lua")),
        }
    }

    pub(crate) fn of(&self, algorithm: Algorithm) -> Arc<Script> {
        let script = match algorithm {
            Algorithm::SlidingWindow | Algorithm::SlidingLog => &self.charges,
            Algorithm::FixedWindow => &self.window,
            Algorithm::TokenBucket | Algorithm::LeakyBucket | Algorithm::Gcra => &self.flow,
        };
        Arc::clone(script)
    }
}

/// What a script is told. `untouched_since` is when the limit was first used, for buckets that were not full then.
pub(crate) fn arguments(verb: Verb, call: &StoreCall<'_>, untouched_since: u64) -> Vec<String> {
    let &StoreCall { spec, cost, capacity, .. } = call;
    let (word, charged_at) = match verb {
        Verb::Charge => ("charge", 0),
        Verb::Look => ("look", 0),
        Verb::Reset => ("reset", 0),
        Verb::Give { charged_at } => ("give", charged_at),
    };
    let mut arguments = vec![word.to_owned(), cost.to_string(), capacity.to_string()];
    if let Some(flow) = Flow::of(&spec) {
        let (cost_whole, cost_part) = flow.time(cost);
        let (room_whole, room_part) = flow.time(capacity.saturating_sub(cost));
        let missing = flow.time(spec.burst().saturating_sub(spec.initial()));
        let full_at = match missing {
            (0, 0) => 0,
            (whole, part) => untouched_since + whole + u64::from(part > 0),
        };
        arguments.extend([flow.max, flow.window].map(|number| number.to_string()));
        let numbers = [cost_whole, cost_part, room_whole, room_part, full_at, charged_at];
        arguments.extend(numbers.map(|number| number.to_string()));
    } else {
        let window = micros(spec.window());
        let buckets = match spec.algorithm() {
            Algorithm::SlidingWindow => u64::from(spec.buckets()).min(window),
            _ => 0,
        };
        arguments.extend([window, buckets, charged_at].map(|number| number.to_string()));
    }
    arguments
}

/// What came of a charge. `None` if the answer is none of ours.
pub(crate) fn verdict(call: &StoreCall<'_>, answer: &Value) -> Option<StoreVerdict> {
    let [admitted, amount, third, rest @ ..] = numbers::<5>(answer)?;
    let remaining = call.capacity.saturating_sub(used(&call.spec, amount, rest[0]));
    Some(if admitted == 1 {
        // What refills is taken back as of when the budget would have been full without it.
        let clear_at = if Flow::of(&call.spec).is_some() { rest[1] } else { third };
        StoreVerdict::Admitted { remaining, receipt: StoreReceipt([third, clear_at.max(third)]) }
    } else {
        StoreVerdict::Denied { remaining, retry_after: Duration::from_micros(third) }
    })
}

/// What came of a look.
pub(crate) fn outlook(call: &StoreCall<'_>, answer: &Value) -> Option<StoreOutlook> {
    let [_, amount, wait, part, _] = numbers::<5>(answer)?;
    Some(StoreOutlook { used: used(&call.spec, amount, part), ready_in: Duration::from_micros(wait) })
}

fn used(spec: &LimitSpec, amount: u64, part: u64) -> u32 {
    match Flow::of(spec) {
        Some(flow) => flow.permits(amount, part),
        None => u32::try_from(amount).unwrap_or(u32::MAX),
    }
}

/// Up to so many integers, none below 0; those that are not there are 0.
fn numbers<const N: usize>(answer: &Value) -> Option<[u64; N]> {
    let Value::Array(values) = answer else { return None };
    let mut numbers = [0; N];
    for (number, value) in numbers.iter_mut().zip(values) {
        let Value::Int(value) = value else { return None };
        *number = u64::try_from(*value).unwrap_or(0);
    }
    (values.len() >= 3 || values.len() == N).then_some(numbers)
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
                max: spec.max().into(),
                window: u64::try_from(spec.window().as_nanos()).unwrap_or(u64::MAX),
            }),
        }
    }

    fn units(&self) -> u128 {
        u128::from(self.max.max(1)) * 1000
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
