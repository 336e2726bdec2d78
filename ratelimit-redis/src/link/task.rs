//! The task behind a link: connects, tries, serves, and begins again.

use std::{
    future::Future,
    hash::{BuildHasher, RandomState},
    sync::{Arc, atomic::Ordering::Relaxed},
    time::Duration,
};

use futures_util::{StreamExt as _, stream::FuturesUnordered};
use redis::{FromRedisValue as _, RedisResult, aio::MultiplexedConnection};
use tokio::{
    sync::mpsc,
    time::{Instant, interval, sleep, timeout},
};

use super::{
    LinkState, Request, Shared, Source,
    exchange::{Outcome, ask, breaks_link, exchange},
    source::Connected,
};
use crate::scripts::Script;

/// How a link is kept.
#[derive(Clone)]
pub(crate) struct Habits {
    /// How long a caller waits.
    pub(crate) timeout: Duration,
    /// How long callers wait for the first attempt to connect.
    pub(crate) first_attempt: Duration,
    /// The write that shows whether the server decides, and counts the processes that use it.
    pub(crate) probe: Arc<Probe>,
}

pub(crate) struct Probe {
    pub(crate) script: Script,
    pub(crate) key: Vec<u8>,
    /// The name of this process.
    pub(crate) process: String,
}

/// A process is counted anew as often.
const HEARTBEAT: Duration = Duration::from_secs(5);

/// And forgotten after that.
const FORGOTTEN: Duration = Duration::from_secs(16);

const LONGEST_CONNECT: Duration = Duration::from_secs(1);

/// After so many timeouts in a row the link is dropped.
const MOST_TIMEOUTS: u32 = 3;

/// A pause before another attempt is no shorter, and no longer: what comes back is in service within a second.
const SHORTEST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_millis(900);

impl Probe {
    async fn run(&self, connection: MultiplexedConnection) -> RedisResult<u32> {
        let arguments = [self.process.clone(), FORGOTTEN.as_millis().to_string()];
        let answer = ask(connection, &self.script, &self.key, &arguments, false).await?;
        Ok(u32::from_redis_value(answer)?)
    }
}

pub(super) async fn run(
    source: Source,
    habits: Habits,
    mut requests: mpsc::Receiver<Request>,
    shared: Arc<Shared>,
) {
    // Callers wait for the first attempt, and for that only: so it is over when they have to be answered.
    let mut up = timeout(habits.first_attempt, bring_up(&source, &habits, &shared)).await.ok().flatten();
    let mut pause = SHORTEST_PAUSE;
    loop {
        if let Some(connected) = up {
            shared.connected.fetch_add(1, Relaxed);
            shared.set(LinkState::Up);
            let came_up = Instant::now();
            let over = serve(connected, &habits, &mut requests, &shared).await;
            shared.set(LinkState::Down);
            if over {
                return;
            }
            if came_up.elapsed() > LONGEST_PAUSE {
                pause = SHORTEST_PAUSE;
            }
        }
        shared.set(LinkState::Down);
        let next = async {
            sleep(jitter(pause)).await;
            bring_up(&source, &habits, &shared).await
        };
        let Some(attempt) = refuse_during(&mut requests, next).await else { return };
        up = attempt;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Connects, and tries whether the server decides.
async fn bring_up(source: &Source, habits: &Habits, shared: &Shared) -> Option<Connected> {
    let connected = timeout(LONGEST_CONNECT, source.connect(LONGEST_CONNECT)).await.ok()?.ok()?;
    if shared.state() != LinkState::Starting {
        shared.set(LinkState::Probing);
    }
    let probing = habits.probe.run(connected.connection.clone());
    let nodes = timeout(habits.timeout.max(SHORTEST_PAUSE), probing).await.ok()?.ok();
    if nodes.is_none() {
        shared.set(LinkState::Down);
    }
    shared.nodes.store(nodes?, Relaxed);
    Some(connected)
}

/// Waits, and meanwhile refuses what may still arrive. `None`: nobody is left to send any.
async fn refuse_during<T>(
    requests: &mut mpsc::Receiver<Request>,
    wait: impl Future<Output = T>,
) -> Option<T> {
    tokio::pin!(wait);
    loop {
        tokio::select! {
            biased;
            done = &mut wait => return Some(done),
            // Dropped, which tells the caller.
            request = requests.recv() => drop(request?),
        }
    }
}

/// Sends what is asked until the link is of no use, or of none to anybody: then `true`.
async fn serve(
    connected: Connected,
    habits: &Habits,
    requests: &mut mpsc::Receiver<Request>,
    shared: &Shared,
) -> bool {
    let Connected { connection, mut broken } = connected;
    let mut under_way = FuturesUnordered::new();
    let mut late = FuturesUnordered::new();
    let mut beats = interval(HEARTBEAT);
    beats.reset();
    let mut heartbeat = FuturesUnordered::new();
    let mut timeouts = 0;
    let mut batch = Vec::with_capacity(64);
    loop {
        tokio::select! {
            received = requests.recv_many(&mut batch, 64) => {
                if received == 0 {
                    // What was asked without waiting for it still goes out.
                    _ = timeout(habits.timeout, async { while under_way.next().await.is_some() {} }).await;
                    return true;
                }
                under_way.extend(batch.drain(..).map(|request| exchange(connection.clone(), request)));
            }
            Some(outcome) = under_way.next() => match outcome {
                Outcome::Answered => timeouts = 0,
                Outcome::Broken => return false,
                Outcome::TimedOut(rest) => {
                    late.push(rest);
                    timeouts += 1;
                    if timeouts >= MOST_TIMEOUTS {
                        return false;
                    }
                }
            },
            Some(()) = late.next() => {}
            Some(nodes) = heartbeat.next() => match nodes {
                Ok(Ok(nodes)) => shared.nodes.store(nodes, Relaxed),
                Ok(Err(error)) if !breaks_link(&error) => {}
                _ => return false,
            },
            _ = beats.tick() => {
                heartbeat.push(timeout(HEARTBEAT / 2, habits.probe.run(connection.clone())));
            }
            _ = broken.changed() => return false,
        }
    }
}

/// Anything from the shortest pause to `most`, so that processes do not come back all at once.
fn jitter(most: Duration) -> Duration {
    let random = RandomState::new().hash_one(0);
    let range = u64::try_from(most.saturating_sub(SHORTEST_PAUSE).as_micros()).unwrap_or(u64::MAX);
    SHORTEST_PAUSE + Duration::from_micros(random % range.saturating_add(1))
}
