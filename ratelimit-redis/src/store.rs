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
    Algorithm, LimitSpec, Store, StoreAnswer, StoreCall, StoreFailure, StoreOutlook, StoreReceipt,
    StoreVerdict,
};
use redis::{FromRedisValue as _, Value};

use crate::{
    key,
    link::{Failure, Hub, LinkState, Request, Unanswered},
    route::{Asked, Route},
    scripts::{self, Order, Script, Terms, Verb},
    settings::{Settings, StoreError},
    stats::{Counters, StoreStats},
};

/// Budgets in Redis or Valkey. A handle: clones are one store.
#[derive(Clone)]
pub struct RedisStore {
    inner: Arc<Inner>,
}

struct Inner {
    route: Route,
    settings: Settings,
    enabled: AtomicBool,
    counters: Counters,
    /// When limits were first used whose buckets begin with less than they hold, and when the server was asked for that.
    first_uses: Mutex<HashMap<String, (u64, Instant)>>,
    _hub: Arc<Hub>,
}

/// How often the server is reminded of when a limit was first used, and how long it remembers besides.
const REMINDED: Duration = Duration::from_secs(60 * 60);
const REMEMBERED: Duration = Duration::from_secs(30 * 24 * 60 * 60);

impl RedisStore {
    pub(crate) fn connect(settings: Settings) -> Result<Self, StoreError> {
        let hub = Arc::new(Hub::start());
        let inner = Inner {
            route: Route::start(&settings, &process_name(), &hub)?,
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

    /// How it stands with the link to the server; in a Cluster, with that for which it is worst.
    #[must_use]
    pub fn state(&self) -> LinkState {
        if self.inner.is_enabled() { self.inner.route.state() } else { LinkState::Off }
    }

    /// Why calls go by their policy, for people: what the last attempt to connect has come to, or what has ended the
    /// connection; while the link is up, what the server has said last to a call that it refused. In a Cluster, of one link.
    /// `None` if there was nothing of that since the link came up, and while the first attempt is under way. It does not tell
    /// of calls that came too late one by one, which [`stats`](Self::stats) counts, nor that the store is switched off.
    ///
    /// It tells addresses, and what the server has answered, but no password.
    ///
    /// ```
    /// # let store = ratelimit_redis::RedisStore::builder("redis://127.0.0.1:1").connect_lazy()?;
    /// if let Some(error) = store.last_error() {
    ///     eprintln!("limits go by their policy: {error}"); // 127.0.0.1:1: Connection refused (os error 111)
    /// }
    /// # Ok::<(), ratelimit_redis::StoreError>(())
    /// ```
    #[must_use]
    pub fn last_error(&self) -> Option<String> {
        self.inner.route.last_error()
    }

    /// What has come of its calls.
    #[must_use]
    pub fn stats(&self) -> StoreStats {
        let Inner { route, counters, .. } = &*self.inner;
        counters.read(route.connected(), route.nodes())
    }

    /// A call, whose time begins now.
    fn start<T: 'static>(
        &self,
        call: &StoreCall<'_>,
        verb: Verb,
        read: impl FnOnce(Terms, &Value) -> Option<T> + Send + 'static,
    ) -> StoreAnswer<T> {
        let inner = Arc::clone(&self.inner);
        let began = Instant::now();
        let (key, terms) = (inner.key(call), Terms::of(call));
        if begins_unfilled(&terms.spec) && matches!(verb, Verb::Charge | Verb::Look) {
            let limit = call.limit.to_owned();
            return Box::pin(async move {
                let answer = match inner.first_use(&limit, terms.spec, began).await {
                    Ok(since) => inner.ask(inner.decision(key, verb, terms, since, began)).answer().await,
                    Err(unanswered) => Err(unanswered),
                };
                inner.told(answer, began, |value| read(terms, value))
            });
        }
        let request = inner.decision(key, verb, terms, 0, began);
        Box::pin(async move {
            let answer = inner.ask(request).answer().await;
            inner.told(answer, began, |value| read(terms, value))
        })
    }

    /// Sends what nobody waits for.
    fn give(&self, call: &StoreCall<'_>, verb: Verb) {
        let inner = &self.inner;
        if inner.is_enabled() {
            let order = scripts::order(inner.key(call), verb, Terms::of(call), 0);
            // What is lost ages like any other charge.
            let script = Arc::clone(scripts::decide(call.spec.algorithm()));
            inner.route.send(inner.request(script, order, Instant::now(), false));
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

    fn refund(&self, call: &StoreCall<'_>, receipt: StoreReceipt) {
        self.give(call, scripts::refund(&call.spec, receipt));
    }

    fn undo(&self, call: &StoreCall<'_>, receipt: StoreReceipt) {
        self.give(call, scripts::undo(receipt));
    }

    fn reset(&self, call: &StoreCall<'_>) -> StoreAnswer<()> {
        self.start(call, Verb::Reset, |_, _| Some(()))
    }

    fn reset_all(&self, limit: &str) -> StoreAnswer<()> {
        let inner = Arc::clone(&self.inner);
        let limit = limit.to_owned();
        Box::pin(async move { inner.reset_all(&limit).await.map_err(|unanswered| inner.failure(unanswered)) })
    }
}

impl Inner {
    fn is_enabled(&self) -> bool {
        self.enabled.load(Relaxed)
    }

    fn key(&self, call: &StoreCall<'_>) -> Vec<u8> {
        key::budget(&self.settings.prefix, call.limit, call.key)
    }

    fn decision(&self, key: Vec<u8>, verb: Verb, terms: Terms, first_use: u64, began: Instant) -> Request {
        let order = scripts::order(key, verb, terms, first_use);
        let script = Arc::clone(scripts::decide(terms.spec.algorithm()));
        self.request(script, order, began, verb == Verb::Charge)
    }

    fn ask(&self, request: Request) -> Asked {
        if self.is_enabled() { self.route.ask(request) } else { Asked::One(Failure::Off.into()) }
    }

    /// Counts what came of a call.
    fn told<T>(
        &self,
        answer: Result<Value, Unanswered>,
        began: Instant,
        read: impl FnOnce(&Value) -> Option<T>,
    ) -> Result<T, StoreFailure> {
        let answer = answer.and_then(|value| {
            let none = || Failure::Refused(format!("an answer that is none: {value:?}"));
            read(&value).ok_or_else(|| none().into())
        });
        match answer {
            Ok(answer) => {
                self.counters.decided(began.elapsed());
                Ok(answer)
            }
            Err(unanswered) => Err(self.failure(unanswered)),
        }
    }

    /// Each step has the time of a call.
    async fn reset_all(&self, limit: &str) -> Result<(), Unanswered> {
        if !self.is_enabled() {
            return Err(Failure::Off.into());
        }
        let prefix = key::budget(&self.settings.prefix, limit, b"");
        let pattern = [String::from_utf8_lossy(&prefix).as_ref(), "*"].concat();
        for link in self.route.links() {
            let mut cursor = "0".to_owned();
            loop {
                let argument = format!("{cursor} {pattern}");
                let order =
                    Order::new(link.own_key().to_vec(), |text| text.extend_from_slice(argument.as_bytes()));
                let request = self.request(scripts::reset_all(), order, Instant::now(), false);
                let answer = link.ask(request).answer().await?;
                cursor =
                    String::from_redis_value(answer).map_err(|error| Failure::Refused(error.to_string()))?;
                if cursor == "0" {
                    break;
                }
            }
        }
        Ok(())
    }

    fn request(&self, script: Arc<Script>, order: Order, began: Instant, undoes: bool) -> Request {
        Request::new(script, order, (began + self.settings.timeout).into(), undoes)
    }

    /// When the limit was first used, by the server's clock.
    async fn first_use(&self, limit: &str, spec: LimitSpec, began: Instant) -> Result<u64, Unanswered> {
        let known = || self.first_uses.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((since, _)) =
            known().get(limit).filter(|(_, asked)| began.saturating_duration_since(*asked) < REMINDED)
        {
            return Ok(*since);
        }
        let life = (REMEMBERED + spec.window()).as_millis().to_string();
        let key = key::first_use(&self.settings.prefix, limit);
        let order = Order::new(key, |text| text.extend_from_slice(life.as_bytes()));
        let answer = self.ask(self.request(scripts::since(), order, began, false)).answer().await?;
        let since = u64::from_redis_value(answer).map_err(|error| Failure::Refused(error.to_string()))?;
        known().insert(limit.to_owned(), (since, began));
        Ok(since)
    }

    fn failure(&self, Unanswered { failure, doubt }: Unanswered) -> StoreFailure {
        let settings = &self.settings;
        let policy = match failure {
            Failure::Timeout | Failure::Overloaded => settings.on_timeout,
            _ => settings.on_disconnect,
        };
        self.counters.failed(&failure, policy);
        let share = settings.local_share.unwrap_or_else(|| 1.0 / f64::from(self.route.nodes().max(1)));
        let told = StoreFailure::new(failure.to_string(), policy, share);
        match doubt {
            Some(doubt) => told.in_doubt(doubt),
            None => told,
        }
    }
}

/// A bucket that begins with less than it holds fills up from the first use of its limit.
fn begins_unfilled(spec: &LimitSpec) -> bool {
    spec.algorithm() == Algorithm::TokenBucket && spec.initial() < spec.burst()
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
