//! Calls of limits by hand, of every algorithm, with keys that come and go, while the limits are changed.

use std::{
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use ratelimit_runtime::{KeyedLimiter, LimitSpec, Limiter, Permit};

use crate::{
    declared,
    random::Random,
    specs::{of_every_algorithm, some_spec},
};

/// Keys that are in use at once.
const KEYS: u32 = 20_000;

pub(crate) struct Load {
    /// Each with room for another number of keys. Replaced now and then by one of the same.
    keyed: Vec<RwLock<Arc<KeyedLimiter>>>,
    plain: Vec<Arc<Limiter>>,
}

impl Load {
    pub(crate) fn new() -> Self {
        let keyed = |(number, spec)| Some(RwLock::new(Arc::new(keyed(spec, number)?)));
        let plain = |spec| Limiter::new(spec).ok().map(Arc::new);
        Self {
            keyed: (0..).zip(of_every_algorithm()).filter_map(keyed).collect(),
            plain: of_every_algorithm().filter_map(plain).collect(),
        }
    }

    fn keyed(&self, random: &mut Random) -> Arc<KeyedLimiter> {
        Arc::clone(&random.one_of(&self.keyed).read().unwrap_or_else(PoisonError::into_inner))
    }

    /// A few hundred calls.
    pub(crate) fn some_calls(&self, random: &mut Random) -> u64 {
        const CALLS: u64 = 300;
        let mut held = Vec::new();
        // Other keys every time: a thousand more of them are new, and as many never come again.
        let first = random.next() & 0xFFFF_0000;
        for _ in 0..CALLS {
            match random.below(100) {
                0..50 => call_with_key(&self.keyed(random), first, random),
                50..70 => {
                    let limiter = random.one_of(&self.plain);
                    refund_some(limiter.try_acquire_n(random.below(4)).ok(), random);
                }
                70..85 => declared::call(random),
                _ => held.extend(declared::permit(random)),
            }
        }
        self.meddle(random);
        for permit in held {
            refund_some(Some(permit), random);
        }
        CALLS
    }

    fn meddle(&self, random: &mut Random) {
        match random.below(20) {
            0 => _ = self.keyed(random).set_spec(some_spec(random)),
            1 => _ = random.one_of(&self.plain).set_spec(some_spec(random)),
            2 => declared::meddle(random),
            3 => {
                let max_wait = Some(Duration::from_micros(random.below(2000).into()));
                _ = random.one_of(&self.plain).acquire_blocking(1, max_wait);
            }
            4 => self.keyed(random).reset_key(&u64::from(random.below(KEYS))),
            5 if random.one_in(10) => random.one_of(&self.plain).reset(),
            6 if random.one_in(10) => self.keyed(random).reset(),
            7 if random.one_in(10) => {
                let number = random.below(6) as usize;
                if let (Some(place), Some(limiter)) =
                    (self.keyed.get(number), keyed(some_spec(random), number))
                {
                    *place.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(limiter);
                }
            }
            8 => _ = self.keyed(random).tracked_keys(),
            _ => {}
        }
    }

    /// One of each kind, to wait for.
    pub(crate) fn limiters(&self, random: &mut Random) -> (Arc<Limiter>, Arc<KeyedLimiter>) {
        (Arc::clone(random.one_of(&self.plain)), self.keyed(random))
    }

    pub(crate) fn tracked_keys(&self) -> u64 {
        let of = |limiter: &RwLock<Arc<KeyedLimiter>>| {
            limiter.read().unwrap_or_else(PoisonError::into_inner).tracked_keys() as u64
        };
        self.keyed.iter().map(of).sum::<u64>() + declared::tracked_keys()
    }

    /// Brings all limits back to where they began, so that what is held does not depend on what they were changed to.
    pub(crate) fn restore(&self) {
        for (spec, (plain, keyed)) in of_every_algorithm().zip(self.plain.iter().zip(&self.keyed)) {
            let keyed = keyed.read().unwrap_or_else(PoisonError::into_inner);
            _ = plain.set_spec(spec);
            _ = keyed.set_spec(spec);
            plain.reset();
            keyed.reset();
        }
        declared::restore();
    }
}

fn keyed(spec: LimitSpec, number: usize) -> Option<KeyedLimiter> {
    const MAX_KEYS: [usize; 6] = [0, 10, 1000, 10_000, 20_000, 1_000_000];
    Some(KeyedLimiter::new(spec).ok()?.with_max_keys(MAX_KEYS[number % MAX_KEYS.len()]))
}

fn call_with_key(limiter: &KeyedLimiter, first: u64, random: &mut Random) {
    let number = first + u64::from(random.below(KEYS));
    let permit = match random.below(4) {
        0 => limiter.try_acquire(&format!("customer {number} of many, with a name that is long")),
        1 => limiter.try_acquire_n(&(number, "reports"), random.below(4)),
        _ => limiter.try_acquire(&(number % u64::from(KEYS))),
    };
    refund_some(permit.ok(), random);
}

fn refund_some(permit: Option<Permit<'_>>, random: &mut Random) {
    if let Some(permit) = permit
        && random.one_in(3)
    {
        permit.refund();
    }
}
