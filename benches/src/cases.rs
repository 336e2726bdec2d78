//! The cases: an annotated function, its calls, and what the project wants of it.

use std::ops::RangeInclusive;
use std::sync::LazyLock;

use ratelimit_runtime::RateLimited;

use crate::contestant::Contestant;
use crate::keys::{self, Keys};
use crate::memory;
use crate::ours::{self, keyed, limit_of, limits_of, unkeyed};
use crate::peers;
use crate::rounds::{self, Effort, Terms};
use crate::table::{Goal, Measured, Row, Run, Unit};

/// So many new keys fill a limiter of 100,000 at once.
const FILLS: usize = 150_000;

type Outcome = Result<(), RateLimited>;
type Numbers = LazyLock<Keys<u64>>;
type Texts = LazyLock<Keys<&'static str>>;

/// A line of the table.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    goal: Option<Goal>,
    admitted: bool,
    most_calls: usize,
    /// Made when the case begins, and dropped with all their keys when it ends.
    contestants: Box<dyn Fn() -> Vec<Contestant>>,
}

impl Case {
    /// The time of its calls, with each of these numbers of threads.
    pub(crate) fn nanoseconds(&self, threads: RangeInclusive<usize>, effort: Effort) -> Row {
        let runs = threads.map(|threads| {
            let terms = Terms { threads, most_calls: self.most_calls, admitted: self.admitted };
            let contestants = (self.contestants)();
            let figures = rounds::measure(&contestants, terms, effort);
            let results = contestants
                .iter()
                .zip(figures)
                .map(|(contestant, figure)| Measured {
                    name: contestant.name,
                    value: figure.nanos,
                    disturbed: figure.disturbed,
                })
                .collect();
            Run { threads, results }
        });
        Row { case: self.name, unit: Unit::Nanoseconds, goal: self.goal, runs: runs.collect() }
    }

    /// The memory of its keys instead of the time of its calls. To be asked once: our limiter lives as long as the program.
    pub(crate) fn bytes_per_key(&self) -> Row {
        let measured = |contestant: &Contestant| Measured {
            name: contestant.name,
            value: memory::bytes_per_key(contestant),
            disturbed: false,
        };
        let results = (self.contestants)().iter().map(measured).collect();
        Row { case: self.name, unit: Unit::Bytes, goal: self.goal, runs: vec![Run { threads: 1, results }] }
    }

    fn new(name: &'static str, contestants: impl Fn() -> Vec<Contestant> + 'static) -> Self {
        Self { name, goal: None, admitted: true, most_calls: usize::MAX, contestants: Box::new(contestants) }
    }

    /// With one thread and with two, as a part of the time that `governor` takes.
    fn goal(self, one: f64, two: f64) -> Self {
        Self { goal: Some(Goal::OfGovernor([one, two])), ..self }
    }

    /// Bytes for each key.
    fn at_most(self, bytes: f64) -> Self {
        Self { goal: Some(Goal::AtMost(bytes)), ..self }
    }

    fn denied(self) -> Self {
        Self { admitted: false, ..self }
    }
}

fn no_key(name: &'static str, call: impl Fn() -> Outcome + Copy + Sync + 'static) -> Case {
    Case::new(name, move || {
        let ours = Contestant::unkeyed(ours::NAME, move || call().is_ok());
        with_ours(ours, peers::unkeyed(limit_of(call)))
    })
}

fn stacked(name: &'static str, call: impl Fn() -> Outcome + Copy + Sync + 'static) -> Case {
    Case::new(name, move || {
        let (first, second) = limits_of(call);
        let ours = Contestant::unkeyed(ours::NAME, move || call().is_ok());
        with_ours(ours, peers::stacked(first, second))
    })
}

/// No peer can look without denying.
fn alone(name: &'static str, call: impl Fn() -> Outcome + Copy + Sync + 'static) -> Case {
    Case::new(name, move || vec![Contestant::unkeyed(ours::NAME, move || call().is_ok())])
}

fn number(
    name: &'static str,
    keys: &'static Numbers,
    call: impl Fn(u64) -> Outcome + Copy + Sync + 'static,
) -> Case {
    Case::new(name, move || {
        let ours = Contestant::by_number(ours::NAME, keys, move |key| call(key).is_ok());
        with_ours(ours, peers::by_number(limit_of(call), keys))
    })
}

fn text(
    name: &'static str,
    keys: &'static Texts,
    call: impl Fn(&str) -> Outcome + Copy + Sync + 'static,
) -> Case {
    Case::new(name, move || {
        let ours = Contestant::by_text(ours::NAME, keys, move |_, key| call(key).is_ok());
        with_ours(ours, peers::by_text(limit_of(call), keys))
    })
}

/// The peers keep every key, so the calls are few.
fn new_number(name: &'static str, call: impl Fn(u64) -> Outcome + Copy + Sync + 'static) -> Case {
    let case = Case::new(name, move || {
        let ours = Contestant::by_new_number(ours::NAME, FILLS, move |key| call(key).is_ok());
        with_ours(ours, peers::by_new_number(limit_of(call), FILLS))
    });
    Case { most_calls: 50_000, ..case }
}

fn with_ours(ours: Contestant, peers: Vec<Contestant>) -> Vec<Contestant> {
    std::iter::once(ours).chain(peers).collect()
}

/// The cases whose calls are timed, in the order of the table.
pub(crate) fn of_time() -> Vec<Case> {
    vec![
        no_key("no key, default buckets", unkeyed::default_buckets).goal(0.85, 0.60),
        no_key("no key, 1 bucket", unkeyed::one_bucket),
        no_key("no key, 10 buckets", unkeyed::ten_buckets).goal(0.80, 0.60),
        no_key("no key, 100 buckets", unkeyed::hundred_buckets),
        no_key("no key, 1000 buckets", unkeyed::thousand_buckets),
        no_key("no key, denied", unkeyed::denied).denied().goal(0.50, 0.50),
        no_key("no key, `fixed_window`", unkeyed::fixed_window),
        no_key("no key, `sliding_log`", unkeyed::sliding_log),
        no_key("no key, `token_bucket`", unkeyed::token_bucket),
        no_key("no key, `leaky_bucket`", unkeyed::leaky_bucket),
        no_key("no key, `gcra`", unkeyed::gcra).goal(1.10, 0.80),
        no_key("no key, `gcra`, full at every call", unkeyed::gcra_when_full),
        stacked("no key, two limits", unkeyed::stacked),
        alone("no key, shadow, within the limit", unkeyed::shadow_within),
        alone("no key, shadow, over the limit", unkeyed::shadow_over),
        number("100,000 `u64` keys", &keys::HUNDRED_THOUSAND, keyed::hundred_thousand).goal(0.75, 0.55),
        number(
            "100,000 `u64` keys, 10 buckets",
            &keys::HUNDRED_THOUSAND,
            keyed::hundred_thousand_of_ten_buckets,
        )
        .goal(0.75, 0.55),
        number("100,000 `u64` keys, `fixed_window`", &keys::HUNDRED_THOUSAND, keyed::fixed_window),
        number("100,000 `u64` keys, `sliding_log`", &keys::HUNDRED_THOUSAND, keyed::sliding_log),
        number("100,000 `u64` keys, `token_bucket`", &keys::HUNDRED_THOUSAND, keyed::token_bucket),
        number("100,000 `u64` keys, `leaky_bucket`", &keys::HUNDRED_THOUSAND, keyed::leaky_bucket),
        number("100,000 `u64` keys, `gcra`", &keys::HUNDRED_THOUSAND, keyed::gcra),
        number("1,000,000 `u64` keys", &keys::MILLION, keyed::million).goal(1.0, 0.9),
        number("1,000,000 `u64` keys, 10 buckets", &keys::MILLION, keyed::million_of_ten_buckets)
            .goal(1.0, 0.9),
        text("100,000 `&str` keys", &keys::HUNDRED_THOUSAND_TEXTS, keyed::hundred_thousand_texts)
            .goal(0.55, 0.40),
        text("1,000,000 `&str` keys", &keys::MILLION_TEXTS, keyed::million_texts),
        number("one hot `u64` key", &keys::ONE, keyed::hot).goal(0.55, 0.50),
        number("one hot `u64` key, denied", &keys::ONE, keyed::hot_denied).denied().goal(0.60, 0.25),
        text("one hot `&str` key", &keys::ONE_TEXT, keyed::hot_text),
        number("1,000 `u64` keys, 1 bucket", &keys::THOUSAND, keyed::one_bucket),
        number("1,000 `u64` keys, 10 buckets", &keys::THOUSAND, keyed::ten_buckets),
        number("1,000 `u64` keys, default buckets", &keys::THOUSAND, keyed::default_buckets),
        number("1,000 `u64` keys, 100 buckets", &keys::THOUSAND, keyed::hundred_buckets),
        number("1,000 `u64` keys, 1000 buckets", &keys::THOUSAND, keyed::thousand_buckets),
        new_number("new keys, `max_keys` in use", keyed::flood).goal(0.3, 0.3),
        new_number("new keys in the place of old ones", keyed::flood_of_short_windows).goal(0.3, 0.3),
    ]
}

/// The cases whose keys' memory is counted.
pub(crate) fn of_memory() -> Vec<Case> {
    vec![
        number("1,000,000 `u64` keys, 10 buckets", &keys::MILLION, keyed::kept).at_most(64.0),
        text("1,000,000 `&str` keys, 10 buckets", &keys::MILLION_TEXTS, keyed::kept_texts).at_most(81.0),
    ]
}
