//! What is promised, by an exact log of what was admitted: never more than the capacity in any window; and no denial
//! that a log which holds each charge for a window and a bucket would not make as well.

pub(super) struct Log {
    window: u128,
    /// Declared, not finer ones.
    buckets: u128,
    /// Held for a window.
    must_count: Vec<Charge>,
    /// Held for a window and a bucket.
    may_count: Vec<Charge>,
}

#[derive(Clone, Copy)]
struct Charge {
    made_at: u64,
    /// Later than `made_at` where a change of the limit left only the charge's bucket known.
    from: u64,
    permits: u32,
}

impl Log {
    pub(super) fn new(window: u64, buckets: u32) -> Self {
        Self { window: window.into(), buckets: buckets.into(), must_count: Vec::new(), may_count: Vec::new() }
    }

    pub(super) fn admitted(&mut self, at: u64, cost: u32, capacity: u32) {
        let charge = Charge { made_at: at, from: at, permits: cost };
        self.must_count.push(charge);
        self.may_count.push(charge);
        let admitted = held(&self.must_count, self.window, at);
        assert!(
            cost == 0 || admitted <= capacity.into(),
            "{admitted} of {capacity} in the window up to {at}"
        );
    }

    pub(super) fn denied(&self, at: u64, cost: u32, capacity: u32) {
        let held = held(&self.may_count, self.longest(), at);
        assert!(
            held + u64::from(cost) > capacity.into(),
            "{cost} denied at {at}, with {held} of {capacity} held"
        );
    }

    pub(super) fn refunded(&mut self, made_at: u64, cost: u32, given_back: u32) {
        for charges in [&mut self.must_count, &mut self.may_count] {
            let mut of_cost =
                charges.iter_mut().filter(|charge| (charge.made_at, charge.permits) == (made_at, cost));
            if let Some(charge) = of_cost.next() {
                charge.permits -= given_back;
            }
        }
    }

    /// What has aged out by the old limit stays so; of the rest, only its bucket on the old, inner grid is known.
    pub(super) fn change(&mut self, now: u64, inner_buckets: u64, window: u64, buckets: u32) {
        let (shortest, longest) = (self.window, self.longest());
        self.must_count.retain(|charge| counts(charge, shortest, now));
        self.may_count.retain(|charge| counts(charge, longest, now));
        let bucket = u64::try_from(self.window.div_ceil(inner_buckets.into())).unwrap();
        for charge in &mut self.may_count {
            charge.from = (charge.from + bucket).min(now);
        }
        self.window = window.into();
        self.set_buckets(buckets);
    }

    pub(super) fn set_buckets(&mut self, buckets: u32) {
        self.buckets = buckets.into();
    }

    /// The longest that a charge may count.
    fn longest(&self) -> u128 {
        self.window + self.window.div_ceil(self.buckets)
    }
}

fn held(charges: &[Charge], time: u128, at: u64) -> u64 {
    charges.iter().filter(|charge| counts(charge, time, at)).map(|charge| u64::from(charge.permits)).sum()
}

fn counts(charge: &Charge, time: u128, at: u64) -> bool {
    u128::from(charge.from) + time > at.into()
}
