//! The buckets' rule, without a ring: each charge by itself, with the instant its bucket is released.

pub(super) struct Mirror {
    window: u128,
    buckets: u128,
    latest: u64,
    charges: Vec<Charge>,
    /// The grid before the last change, and when that was.
    before: Option<(u128, u128, u64)>,
    /// What was charged before this had aged out at a change.
    forgotten_before: u64,
}

#[derive(Clone, Copy)]
struct Charge {
    /// The instant it counts from.
    from: u64,
    permits: u32,
}

impl Mirror {
    pub(super) fn new(window: u64, buckets: u64) -> Self {
        Self {
            window: window.into(),
            buckets: buckets.into(),
            latest: 0,
            charges: Vec::new(),
            before: None,
            forgotten_before: 0,
        }
    }

    /// Goes to `now`, or stays where it is if it has been later, and says where that is.
    pub(super) fn pass_to(&mut self, now: u64) -> u64 {
        self.latest = self.latest.max(now);
        let released: Vec<bool> =
            self.charges.iter().map(|charge| self.release(*charge) <= self.latest.into()).collect();
        let mut released = released.into_iter();
        self.charges.retain(|_| !released.next().unwrap());
        self.latest
    }

    pub(super) fn admits(&self, cost: u32, capacity: u32) -> bool {
        cost == 0 || u64::from(self.used(self.latest)) + u64::from(cost) <= u64::from(capacity)
    }

    pub(super) fn charge(&mut self, permits: u32) {
        self.charges.push(Charge { from: self.latest, permits });
    }

    pub(super) fn used(&self, now: u64) -> u32 {
        let now = u128::from(now.max(self.latest));
        self.charges.iter().filter(|charge| now < self.release(**charge)).map(|charge| charge.permits).sum()
    }

    pub(super) fn clear_at(&self, now: u64) -> u64 {
        self.instants(now).into_iter().find(|&at| self.used(at) == 0).unwrap()
    }

    pub(super) fn ready_at(&self, now: u64, cost: u32, capacity: u32) -> Option<u64> {
        let room = |at: &u64| u64::from(self.used(*at)) + u64::from(cost) <= u64::from(capacity);
        if cost == 0 { Some(now) } else { self.instants(now).into_iter().find(room) }
    }

    /// Takes back from the charges in the bucket that the charge made at `charged_at` counts in.
    pub(super) fn refund(&mut self, charged_at: u64, cost: u32) -> u32 {
        if charged_at < self.forgotten_before {
            return 0;
        }
        let from = self.before.map_or(charged_at, |before| place(charged_at, before));
        let bucket = self.bucket(from);
        let mut left = cost;
        for index in 0..self.charges.len() {
            if self.bucket(self.charges[index].from) == bucket {
                let taken = left.min(self.charges[index].permits);
                self.charges[index].permits -= taken;
                left -= taken;
            }
        }
        self.charges.retain(|charge| charge.permits > 0);
        cost - left
    }

    pub(super) fn change(&mut self, window: u64, buckets: u64) {
        let before = (self.window, self.buckets, self.latest);
        let oldest = self.bucket(self.latest).saturating_sub(self.buckets);
        let start = u64::try_from((oldest * self.window).div_ceil(self.buckets)).unwrap();
        self.forgotten_before = self.forgotten_before.max(start);
        for charge in &mut self.charges {
            charge.from = place(charge.from, before);
        }
        self.window = window.into();
        self.buckets = buckets.into();
        self.before = Some(before);
        self.pass_to(self.latest);
    }

    fn bucket(&self, at: u64) -> u128 {
        u128::from(at) * self.buckets / self.window
    }

    fn release(&self, charge: Charge) -> u128 {
        self.window + ((self.bucket(charge.from) + 1) * self.window).div_ceil(self.buckets)
    }

    /// The instants at which what is in use may change: now, and each release from now on.
    fn instants(&self, now: u64) -> Vec<u64> {
        let releases = self.charges.iter().map(|charge| u64::try_from(self.release(*charge)).unwrap());
        let mut instants: Vec<u64> = releases.filter(|&release| release > now).collect();
        instants.push(now);
        instants.sort_unstable();
        instants
    }
}

/// The last instant of the old bucket that holds `at`, or that of the change if it comes first.
fn place(at: u64, (window, buckets, changed_at): (u128, u128, u64)) -> u64 {
    let end = ((u128::from(at) * buckets / window + 1) * window).div_ceil(buckets);
    if at >= changed_at { at } else { u64::try_from(end - 1).unwrap().min(changed_at) }
}
