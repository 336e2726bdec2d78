//! A store in memory, by a clock that does not move: what is charged stays so until it is given back.

use std::{
    collections::HashMap,
    future::pending,
    sync::{Arc, Mutex},
    time::Duration,
};

use ratelimit_runtime::{
    OnFailure, Store, StoreAnswer, StoreCall, StoreDoubt, StoreFailure, StoreOutlook, StoreReceipt,
    StoreVerdict, install_store,
};

#[derive(Default)]
pub(crate) struct Fake {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    used: HashMap<(String, Vec<u8>), u32>,
    asked: Vec<String>,
    fails: Option<(OnFailure, f64)>,
    /// What has become of the calls that were left in doubt.
    doubts: Vec<&'static str>,
    hangs: bool,
    wait: Duration,
}

/// A fresh store, installed under a name that no other test uses.
pub(crate) fn install(name: &str) -> Arc<Fake> {
    let fake = Arc::<Fake>::default();
    fake.inner.lock().unwrap().wait = Duration::from_secs(60);
    install_store(name, Handle(Arc::clone(&fake))).unwrap();
    fake
}

impl Fake {
    /// What it was asked since this was last asked.
    pub(crate) fn asked(&self) -> Vec<String> {
        std::mem::take(&mut self.inner.lock().unwrap().asked)
    }

    /// What has become of calls that were left in doubt, since this was last asked.
    pub(crate) fn doubts(&self) -> Vec<&'static str> {
        std::mem::take(&mut self.inner.lock().unwrap().doubts)
    }

    pub(crate) fn used(&self) -> u32 {
        self.inner.lock().unwrap().used.values().sum()
    }

    pub(crate) fn set_used(&self, used: u32) {
        self.inner.lock().unwrap().used.values_mut().for_each(|of_key| *of_key = used);
    }

    pub(crate) fn fail(&self, policy: OnFailure, share: f64) {
        self.inner.lock().unwrap().fails = Some((policy, share));
    }

    pub(crate) fn work(&self) {
        let mut inner = self.inner.lock().unwrap();
        (inner.fails, inner.hangs) = (None, false);
    }

    pub(crate) fn hang(&self) {
        self.inner.lock().unwrap().hangs = true;
    }

    /// How long those have to wait who are denied.
    pub(crate) fn set_wait(&self, wait: Duration) {
        self.inner.lock().unwrap().wait = wait;
    }
}

/// A charge that may have been made.
struct Doubt {
    fake: Arc<Fake>,
    stands: Mutex<bool>,
}

impl StoreDoubt for Doubt {
    fn stands(&self) {
        *self.stands.lock().unwrap() = true;
    }
}

impl Drop for Doubt {
    fn drop(&mut self) {
        let outcome = if *self.stands.lock().unwrap() { "stands" } else { "is given back" };
        self.fake.inner.lock().unwrap().doubts.push(outcome);
    }
}

struct Handle(Arc<Fake>);

impl Handle {
    fn answer<T: Send + 'static>(
        &self,
        what: &str,
        call: &StoreCall<'_>,
        answer: impl FnOnce(&mut u32, Duration) -> T,
    ) -> StoreAnswer<T> {
        let mut inner = self.0.inner.lock().unwrap();
        inner.asked.push(format!("{what} {} of {} in {}", call.cost, call.capacity, call.limit));
        if inner.hangs {
            return Box::pin(pending());
        }
        if let Some((policy, share)) = inner.fails {
            let doubt =
                (what == "charge").then(|| Doubt { fake: Arc::clone(&self.0), stands: Mutex::default() });
            return Box::pin(async move {
                let failure = StoreFailure::new("out of order", policy, share);
                Err(match doubt {
                    Some(doubt) => failure.in_doubt(doubt),
                    None => failure,
                })
            });
        }
        let wait = inner.wait;
        let used = inner.used.entry((call.limit.to_owned(), call.key.to_vec())).or_default();
        let answer = answer(used, wait);
        Box::pin(async { Ok(answer) })
    }
}

impl Store for Handle {
    fn charge(&self, call: &StoreCall<'_>) -> StoreAnswer<StoreVerdict> {
        let StoreCall { cost, capacity, .. } = *call;
        self.answer("charge", call, |used, retry_after| {
            if *used + cost > capacity {
                return StoreVerdict::Denied { remaining: capacity.saturating_sub(*used), retry_after };
            }
            *used += cost;
            StoreVerdict::Admitted { remaining: capacity - *used, receipt: StoreReceipt([7, 8]) }
        })
    }

    fn look(&self, call: &StoreCall<'_>) -> StoreAnswer<StoreOutlook> {
        let StoreCall { cost, capacity, .. } = *call;
        self.answer("look", call, |used, wait| StoreOutlook {
            used: *used,
            ready_in: if *used + cost > capacity { wait } else { Duration::ZERO },
        })
    }

    fn refund(&self, call: &StoreCall<'_>, receipt: StoreReceipt) {
        assert_eq!(receipt, StoreReceipt([7, 8]));
        drop(self.answer("refund", call, |used, _| *used -= call.cost));
    }

    fn undo(&self, call: &StoreCall<'_>, receipt: StoreReceipt) {
        assert_eq!(receipt, StoreReceipt([7, 8]));
        drop(self.answer("undo", call, |used, _| *used -= call.cost));
    }

    fn reset(&self, call: &StoreCall<'_>) -> StoreAnswer<()> {
        self.answer("reset", call, |used, _| *used = 0)
    }

    fn reset_all(&self, limit: &str) -> StoreAnswer<()> {
        let mut inner = self.0.inner.lock().unwrap();
        inner.asked.push(format!("reset all of {limit}"));
        inner.used.retain(|(of, _), _| of != limit);
        Box::pin(async { Ok(()) })
    }
}
