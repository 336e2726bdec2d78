//! Decisions about one permit of one limit, which is what nearly all calls ask.
//!
//! What is plain is decided without a lock, and by a clock that may lag; only what is not is looked into.

use super::Limit;
use crate::{
    budget::{Take, Taken},
    budgets::{Budgets, Only},
    clock::coarse_now,
    denied::{RateLimited, Subject},
    key::Key,
    table::Table,
    verdict::Verdict,
};

impl Limit {
    /// The answer to a call for one permit without a key. Only if it is plain, and then it has been counted.
    #[inline(never)]
    pub(crate) fn check(&'static self) -> Verdict {
        match &self.budgets {
            Budgets::Only(only) if self.is_enforced() => {
                if only.is_metered() {
                    return self.check_meter(only);
                }
                self.answer(self.decide_roughly(|now| only.take(now)))
            }
            _ => Verdict::Open,
        }
    }

    #[inline(never)]
    fn check_meter(&self, only: &Only) -> Verdict {
        self.answer(self.decide_by_meter(only))
    }

    /// The same by key, whose words are handed over in registers.
    #[inline(never)]
    pub(crate) fn check_key(&'static self, first: u64, second: u64, third: u64) -> Verdict {
        // Asked first, since a shared budget counts the calls that it decides, and none twice.
        if self.changes() > 0 {
            return Verdict::Open;
        }
        let Budgets::Keyed(table) = &self.budgets else { return Verdict::Open };
        if !self.is_enforced() {
            return Verdict::Open;
        }
        let key = Key::of_words([first, second, third]);
        let hash = table.hash(&key);
        // Here alone: a compiler keeps in line what is used once.
        let verdict = match self.decide_roughly(|now| table.take_without_lock(hash, &key, now)) {
            Verdict::Open => self.decide_surely_by_key(table, hash, key),
            decided => decided,
        };
        self.answer(verdict)
    }

    /// Counts a denial, and says how long it lasts by a clock that may lag: if the limit has never been changed. Else the
    /// call might be told of another than denied.
    #[inline(always)]
    fn answer(&self, verdict: Verdict) -> Verdict {
        match verdict {
            // Nor had it been changed when it denied.
            Verdict::Denied { wait } if self.changes() == 0 => {
                self.counters.denied();
                Verdict::Denied { wait: wait.saturating_add(self.lag().delay()) }
            }
            Verdict::Denied { .. } => Verdict::Open,
            plain => plain,
        }
    }

    /// Decides without a lock, and by a clock that may lag.
    #[inline(always)]
    fn decide_roughly(&self, take: impl FnOnce(u64) -> Take<()>) -> Verdict {
        let now = self.rough_now();
        match take(now) {
            // Asked late: only denials want to know.
            denied @ Take::Denied { .. } => Verdict::of(denied, now, self.lag().doubt()),
            taken => Verdict::of(taken, now, 0),
        }
    }

    /// Decides about one permit of a limit without keys, if need be under its lock.
    pub(crate) fn decide_without_key(&self) -> Verdict {
        match &self.budgets {
            Budgets::Only(only) if self.is_enforced() => {
                if only.is_metered() {
                    return self.decide_by_meter(only);
                }
                match self.decide_roughly(|now| only.take(now)) {
                    Verdict::Open => self.decide_surely(only),
                    decided => decided,
                }
            }
            _ => Verdict::Open,
        }
    }

    fn decide_surely(&self, only: &Only) -> Verdict {
        let now = self.now();
        let taken = match only.take(now) {
            Take::Ask => {
                let taken = only.act(now, |rules, budget| budget.take(rules, now));
                if matches!(taken, Take::Taken(())) {
                    self.counters.allowed();
                }
                taken
            }
            taken => taken,
        };
        Verdict::of(taken, now, 0)
    }

    /// Decides about one permit of a key, if need be under the lock of its shard.
    pub(crate) fn decide_by_key(&self, key: &Key) -> Verdict {
        match &self.budgets {
            Budgets::Keyed(table) if self.is_enforced() => {
                let hash = table.hash(key);
                match self.decide_roughly(|now| table.take_at_hand(hash, key, now).map(|_| ())) {
                    Verdict::Open => self.decide_surely_by_key(table, hash, *key),
                    decided => decided,
                }
            }
            _ => Verdict::Open,
        }
    }

    #[inline(never)]
    fn decide_surely_by_key(&self, table: &Table, hash: u64, key: Key) -> Verdict {
        let now = self.now();
        // By a better time than before, it may be seen without the lock.
        if self.lag().doubt() > 0 {
            let taken = table.take_at_hand(hash, &key, now).map(|_| ());
            if taken != Take::Ask {
                return Verdict::of(taken, now, 0);
            }
        }
        Verdict::of(table.take_under_lock(hash, &key, now, &self.counters), now, 0)
    }

    /// Takes one permit that is at hand, and may be put back. The budget counts the call as admitted.
    #[inline]
    pub(crate) fn take_at_hand(&self, key: Option<&Key>) -> Option<Taken> {
        let taken = match (&self.budgets, key) {
            (Budgets::Only(only), None) => only.take_at_hand(self.rough_now()),
            (Budgets::Keyed(table), Some(key)) => table.take_at_hand(table.hash(key), key, self.rough_now()),
            _ => return None,
        };
        match taken {
            Take::Taken(taken) => Some(taken),
            Take::Denied { .. } | Take::Ask => None,
        }
    }

    /// Decides about one permit of a budget that refills steadily, if that is plain: by a rough time, if that will do.
    #[inline]
    fn decide_by_meter(&self, only: &Only) -> Verdict {
        let lag = self.clock.lag();
        let roughly = if lag > 0 { self.decide_by_meter_at(only, coarse_now(), lag) } else { Verdict::Open };
        match roughly {
            Verdict::Open => self.decide_by_meter_at(only, self.precise_now(), 0),
            decided => decided,
        }
    }

    #[inline(always)]
    fn decide_by_meter_at(&self, only: &Only, now: u64, lag: u64) -> Verdict {
        match only.take_by_meter(now, lag) {
            Take::Taken(()) => {
                self.counters.allowed();
                Verdict::Admitted
            }
            // How long it takes is told exactly, even if that it takes some time was told roughly.
            denied @ Take::Denied { .. } if lag > 0 => Verdict::of(denied, self.precise_now(), 0),
            taken => Verdict::of(taken, now, 0),
        }
    }

    /// What a call is told that [`check`](Self::check) or [`check_key`](Self::check_key) has denied.
    #[inline(never)]
    pub(crate) fn denial(&'static self, retry_after: u64) -> RateLimited {
        RateLimited::exceeded(Subject::Unchanged(&self.origin), retry_after)
    }

    /// Denies a call that asked for one permit, and counts it, if the limit in force is still the one of this number; else it
    /// would be told of another than denied.
    pub(crate) fn deny_if_still(&self, wait: u64, changes: u64) -> Option<RateLimited> {
        let spec = self.spec();
        if !changes.is_multiple_of(2) || self.changes() != changes {
            return None;
        }
        self.counters.denied();
        Some(RateLimited::exceeded(self.subject(spec), self.retry_after(wait)))
    }

    /// The time for a decision that is made again if it comes out as a denial in [doubt](Lag::doubt): by the coarse clock,
    /// where the rules allow for its lag.
    #[inline]
    fn rough_now(&self) -> u64 {
        if self.lag().by > 0 { coarse_now() } else { self.clock.now() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LimitSpec, clock::TimeSource, name::Name};
    use std::time::Duration;

    #[test]
    fn a_release_that_may_be_over_is_no_denial_by_a_clock_that_lags() {
        let denied = |ready_at, doubt| match Verdict::of(Take::Denied { ready_at }, 100, doubt) {
            Verdict::Denied { wait } => Some(wait),
            _ => None,
        };
        assert_eq!((denied(101, 0), denied(100, 0)), (Some(1), None));
        assert_eq!((denied(111, 10), denied(110, 10)), (Some(11), None));
    }

    /// Each of its buckets is over long before the coarse clock shows that.
    #[test]
    #[cfg_attr(miri, ignore = "the interpreter has no coarse clock, and takes longer than the window")]
    fn a_permit_of_a_thousand_buckets_is_free_again_when_that_was_said() {
        let spec = LimitSpec::new(1, Duration::from_secs(1)).with_buckets(1000);
        let clock = TimeSource::system;
        let limits: [&'static Limit; 2] = [
            Box::leak(Box::new(Limit::unkeyed(Name::shared("limit", true), spec, clock()))),
            Box::leak(Box::new(Limit::keyed(Name::shared("limit", true), spec, clock(), 10))),
        ];
        for limit in limits {
            let decide = || {
                if limit.is_keyed() { limit.decide_by_key(&Key::NONE) } else { limit.decide_without_key() }
            };
            let began = limit.precise_now();
            assert!(matches!(decide(), Verdict::Admitted));
            let Verdict::Denied { wait } = decide() else { panic!("it is used up") };
            let denied = limit.precise_now();
            std::thread::sleep(Duration::from_nanos(wait));
            assert!(matches!(decide(), Verdict::Admitted));
            assert!(limit.precise_now() - began >= 1_000_000_000);
            let latest = began + 1_010_000_000 + 1_000_000 + limit.clock.lag();
            assert!(denied + wait <= latest + (denied - began), "{began} {denied} {wait}");
        }
    }
}
