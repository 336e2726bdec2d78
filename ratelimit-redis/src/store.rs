//! The store: one call of a script to a decision, or a failure and what then decides.

use std::{
    collections::HashMap,
    fmt, process,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::{Duration, Instant, SystemTime},
};

use ratelimit_runtime::{
    Algorithm, LimitSpec, OnFailure, Store, StoreAnswer, StoreCall, StoreFailure, StoreOutlook, StoreReceipt,
    StoreVerdict,
};
use redis::{FromRedisValue as _, Value};
use tokio::sync::oneshot;

use crate::{
    builder::{RedisStoreBuilder, Servers, StoreError},
    key,
    link::{Failure, Habits, Hub, Link, LinkState, Probe, Request, Undo},
    scripts::{self, Script, Scripts, Verb},
    stats::{Counters, StoreStats},
};

/// Budgets in Redis or Valkey. A handle: clones are one store.
#[derive(Clone)]
pub struct RedisStore {
    inner: Arc<Inner>,
}

struct Inner {
    link: Link,
    scripts: Scripts,
    settings: RedisStoreBuilder,
    enabled: AtomicBool,
    counters: Counters,
    /// When limits were first used whose buckets begin with less than they hold, and when the server was asked for that.
    first_uses: Mutex<HashMap<String, (u64, Instant)>>,
    _hub: Hub,
}

/// How often the server is reminded of when a limit was first used, and how long it remembers besides.
const REMINDED: Duration = Duration::from_secs(60 * 60);
const REMEMBERED: Duration = Duration::from_secs(30 * 24 * 60 * 60);

impl RedisStore {
    /// A store on one server, such as `redis://127.0.0.1:6379`; `redis://user:password@host:port/database` in full.
    ///
    /// ```
    /// use ratelimit_redis::RedisStore;
    /// use ratelimit_runtime::OnFailure;
    ///
    /// let store = RedisStore::builder("redis://127.0.0.1:6379")
    ///     .prefix("shop")
    ///     .on_disconnect(OnFailure::Local)
    ///     .local_share(0.1)
    ///     .connect_lazy()?;
    /// # Ok::<(), ratelimit_redis::StoreError>(())
    /// ```
    pub fn builder(server: &str) -> RedisStoreBuilder {
        RedisStoreBuilder::new(Servers::One(server.to_owned()))
    }

    pub(crate) fn connect(settings: RedisStoreBuilder) -> Result<Self, StoreError> {
        let source = settings.servers.source()?;
        let scripts = Scripts::new();
        let probe =
            Probe { script: scripts::nodes(), key: key::nodes(&settings.prefix), process: process_name() };
        let hub = Hub::start();
        let habits = Habits { timeout: settings.timeout, probe: Arc::new(probe) };
        let inner = Inner {
            link: Link::start(&hub, source, habits),
            scripts,
            settings,
            enabled: AtomicBool::new(true),
            counters: Counters::default(),
            first_uses: Mutex::default(),
            _hub: hub,
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Switches the store off, or on again. While it is off every call goes by the policy for a lost connection, at once.
    pub fn set_enabled(&self, enabled: bool) {
        self.inner.enabled.store(enabled, Relaxed);
    }

    /// How it stands with the link to the server.
    #[must_use]
    pub fn state(&self) -> LinkState {
        if self.inner.is_enabled() { self.inner.link.state() } else { LinkState::Off }
    }

    /// What has come of its calls.
    #[must_use]
    pub fn stats(&self) -> StoreStats {
        let Inner { link, counters, .. } = &*self.inner;
        counters.read(link.connected(), link.nodes())
    }

    /// Starts a call now; the answer may be awaited later.
    fn start<T: 'static>(
        &self,
        call: &StoreCall<'_>,
        verb: Verb,
        read: impl FnOnce(&StoreCall<'_>, &Value) -> Option<T> + Send + 'static,
    ) -> StoreAnswer<T> {
        let inner = Arc::clone(&self.inner);
        let call = Owned::of(call);
        let began = Instant::now();
        Box::pin(async move {
            let answer = inner.answer(&call, verb, began).await;
            let answer = answer.and_then(|value| {
                read(&call.borrow(), &value)
                    .ok_or_else(|| Failure::Refused(format!("an answer that is none: {value:?}")))
            });
            match answer {
                Ok(answer) => {
                    inner.counters.decided(began.elapsed());
                    Ok(answer)
                }
                Err(failure) => Err(inner.failure(&failure)),
            }
        })
    }

    /// Sends what nobody waits for.
    fn give(&self, call: &StoreCall<'_>, charged_at: u64) {
        let inner = &self.inner;
        let arguments = scripts::arguments(Verb::Give { charged_at }, call, 0);
        let request = inner.request_of(&Owned::of(call), arguments, Instant::now());
        if inner.is_enabled() {
            // What cannot be sent is lost: the charge ages like any other.
            _ = inner.link.send(request);
        }
    }
}

impl Store for RedisStore {
    fn charge(&self, call: &StoreCall<'_>) -> StoreAnswer<StoreVerdict> {
        self.start(call, Verb::Charge, scripts::verdict)
    }

    fn look(&self, call: &StoreCall<'_>) -> StoreAnswer<StoreOutlook> {
        self.start(call, Verb::Look, scripts::outlook)
    }

    fn refund(&self, call: &StoreCall<'_>, StoreReceipt([charged_at, _]): StoreReceipt) {
        self.give(call, charged_at);
    }

    fn undo(&self, call: &StoreCall<'_>, StoreReceipt([_, clear_at]): StoreReceipt) {
        self.give(call, clear_at);
    }

    fn reset(&self, call: &StoreCall<'_>) -> StoreAnswer<()> {
        self.start(call, Verb::Reset, |_, _| Some(()))
    }

    fn reset_all(&self, limit: &str) -> StoreAnswer<()> {
        let inner = Arc::clone(&self.inner);
        let limit = limit.to_owned();
        Box::pin(async move { inner.reset_all(&limit).await.map_err(|failure| inner.failure(&failure)) })
    }
}

impl Inner {
    fn is_enabled(&self) -> bool {
        self.enabled.load(Relaxed)
    }

    async fn answer(&self, call: &Owned, verb: Verb, began: Instant) -> Result<Value, Failure> {
        if !self.is_enabled() {
            return Err(Failure::Off);
        }
        let first_use = match verb {
            Verb::Charge | Verb::Look if begins_unfilled(&call.spec) => self.first_use(call, began).await?,
            _ => 0,
        };
        let arguments = scripts::arguments(verb, &call.borrow(), first_use);
        let (answer, answered) = oneshot::channel();
        let mut request = Request { answer: Some(answer), ..self.request_of(call, arguments, began) };
        if verb == Verb::Charge {
            let (owned, after_timeout) = (call.clone(), self.settings.on_timeout != OnFailure::Open);
            request.undo =
                Some(Undo { arguments: Box::new(move |answer| owned.undone(answer)), after_timeout });
        }
        self.link.send(request)?;
        answered.await.unwrap_or(Err(Failure::Disconnected))
    }

    /// Each step has the time of a call.
    async fn reset_all(&self, limit: &str) -> Result<(), Failure> {
        let prefix = key::budget(&self.settings.prefix, limit, b"");
        let pattern = [String::from_utf8_lossy(&prefix).as_ref(), "*"].concat();
        let mut cursor = "0".to_owned();
        loop {
            let arguments = vec![cursor, pattern.clone()];
            let answer = self.ask(scripts::reset_all(), prefix.clone(), arguments, Instant::now()).await?;
            cursor = String::from_redis_value(answer).map_err(|error| Failure::Refused(error.to_string()))?;
            if cursor == "0" {
                return Ok(());
            }
        }
    }

    async fn ask(
        &self,
        script: Arc<Script>,
        key: Vec<u8>,
        arguments: Vec<String>,
        began: Instant,
    ) -> Result<Value, Failure> {
        if !self.is_enabled() {
            return Err(Failure::Off);
        }
        let (answer, answered) = oneshot::channel();
        self.link.send(Request { answer: Some(answer), ..self.request(script, key, arguments, began) })?;
        answered.await.unwrap_or(Err(Failure::Disconnected))
    }

    fn request(&self, script: Arc<Script>, key: Vec<u8>, arguments: Vec<String>, began: Instant) -> Request {
        let deadline = (began + self.settings.timeout).into();
        Request { script, key, arguments, deadline, answer: None, asking: false, undo: None }
    }

    /// That of a call.
    fn request_of(&self, call: &Owned, arguments: Vec<String>, began: Instant) -> Request {
        let key = key::budget(&self.settings.prefix, &call.limit, &call.key);
        self.request(self.scripts.of(call.spec.algorithm()), key, arguments, began)
    }

    /// When the limit was first used, by the server's clock.
    async fn first_use(&self, call: &Owned, began: Instant) -> Result<u64, Failure> {
        let known = || self.first_uses.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((since, _)) =
            known().get(&call.limit).filter(|(_, asked)| began.saturating_duration_since(*asked) < REMINDED)
        {
            return Ok(*since);
        }
        let life = (REMEMBERED + call.spec.window()).as_millis().to_string();
        let key = key::first_use(&self.settings.prefix, &call.limit);
        let answer = self.ask(scripts::since(), key, vec![life], began).await?;
        let since = u64::from_redis_value(answer).map_err(|error| Failure::Refused(error.to_string()))?;
        known().insert(call.limit.clone(), (since, began));
        Ok(since)
    }

    fn failure(&self, failure: &Failure) -> StoreFailure {
        let settings = &self.settings;
        let policy = match failure {
            Failure::Timeout | Failure::Overloaded => settings.on_timeout,
            _ => settings.on_disconnect,
        };
        self.counters.failed(failure, policy);
        let share = settings.local_share.unwrap_or_else(|| 1.0 / f64::from(self.link.nodes().max(1)));
        StoreFailure::new(failure.to_string(), policy, share)
    }
}

/// A bucket that begins with less than it holds fills up from the first use of its limit.
fn begins_unfilled(spec: &LimitSpec) -> bool {
    spec.algorithm() == Algorithm::TokenBucket && spec.initial() < spec.burst()
}

/// A call that outlives its caller.
#[derive(Clone)]
struct Owned {
    limit: String,
    spec: LimitSpec,
    key: Vec<u8>,
    cost: u32,
    capacity: u32,
}

impl Owned {
    fn of(call: &StoreCall<'_>) -> Self {
        let StoreCall { limit, spec, key, cost, capacity, .. } = *call;
        Self { limit: limit.to_owned(), spec, key: key.to_vec(), cost, capacity }
    }

    fn borrow(&self) -> StoreCall<'_> {
        StoreCall::new(&self.limit, self.spec, &self.key).with_cost(self.cost).with_capacity(self.capacity)
    }

    /// What takes the charge back that was answered so.
    fn undone(&self, answer: &Value) -> Option<Vec<String>> {
        let call = self.borrow();
        match scripts::verdict(&call, answer)? {
            StoreVerdict::Admitted { receipt: StoreReceipt([_, clear_at]), .. } if call.cost > 0 => {
                Some(scripts::arguments(Verb::Give { charged_at: clear_at }, &call, 0))
            }
            _ => None,
        }
    }
}

/// Unlikely to be another process's.
fn process_name() -> String {
    use std::hash::{BuildHasher, RandomState};
    let random = RandomState::new().hash_one(SystemTime::now());
    format!("{}-{random:016x}", process::id())
}

impl fmt::Debug for RedisStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { settings, .. } = &*self.inner;
        f.debug_struct("RedisStore")
            .field("settings", settings)
            .field("state", &self.state())
            .finish_non_exhaustive()
    }
}
