//! The link to one server: what callers see of it.
//!
//! A task of its own connects and reconnects, reads answers, and tells callers whose time is over. Callers send by
//! themselves what they ask: that is a thread to wake less. A request never connects, and never waits for a connection:
//! where the link is down it is answered at once. So the state of the link is the circuit breaker. It comes up when one
//! probe, a write, has succeeded.

mod answer;
mod hand_over;
mod hub;
mod line;
mod reading;
mod source;
mod task;
#[cfg(test)]
mod tests;
#[cfg(feature = "tls")]
mod tls;
mod wire;

use std::{
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{
            AtomicBool, AtomicU8, AtomicU32,
            Ordering::{Acquire, Relaxed, Release},
        },
    },
};

use redis::Value;
use tokio::{
    sync::{Notify, oneshot},
    task::JoinHandle,
    time::Instant,
};

pub(crate) use self::{
    answer::Unanswered,
    hub::{Hub, Network},
    source::{Source, at as server_at, server, shown},
    task::{Habits, Probe},
    wire::Wire,
};
use self::{
    answer::{Answer, Late},
    line::{Arrival, Line, Reading, Train},
};
use crate::scripts::{Order, Script};

/// How it stands with the link to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LinkState {
    /// The first attempt to connect is under way. Calls wait for it, within their time limit.
    Starting,
    /// Calls are decided by the server.
    Up,
    /// There is no connection, or the server does not decide. Calls go by the policy at once.
    Down,
    /// There is a connection, and one request tries whether the server decides again. Calls go by the policy at once.
    Probing,
    /// Switched off by hand.
    Off,
}

#[derive(Clone)]
pub(crate) struct Link {
    shared: Arc<Shared>,
    /// As operators know it.
    server: Arc<str>,
    probe: Arc<Probe>,
    _user: Arc<User>,
}

struct Shared {
    state: AtomicU8,
    /// Processes that were seen last, this one among them; 0 if none was.
    nodes: AtomicU32,
    /// Times that the link came up.
    connected: AtomicU32,
    /// Why it is down, for people.
    error: Mutex<Option<String>>,
    line: Mutex<Line>,
    /// Wakes the task: there is something in line that only it can do, or nobody uses the link any more.
    task: Notify,
    is_left: AtomicBool,
    /// If this is one of several.
    masters: Option<Weak<dyn Masters>>,
}

/// What was asked, if it could be.
pub(crate) struct Pending(Result<oneshot::Receiver<Answer>, Failure>);

/// Ends the task when the last handle of the link is dropped.
struct User(Arc<Shared>);

/// What a server is to do.
pub(crate) struct Request {
    script: Arc<Script>,
    pub(crate) order: Order,
    /// Then the caller has its answer, whatever that is.
    deadline: Instant,
    /// Nobody waits for some.
    answer: Option<oneshot::Sender<Answer>>,
    /// Where an answer goes that comes after the caller was told that there is none.
    late: Option<Arc<Late>>,
    /// Said to a server of a Cluster that does not hold the key yet.
    asking: bool,
    /// How often it may still be sent to another server of a Cluster.
    redirects: u8,
    /// Whether it is undone if nobody learns of it.
    undoes: bool,
}

/// Where requests go that nobody waits for, if there are several servers.
pub(crate) trait Masters: Send + Sync {
    /// Has the one that holds the key asked.
    fn send(&self, request: Request);

    /// Has another one asked, after one has said that it does not hold the key.
    fn redirect(&self, request: Request, told: &Failure);
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// None within the time limit. The server may have done it all the same.
    Timeout,
    /// There is no connection, or it broke.
    Disconnected,
    /// The server has answered with an error.
    Refused(String),
    /// Another server of the Cluster holds the key.
    Moved(Box<str>),
    /// Another server of the Cluster is taking the key over.
    Ask(Box<str>),
    /// Too many requests wait.
    Overloaded,
    /// Switched off by hand.
    Off,
}

/// A key may be on its way from one server to another when a third one is asked.
const MOST_REDIRECTS: u8 = 2;

impl Request {
    pub(crate) fn new(script: Arc<Script>, order: Order, deadline: Instant, undoes: bool) -> Self {
        let (answer, late, asking) = (None, None, false);
        Self { script, order, deadline, answer, late, asking, redirects: MOST_REDIRECTS, undoes }
    }

    /// The same once more.
    pub(crate) fn again(&self) -> Self {
        let Self { script, order, deadline, asking, redirects, undoes, .. } = self;
        let again = Self::new(Arc::clone(script), order.clone(), *deadline, *undoes);
        Self { asking: *asking, redirects: *redirects, ..again }
    }

    /// For the server that one has named which does not hold the key. `None` if too many have named one.
    pub(crate) fn redirected(self, asking: bool) -> Option<Self> {
        let redirects = self.redirects.checked_sub(1)?;
        Some(Self { asking, redirects, ..self })
    }
}

impl Link {
    /// Starts to connect. The task ends when the last handle of the link is dropped.
    pub(crate) fn start(hub: &Hub, source: Source, habits: Habits) -> Self {
        let shared = Arc::new(Shared {
            state: AtomicU8::default(),
            nodes: AtomicU32::default(),
            connected: AtomicU32::default(),
            error: Mutex::default(),
            line: Mutex::new(Line::new(habits.timeout, habits.mixes_keys)),
            task: Notify::new(),
            is_left: AtomicBool::default(),
            masters: habits.masters.clone(),
        });
        let probe = Arc::clone(&habits.probe);
        let server = source.to_string().into();
        if !hub.spawn(|network| task::run(source, habits, Arc::clone(&shared), network)) {
            shared.go_down("the system gives no threads", false);
        }
        Self { _user: Arc::new(User(Arc::clone(&shared))), shared, server, probe }
    }

    /// Asks at once, if there is a chance of an answer.
    pub(crate) fn ask(&self, request: Request) -> Pending {
        if !matches!(self.state(), LinkState::Up | LinkState::Starting) {
            return Failure::Disconnected.into();
        }
        let (answer, answered) = oneshot::channel();
        Pending(self.shared.enter(Request { answer: Some(answer), ..request }).map(|()| answered))
    }

    /// Hands over what nobody waits for. While there is no connection it is kept, if there is not too much of it.
    pub(crate) fn send(&self, request: Request) {
        _ = self.shared.enter(request);
    }

    /// A key that this server holds.
    pub(crate) fn own_key(&self) -> &[u8] {
        &self.probe.key
    }

    pub(crate) fn state(&self) -> LinkState {
        self.shared.state()
    }

    pub(crate) fn nodes(&self) -> u32 {
        self.shared.nodes.load(Relaxed)
    }

    pub(crate) fn connected(&self) -> u32 {
        self.shared.connected.load(Relaxed)
    }

    /// Why it is down, or what it has refused last since it came up.
    pub(crate) fn last_error(&self) -> Option<String> {
        self.shared.error().as_ref().map(|error| format!("{}: {error}", self.server))
    }
}

impl Pending {
    /// Waits for the answer, which comes in time.
    pub(crate) async fn answer(self) -> Result<Value, Unanswered> {
        self.0?.await.map_or_else(|_| Err(Failure::Disconnected.into()), Answer::take)
    }
}

impl From<Failure> for Pending {
    fn from(failure: Failure) -> Self {
        Self(Err(failure))
    }
}

impl Shared {
    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enter(&self, request: Request) -> Result<(), Failure> {
        let wakes = self.line().enter(request)?;
        if wakes {
            self.task.notify_one();
        }
        Ok(())
    }

    /// Sends what nobody waits for, by whichever link is right for its key.
    fn send(&self, request: Request) {
        match &self.masters {
            Some(masters) => _ = masters.upgrade().map(|masters| masters.send(request)),
            None => _ = self.enter(request),
        }
    }

    /// A server has refused a request. Another one may do what nobody waits for.
    fn fail(&self, request: Request, failure: Failure) {
        if let Failure::Refused(error) = &failure {
            self.note(error);
        }
        let masters = self.masters.as_ref().and_then(Weak::upgrade);
        if request.answer.is_none()
            && let Some(masters) = masters
        {
            masters.redirect(request, &failure);
        } else {
            request.fail(failure);
        }
    }

    /// What the next answer is for on the connection of that number.
    fn arrive(&self, number: u32) -> Arrival {
        let mut line = self.line();
        let arrival = line.arrive(number);
        if line.is_blocked() {
            self.task.notify_one();
        }
        arrival
    }

    /// Sends a train again, whose script the server has not known: so it has done nothing.
    fn repeat(&self, train: Train) {
        self.line().repeat(train);
        self.task.notify_one();
    }

    /// Sends those of a train again, and from now on one train for each key: the server is several, behind one address.
    fn take_apart(&self, train: Train) {
        self.line().take_apart(train);
        self.task.notify_one();
    }

    fn error(&self) -> MutexGuard<'_, Option<String>> {
        self.error.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, error: impl Into<String>) {
        *self.error() = Some(error.into());
    }

    /// Goes by a connection, and tells when that has ended.
    fn go_up(self: &Arc<Self>, wire: Wire, network: &Network) -> JoinHandle<()> {
        *self.error() = None;
        let number = self.connected.fetch_add(1, Relaxed);
        let (reader, writer) = wire.split();
        let ended = reading::start(reader, number, self, network);
        let mut line = self.line();
        line.open(number, writer, Reading(ended.abort_handle()));
        // Before anybody is handed an answer, which takes the line: whoever has one finds the link up.
        self.set(LinkState::Up);
        drop(line);
        ended
    }

    /// For that reason, unless another has been noted.
    fn go_down(&self, why: &str, is_slow: bool) {
        self.error().get_or_insert_with(|| why.to_owned());
        self.set(LinkState::Down);
        self.line().close(is_slow);
    }

    /// Whether nobody uses the link any more.
    fn is_left(&self) -> bool {
        self.is_left.load(Relaxed)
    }

    fn state(&self) -> LinkState {
        // Acquire: pairs with the Release in `set`. Who finds the link up finds the count of nodes that came with it.
        match self.state.load(Acquire) {
            0 => LinkState::Starting,
            1 => LinkState::Up,
            2 => LinkState::Probing,
            _ => LinkState::Down,
        }
    }

    fn set(&self, state: LinkState) {
        let number = match state {
            LinkState::Starting => 0,
            LinkState::Up => 1,
            LinkState::Probing => 2,
            LinkState::Down | LinkState::Off => 3,
        };
        self.state.store(number, Release);
    }
}

impl Drop for User {
    fn drop(&mut self) {
        // Relaxed: waking the task orders it.
        self.0.is_left.store(true, Relaxed);
        self.0.task.notify_one();
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Timeout => f.write_str("the store has not answered in time"),
            Self::Disconnected => f.write_str("the store is not connected"),
            Self::Refused(error) => write!(f, "the store has refused: {error}"),
            Self::Moved(to) | Self::Ask(to) => write!(f, "the key is at {to}, which is not connected"),
            Self::Overloaded => f.write_str("too many calls wait for the store"),
            Self::Off => f.write_str("the store is switched off"),
        }
    }
}
