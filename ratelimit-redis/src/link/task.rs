//! The task behind a link: connects, tries, serves, and begins again.

use std::{
    future::{pending, poll_fn},
    hash::{BuildHasher, RandomState},
    sync::{Arc, Weak, atomic::Ordering::Relaxed},
    time::Duration,
};

use redis::{ErrorKind, FromRedisValue as _, RedisResult, ServerErrorKind, Value};
use tokio::{
    sync::oneshot,
    task::JoinHandle,
    time::{Instant, interval, sleep, sleep_until, timeout},
};

use super::{Answer, Failure, LinkState, Masters, Network, Request, Shared, Source, Wire};
use crate::scripts::{Order, Script};

/// How a link is kept.
#[derive(Clone)]
pub(crate) struct Habits {
    /// How long a caller waits.
    pub(crate) timeout: Duration,
    /// How long callers wait for the first attempt to connect.
    pub(crate) first_attempt: Duration,
    /// The write that shows whether the server decides, and counts the processes that use it.
    pub(crate) probe: Arc<Probe>,
    /// Whether one call may be about several keys.
    pub(crate) mixes_keys: bool,
    /// If there are others.
    pub(crate) masters: Option<Weak<dyn Masters>>,
}

pub(crate) struct Probe {
    pub(crate) script: Arc<Script>,
    pub(crate) key: Vec<u8>,
    /// The name of this process.
    pub(crate) process: String,
}

/// A process is counted anew as often, and looks so soon who has started with it.
const HEARTBEAT: Duration = Duration::from_secs(5);
const FIRST_HEARTBEAT: Duration = Duration::from_secs(1);

/// And forgotten after that.
const FORGOTTEN: Duration = Duration::from_secs(16);

/// An attempt to connect that nobody answers is over after that, or after four times what a caller waits, if that is more;
/// and whatever a caller waits, after that.
const CONNECTS: Duration = Duration::from_millis(500);
const LONGEST_ATTEMPT: Duration = Duration::from_secs(10);

/// A pause before another attempt is no shorter. And no longer, with the attempt before it, unless that took as long alone:
/// what comes back is in service within a second.
const SHORTEST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_millis(900);

impl Probe {
    fn order(&self) -> Order {
        let argument = format!("{} {}", FORGOTTEN.as_millis(), self.process);
        Order::new(self.key.clone(), |text| text.extend_from_slice(argument.as_bytes()))
    }

    /// In both ways that calls are made, since either may be forbidden.
    async fn run(&self, wire: &mut Wire) -> RedisResult<u32> {
        let order = self.order();
        let [mut by_code, mut by_hash] = [Vec::new(), Vec::new()];
        self.script.by_code([&order].into_iter(), &mut by_code);
        self.script.by_hash([&order].into_iter(), &mut by_hash);
        let answer = wire.ask(&by_code).await?;
        let answer = match wire.ask(&by_hash).await {
            // It was forgotten in between.
            Err(error) if error.kind() == ErrorKind::Server(ServerErrorKind::NoScript) => answer,
            asked => asked?,
        };
        Ok(u32::from_redis_value(answer)?)
    }

    /// The same among requests. The answer says how it went.
    fn beat(&self, shared: &Shared) -> oneshot::Receiver<Answer> {
        let (answer, answered) = oneshot::channel();
        let (script, deadline) = (Arc::clone(&self.script), Instant::now() + HEARTBEAT / 2);
        let request = Request::new(script, self.order(), deadline, false);
        _ = shared.enter(Request { answer: Some(answer), ..request });
        answered
    }
}

pub(super) async fn run(source: Source, habits: Habits, shared: Arc<Shared>, network: Network) {
    // Callers wait for the first attempt, and for that only: so it is over when they have to be answered.
    let bring_up = async || {
        let attempted = attempt(&source, &habits, &shared, &network).await;
        attempted.map_err(|error| shared.note(error)).ok()
    };
    let mut up = timeout(habits.first_attempt, bring_up()).await.ok().flatten();
    let mut why = "no connection in the time of a call";
    let mut pause = SHORTEST_PAUSE;
    let mut attempted = Duration::ZERO;
    loop {
        let mut is_slow = false;
        if let Some(wire) = up {
            let ended = shared.go_up(wire, &network);
            let came_up = Instant::now();
            is_slow = matches!(serve(ended, &habits, &shared).await, End::TooSlow);
            why = "the connection was lost";
            if came_up.elapsed() > LONGEST_PAUSE {
                pause = SHORTEST_PAUSE;
            }
            attempted = Duration::ZERO;
        }
        shared.go_down(why, is_slow);
        let next = async {
            let left = LONGEST_PAUSE.saturating_sub(attempted);
            sleep(jitter(pause.min(left.max(2 * SHORTEST_PAUSE)))).await;
            let began = Instant::now();
            (bring_up().await, began.elapsed())
        };
        tokio::select! {
            attempt = next => (up, attempted) = attempt,
            () = left(&shared) => return,
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Connects, and tries whether the server decides. If not, it says why.
async fn attempt(
    source: &Source,
    habits: &Habits,
    shared: &Shared,
    network: &Network,
) -> Result<Wire, String> {
    let connects = habits.timeout.saturating_mul(4).clamp(CONNECTS, LONGEST_ATTEMPT);
    let connecting = timeout(connects, source.connect(network)).await;
    let connected = connecting.map_err(|_| format!("no connection within {connects:?}"))?;
    let mut wire = connected.map_err(|error| source.shown(&error))?;
    if shared.state() != LinkState::Starting {
        shared.set(LinkState::Probing);
    }
    let probing = habits.probe.run(&mut wire);
    let probed = timeout(habits.timeout.clamp(SHORTEST_PAUSE, LONGEST_ATTEMPT), probing).await;
    let probed = probed.map_err(|_| "connected, but the first write was not answered in time")?;
    let nodes = probed.map_err(|error| source.shown(&error))?;
    // A server that has forgotten who uses it learns that anew, from one after the other: until the next heartbeat, no fewer
    // are counted than before.
    shared.nodes.fetch_max(nodes, Relaxed);
    Ok(wire)
}

/// Until nobody uses the link any more.
async fn left(shared: &Shared) {
    while !shared.is_left() {
        shared.task.notified().await;
    }
}

/// Why a connection is not served any more.
enum End {
    /// It is gone, or of no use.
    Broken,
    /// Answers may still come.
    TooSlow,
    /// Nobody uses the link.
    Left,
}

/// Looks after the link, until it is of no use, or of none to anybody.
async fn serve(mut ended: JoinHandle<()>, habits: &Habits, shared: &Arc<Shared>) -> End {
    let mut beats = interval(HEARTBEAT);
    // Processes often start together.
    let is_first = shared.connected.load(Relaxed) == 1;
    beats.reset_after(if is_first { FIRST_HEARTBEAT } else { HEARTBEAT });
    let mut beat = None;
    while !shared.is_left() {
        let (alarm, is_blocked) = {
            let line = shared.line();
            (line.alarm(), line.is_blocked())
        };
        tokio::select! {
            biased;
            _ = &mut ended => return End::Broken,
            () = shared.task.notified() => {}
            () = until(alarm) => {
                if shared.line().ring(Instant::now()) {
                    shared.note("several calls in a row were not answered in time");
                    return End::TooSlow;
                }
            }
            written = poll_fn(|context| shared.line().write(context)), if is_blocked => {
                if written.is_err() {
                    return End::Broken;
                }
            }
            answer = answered(&mut beat) => {
                beat = None;
                match answer.map(u32::from_redis_value) {
                    Ok(Ok(nodes)) => shared.nodes.store(nodes, Relaxed),
                    Err(Failure::Refused(_)) => {}
                    Ok(Err(_)) => return End::Broken,
                    Err(failure) => {
                        shared.note(failure.to_string());
                        return End::TooSlow;
                    }
                }
            }
            _ = beats.tick() => beat = Some(habits.probe.beat(shared)),
        }
    }
    // What was asked without waiting for it still goes out.
    let idle = async {
        while !shared.line().is_idle() {
            sleep(Duration::from_millis(1)).await;
        }
    };
    _ = timeout(habits.timeout, idle).await;
    End::Left
}

async fn until(alarm: Option<Instant>) {
    match alarm {
        Some(alarm) => sleep_until(alarm).await,
        None => pending().await,
    }
}

async fn answered(beat: &mut Option<oneshot::Receiver<Answer>>) -> Result<Value, Failure> {
    match beat {
        Some(answer) => answer
            .await
            .map_or(Err(Failure::Disconnected), |answer| answer.take().map_err(|none| none.failure)),
        None => pending().await,
    }
}

/// Anything from the shortest pause to `most`, so that processes do not come back all at once.
fn jitter(most: Duration) -> Duration {
    let random = RandomState::new().hash_one(0);
    let range = u64::try_from(most.saturating_sub(SHORTEST_PAUSE).as_micros()).unwrap_or(u64::MAX);
    SHORTEST_PAUSE + Duration::from_micros(random % range.saturating_add(1))
}
