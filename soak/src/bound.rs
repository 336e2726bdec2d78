//! Limits whose admitted calls are logged, and never more than `max` in any window.

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use ratelimit_runtime::{Algorithm, KeyedLimiter, LimitSpec, Limiter};

use crate::random::Random;

/// When a call came and when it had been decided. The instant that counts lies between the two.
type Call = (Instant, Instant);

pub(crate) struct Watched {
    name: &'static str,
    spec: LimitSpec,
    limit: Kind,
    /// Puts another limit in force now and then, of the same bound.
    is_changed: bool,
    /// Once it has denied a call, others come as fast as they can. Before that its permits are used up slowly, so that
    /// some fall on every edge of a bucket: there a mistake shows when they are taken again.
    is_used_up: AtomicBool,
    calls: Mutex<Vec<Call>>,
    admitted: AtomicU64,
}

enum Kind {
    Plain(Limiter),
    /// Of one key among many.
    Keyed(KeyedLimiter),
}

impl Watched {
    pub(crate) fn all() -> Vec<Self> {
        // No multiples of a clock's tick, nor are their buckets.
        let long = LimitSpec::new(1000, Duration::from_micros(850_371)).with_buckets(7);
        let short = LimitSpec::new(50, Duration::from_micros(20_371)).with_buckets(10);
        let plain = |spec| Limiter::new(spec).map(Kind::Plain);
        let keyed = |spec, max_keys| {
            KeyedLimiter::new(spec).map(|limiter| Kind::Keyed(limiter.with_max_keys(max_keys)))
        };
        [
            ("long", long, plain(long), false),
            ("short", short, plain(short), false),
            ("long and changed", long, plain(long), true),
            ("long, of a key", long, keyed(long, 100_000), false),
            ("long, of a key, and changed", long, keyed(long, 100_000), true),
            ("short, of a key without room", short, keyed(short, 10), false),
        ]
        .into_iter()
        .filter_map(|(name, spec, limit, is_changed)| {
            Some(Self {
                name,
                spec,
                limit: limit.ok()?,
                is_changed,
                is_used_up: AtomicBool::new(false),
                calls: Mutex::default(),
                admitted: AtomicU64::new(0),
            })
        })
        .collect()
    }

    pub(crate) fn some_calls(&self, random: &mut Random) -> u64 {
        if self.is_changed && random.one_in(20_000) {
            self.change(random);
        }
        let most = if self.is_used_up.load(Relaxed) { 100 } else { u64::from(random.one_in(4)) };
        for number in 0..most {
            let came = Instant::now();
            let is_admitted = match &self.limit {
                Kind::Plain(limiter) => limiter.try_acquire().is_ok(),
                Kind::Keyed(limiter) => {
                    _ = limiter.try_acquire(&random.below(1000));
                    limiter.try_acquire("watched").is_ok()
                }
            };
            if !is_admitted {
                self.is_used_up.store(true, Relaxed);
                return number + 1;
            }
            let call = (came, Instant::now());
            self.calls.lock().unwrap_or_else(PoisonError::into_inner).push(call);
        }
        most
    }

    fn change(&self, random: &mut Random) {
        // 1000 buckets need the precise clock where the others do with the coarse one.
        let spec = match random.below(4) {
            0 => self.spec.with_buckets(1000),
            1 => LimitSpec::new(self.spec.max(), self.spec.window()).with_algorithm(Algorithm::SlidingLog),
            2 => self.spec.with_buckets(random.below(60) + 1),
            _ => self.spec,
        };
        self.set_spec(spec);
    }

    fn set_spec(&self, spec: LimitSpec) {
        _ = match &self.limit {
            Kind::Plain(limiter) => limiter.set_spec(spec),
            Kind::Keyed(limiter) => limiter.set_spec(spec),
        };
    }

    pub(crate) fn restore(&self) {
        self.set_spec(self.spec);
        self.is_used_up.store(false, Relaxed);
    }

    pub(crate) fn tracked_keys(&self) -> u64 {
        match &self.limit {
            Kind::Plain(_) => 0,
            Kind::Keyed(limiter) => limiter.tracked_keys() as u64,
        }
    }

    /// Checks all calls since the last time, and forgets them.
    pub(crate) fn check(&self) -> Result<(), String> {
        let (max, window) = (self.spec.max() as usize, self.spec.window());
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        self.admitted.fetch_add(calls.len() as u64, Relaxed);
        calls.sort_unstable();
        for (number, (start, _)) in calls.iter().enumerate() {
            let end = *start + window;
            let within = calls[number..].iter().take_while(|(came, _)| *came < end);
            let within = within.filter(|(_, decided)| *decided < end).count();
            if within > max {
                return Err(format!("`{}` admitted {within} of {max} in one window", self.name));
            }
        }
        // Its memory as well, or it would be taken for growth of the limits.
        *calls = Vec::new();
        Ok(())
    }
}

pub(crate) fn summary(watched: &[Watched]) -> String {
    let of = |limit: &Watched| format!("{} {}", limit.admitted.load(Relaxed), limit.name);
    watched.iter().map(of).collect::<Vec<_>>().join(", ")
}
