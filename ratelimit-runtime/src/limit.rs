//! One limit: its rules, its budgets, its clock, and what has come of its calls.

mod one_permit;

use std::{
    fmt::DebugStruct,
    panic::{RefUnwindSafe, UnwindSafe},
};

use ratelimit_spec::{LimitSpec, Mode, SpecError};

use crate::{
    algorithm::{Grain, Lag},
    budgets::Budgets,
    clock::{TimeSource, coarse_now},
    denied::{Origin, Subject},
    key::{Key, RateLimitKey},
    name::Name,
    rules::Rules,
    spec_cell::SpecCell,
    stats::{Counters, Stats},
    store::{self, Stored},
    sync::{
        Mutex,
        atomic::{
            AtomicU8, AtomicU64,
            Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst},
        },
        lock,
    },
    table::Table,
};

/// What a limiter of either kind is made of.
pub(crate) struct Limit {
    pub(crate) origin: Origin,
    pub(crate) clock: TimeSource,
    pub(crate) budgets: Budgets,
    pub(crate) counters: Counters,
    /// Relaxed: a switch that guards no other memory. Calls under way may still go by the mode before.
    ///
    /// With [`STORED`] beside it, which is never cleared: so one look tells whether the budgets here decide.
    mode: AtomicU8,
    /// The store that decides. The budgets here are this process's share, for when it does not.
    stored: Option<Box<Stored>>,
    /// The [`Lag`] of the clock that decisions go by, for which every budget's rules allow.
    lag: AtomicU64,
    spec: SpecCell,
    /// Held while what is in force changes, so that two changes never mix.
    changing: Mutex<()>,
    /// Odd while it changes, and another number afterwards.
    changes: AtomicU64,
}

/// Beside the mode: a store decides.
const STORED: u8 = 0x80;

// Whoever panics while it holds one of our locks leaves nothing half done: no user code runs under them.
impl UnwindSafe for Limit {}
impl RefUnwindSafe for Limit {}

impl Limit {
    /// One budget. Expects a valid `spec`.
    pub(crate) fn unkeyed(name: Name, spec: LimitSpec, clock: TimeSource) -> Self {
        let rules = Rules::new(spec, Grain::FINE.with_lag(clock.lag()), clock.now());
        let lag = rules.plan.lag();
        Self::new(name, spec, clock, lag, Budgets::only(rules))
    }

    /// A budget for every key. Expects a valid `spec`.
    pub(crate) fn keyed(name: Name, spec: LimitSpec, clock: TimeSource, max_keys: usize) -> Self {
        let rules = Rules::new(spec, Grain::DECLARED.with_lag(clock.lag()), clock.now());
        let lag = rules.plan.lag();
        Self::new(name, spec, clock, lag, Budgets::Keyed(Table::new(rules, max_keys)))
    }

    fn new(name: Name, spec: LimitSpec, clock: TimeSource, lag: Lag, budgets: Budgets) -> Self {
        Self {
            origin: Origin { name, spec },
            clock,
            budgets,
            counters: Counters::default(),
            mode: AtomicU8::new(Mode::Enforce as u8),
            stored: None,
            lag: AtomicU64::new(lag.to_word()),
            spec: SpecCell::new(spec),
            changing: Mutex::new(()),
            changes: AtomicU64::new(0),
        }
    }

    /// The same limit with its budgets in a store.
    pub(crate) fn in_store(mut self, store: &'static str) -> Self {
        self.mode.fetch_or(STORED, Relaxed);
        self.stored = Some(Box::new(Stored::new(store)));
        self
    }

    pub(crate) fn stored(&self) -> Option<&Stored> {
        self.stored.as_deref()
    }

    pub(crate) fn name(&self) -> &str {
        self.origin.name.as_str()
    }

    /// What its denials tell of it, with the limit that was in force.
    pub(crate) fn subject(&self, spec: LimitSpec) -> Subject {
        Subject::Copied(self.origin.name.clone(), spec)
    }

    /// A key, as the budgets of this limit know it.
    #[inline]
    pub(crate) fn key<K: RateLimitKey + ?Sized>(&self, value: &K) -> Key {
        if self.stored.is_some() { Key::for_store(value) } else { Key::of(value) }
    }

    pub(crate) fn set_max_keys(&self, max_keys: usize) {
        if let Some(table) = self.budgets.table() {
            table.set_max_keys(max_keys);
        }
    }

    pub(crate) fn is_keyed(&self) -> bool {
        self.budgets.table().is_some()
    }

    /// Keys that have a budget of their own now.
    pub(crate) fn tracked_keys(&self) -> usize {
        self.budgets.table().map_or(0, |table| table.tracked_keys(self.now()))
    }

    /// What the rules make of a clock that lags.
    ///
    /// A precise reading is right by any rules, one that lags only by such. So while the rules change, all is precise.
    #[inline]
    fn lag(&self) -> Lag {
        // Acquire: pairs with the Release in `change_budgets`; who finds a lag finds the rules that allow for it.
        Lag::of_word(self.lag.load(Acquire))
    }

    /// The time for a decision: by the coarse clock, where the rules allow for its lag.
    #[inline]
    pub(crate) fn now(&self) -> u64 {
        if self.lag().delay() > 0 { coarse_now() } else { self.clock.now() }
    }

    /// The time for all that concerns several limits, or those who wait: never before [`now`](Self::now).
    pub(crate) fn precise_now(&self) -> u64 {
        self.clock.now()
    }

    /// How long a caller has to wait for the clock to move by `wait`: it may lag when it is read next.
    #[inline]
    pub(crate) fn retry_after(&self, wait: u64) -> u64 {
        if wait > 0 { wait.saturating_add(self.lag().delay()) } else { 0 }
    }

    pub(crate) fn spec(&self) -> LimitSpec {
        self.spec.get()
    }

    /// Puts another limit in force, and says when. Those in line do not hear of it here: see `control.rs`.
    pub(crate) fn change_spec(&self, spec: LimitSpec) -> Result<u64, SpecError> {
        spec.validate()?;
        // From here on each charge notes its time, so none can be later than the change.
        let held = self.budgets.hold();
        // While nothing is locked: a clock may be the user's code.
        let now = self.precise_now();
        let changing = lock(&self.changing);
        // AcqRel, twice: who has met a budget under the new rules, or read the new limit, finds the number changed.
        self.changes.fetch_add(1, AcqRel);
        let now = self.change_budgets(spec, now);
        if let Some(stored) = &self.stored {
            stored.is_whole_again();
        }
        self.spec.set(spec);
        self.changes.fetch_add(1, AcqRel);
        drop(changing);
        drop(held);
        Ok(now)
    }

    /// Lets the budgets here hold no more than this process's share.
    pub(crate) fn take_share(&self, share: f64) {
        let Some(stored) = &self.stored else { return };
        if stored.has_share(share) {
            return;
        }
        let held = self.budgets.hold();
        let now = self.precise_now();
        let changing = lock(&self.changing);
        self.change_budgets(store::share_of(self.spec.get(), share), now);
        stored.set_share(share);
        drop(changing);
        drop(held);
    }

    /// While `changing` is held, and the budgets are. Says when that was.
    fn change_budgets(&self, spec: LimitSpec, now: u64) -> u64 {
        // A call that has found a lag began before this instant, however late it reads the coarse clock. No budget dates
        // a charge before the change of its rules, and so none before its call. SeqCst: to stay in that order.
        let now = if self.lag.swap(0, SeqCst) > 0 { self.precise_now() } else { now };
        let lag = self.budgets.set_spec(spec, self.clock.lag(), now);
        self.lag.store(lag.to_word(), Release);
        now
    }

    /// The number of the limit in force; odd while it changes.
    #[inline]
    pub(crate) fn changes(&self) -> u64 {
        self.changes.load(Acquire)
    }

    /// Charges here as if it were enforced, and denies nothing.
    pub(crate) fn is_in_shadow(&self) -> bool {
        self.mode.load(Relaxed) == Mode::Shadow as u8
    }

    #[inline]
    pub(crate) fn is_enforced(&self) -> bool {
        self.mode.load(Relaxed) == Mode::Enforce as u8
    }

    pub(crate) fn mode(&self) -> Mode {
        match self.mode.load(Relaxed) & !STORED {
            mode if mode == Mode::Shadow as u8 => Mode::Shadow,
            mode if mode == Mode::Off as u8 => Mode::Off,
            _ => Mode::Enforce,
        }
    }

    /// Those in line do not hear of it here.
    pub(crate) fn change_mode(&self, mode: Mode) {
        self.mode.store(mode as u8 | if self.stored.is_some() { STORED } else { 0 }, Relaxed);
    }

    pub(crate) fn stats(&self) -> Stats {
        let overflowed = self.budgets.table().map_or(0, Table::overflowed);
        self.counters.read(self.budgets.admitted(self.now()), overflowed, self.tracked_keys() as u64)
    }

    /// Adds to a `Debug` what is the same for everything that is a limit.
    pub(crate) fn describe<'a, 'b, 'c>(
        &self,
        debug: &'a mut DebugStruct<'b, 'c>,
    ) -> &'a mut DebugStruct<'b, 'c> {
        debug.field("name", &self.name()).field("spec", &self.spec()).field("mode", &self.mode())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratelimit_spec::Algorithm;
    use std::time::Duration;

    #[test]
    fn the_coarse_clock_is_read_only_by_rules_that_allow_for_it() {
        let second = LimitSpec::new(5, Duration::from_secs(1));
        let clock = || TimeSource::System { lag: 8_400_000 };
        let name = || Name::shared("limit", true);
        for limit in [Limit::unkeyed(name(), second, clock()), Limit::keyed(name(), second, clock(), 10)] {
            let is_coarse = |spec: LimitSpec| {
                limit.change_spec(spec).unwrap();
                limit.lag.load(Relaxed) > 0
            };
            assert!(limit.lag.load(Relaxed) > 0);
            assert!(!is_coarse(LimitSpec::new(5, Duration::from_micros(20_371))));
            assert!(is_coarse(LimitSpec::new(6, Duration::from_secs(60))));
            for algorithm in Algorithm::ALL {
                assert_eq!(
                    is_coarse(second.with_algorithm(algorithm)),
                    algorithm == Algorithm::SlidingWindow
                );
            }
        }
        let precise = Limit::unkeyed(name(), second, TimeSource::System { lag: 0 });
        assert!(precise.lag.load(Relaxed) == 0);
    }

    #[test]
    fn who_is_denied_by_a_clock_that_lags_comes_again_when_that_shows_it() {
        let spec = LimitSpec::new(5, Duration::from_secs(1));
        let limit = Limit::unkeyed(Name::shared("limit", true), spec, TimeSource::System { lag: 8_400_000 });
        assert_eq!((limit.retry_after(0), limit.retry_after(1)), (0, 8_400_001));
        limit.change_spec(spec.with_algorithm(Algorithm::Gcra)).unwrap();
        assert_eq!((limit.retry_after(0), limit.retry_after(1)), (0, 1));
    }
}
