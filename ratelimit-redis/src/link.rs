//! The link to one server: what callers see of it.
//!
//! A task of its own connects and reconnects. A request goes through a bounded channel, never connects, and never waits
//! for a connection: where the link is down it is answered at once. So the state of the link is the circuit breaker. It
//! comes up when one probe, a write, has succeeded.

mod exchange;
mod hub;
mod source;
mod task;

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{
            AtomicU8, AtomicU32,
            Ordering::{Acquire, Relaxed, Release},
        },
    },
};

use redis::Value;
use tokio::{
    sync::{mpsc, oneshot},
    time::Instant,
};

pub(crate) use self::{
    hub::Hub,
    source::{Connected, Source, at as server_at, connect, server},
    task::{Habits, Probe},
};
use crate::scripts::Script;

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

/// Requests that may wait to be sent. More are refused.
const CAPACITY: usize = 16 * 1024;

#[derive(Clone)]
pub(crate) struct Link {
    requests: mpsc::Sender<Request>,
    shared: Arc<Shared>,
    probe: Arc<Probe>,
}

#[derive(Default)]
struct Shared {
    state: AtomicU8,
    /// Processes that were seen last, this one among them; 0 if none was.
    nodes: AtomicU32,
    /// Times that the link came up.
    connected: AtomicU32,
}

/// What a server is to do.
pub(crate) struct Request {
    pub(crate) script: Arc<Script>,
    pub(crate) key: Vec<u8>,
    pub(crate) arguments: Vec<String>,
    /// Then the caller has its answer, whatever that is.
    pub(crate) deadline: Instant,
    /// Nobody waits for some.
    pub(crate) answer: Option<oneshot::Sender<Result<Value, Failure>>>,
    /// Said to a server of a Cluster that does not hold the key yet.
    pub(crate) asking: bool,
    /// What takes back what this has done, if the answer finds nobody any more.
    pub(crate) undo: Option<Undo>,
}

pub(crate) struct Undo {
    pub(crate) arguments: Undoing,
    /// Also for a caller that was told of a timeout.
    pub(crate) after_timeout: bool,
}

/// The arguments that take back what was answered so, if it did anything.
pub(crate) type Undoing = Box<dyn FnOnce(&Value) -> Option<Vec<String>> + Send>;

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

impl Link {
    /// Starts to connect. The task ends when the last handle of the link is dropped.
    pub(crate) fn start(hub: &Hub, source: Source, habits: Habits) -> Self {
        let (requests, received) = mpsc::channel(CAPACITY);
        let shared = Arc::new(Shared::default());
        let link = Self { requests, shared: Arc::clone(&shared), probe: Arc::clone(&habits.probe) };
        if !hub.spawn(task::run(source, habits, received, Arc::clone(&shared))) {
            shared.set(LinkState::Down);
        }
        link
    }

    /// Hands a request over, if there is a chance that it is answered.
    pub(crate) fn send(&self, request: Request) -> Result<(), Failure> {
        match self.state() {
            LinkState::Up | LinkState::Starting => {}
            _ => return Err(Failure::Disconnected),
        }
        self.requests.try_send(request).map_err(|error| match error {
            mpsc::error::TrySendError::Full(_) => Failure::Overloaded,
            mpsc::error::TrySendError::Closed(_) => Failure::Disconnected,
        })
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
}

impl Shared {
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
