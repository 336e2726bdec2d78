//! One request and its answer.

use std::{future::Future, pin::Pin, sync::Arc};

use redis::{ErrorKind, RedisError, RedisResult, ServerErrorKind, Value, aio::MultiplexedConnection, cmd};
use tokio::{sync::oneshot, time::timeout_at};

use super::{Failure, Request, Undo};
use crate::scripts::Script;

/// What a request tells about the link.
pub(super) enum Outcome {
    /// The server decides.
    Answered,
    /// The server has not answered yet. What is left to do when it does.
    TimedOut(Pin<Box<dyn Future<Output = ()> + Send>>),
    /// The link is of no use.
    Broken,
}

pub(super) async fn exchange(connection: MultiplexedConnection, request: Request) -> Outcome {
    let Request { script, key, arguments, deadline, answer, asking, undo } = request;
    let taking_back =
        TakingBack { connection: connection.clone(), script: Arc::clone(&script), key: key.clone(), undo };
    let mut reply = Box::pin(async move { ask(connection, &script, &key, &arguments, asking).await });
    let Ok(reply) = timeout_at(deadline, &mut reply).await else {
        _ = tell(answer, Err(Failure::Timeout));
        return Outcome::TimedOut(Box::pin(async move {
            if let Ok(value) = reply.await {
                taking_back.run(&value, true).await;
            }
        }));
    };
    match reply {
        Ok(value) => {
            if let Err(Ok(value)) = tell(answer, Ok(value)) {
                taking_back.run(&value, false).await;
            }
            Outcome::Answered
        }
        Err(error) => {
            let breaks = breaks_link(&error);
            _ = tell(answer, Err(failure(&error)));
            if breaks { Outcome::Broken } else { Outcome::Answered }
        }
    }
}

/// Gives the answer back if nobody is there to take it.
fn tell(
    to: Option<oneshot::Sender<Result<Value, Failure>>>,
    answer: Result<Value, Failure>,
) -> Result<(), Result<Value, Failure>> {
    to.map_or(Ok(()), |to| to.send(answer))
}

struct TakingBack {
    connection: MultiplexedConnection,
    script: Arc<Script>,
    key: Vec<u8>,
    undo: Option<Undo>,
}

impl TakingBack {
    async fn run(self, value: &Value, timed_out: bool) {
        let Self { connection, script, key, undo } = self;
        let undo = undo.filter(|undo| undo.after_timeout || !timed_out);
        if let Some(arguments) = undo.and_then(|undo| (undo.arguments)(value)) {
            _ = ask(connection, &script, &key, &arguments, false).await;
        }
    }
}

/// A server that does not know the script has not run it, and is told the whole of it once.
pub(super) async fn ask(
    mut connection: MultiplexedConnection,
    script: &Script,
    key: &[u8],
    arguments: &[String],
    asking: bool,
) -> RedisResult<Value> {
    if asking {
        let mut both = redis::pipe();
        both.add_command(cmd("ASKING")).ignore().add_command(script.by_code(key, arguments));
        let (value,) = both.query_async(&mut connection).await?;
        return Ok(value);
    }
    match connection.send_packed_command(&script.by_hash(key, arguments)).await.and_then(Value::extract_error)
    {
        Err(error) if error.kind() == ErrorKind::Server(ServerErrorKind::NoScript) => {
            connection.send_packed_command(&script.by_code(key, arguments)).await?.extract_error()
        }
        reply => reply,
    }
}

fn failure(error: &RedisError) -> Failure {
    let node = || error.redirect_node().map(|(address, _)| Box::from(address));
    match error.kind() {
        ErrorKind::Server(ServerErrorKind::Moved) => node().map_or(Failure::Disconnected, Failure::Moved),
        ErrorKind::Server(ServerErrorKind::Ask) => node().map_or(Failure::Disconnected, Failure::Ask),
        _ if error.is_io_error() => Failure::Disconnected,
        _ => Failure::Refused(error.to_string()),
    }
}

/// Whether no request would fare better: the connection is gone, or the server does not decide about anything.
pub(super) fn breaks_link(error: &RedisError) -> bool {
    let does_not_decide = matches!(
        error.kind(),
        ErrorKind::Server(
            ServerErrorKind::ReadOnly
                | ServerErrorKind::BusyLoading
                | ServerErrorKind::MasterDown
                | ServerErrorKind::ClusterDown
                | ServerErrorKind::NoPerm
        ) | ErrorKind::AuthenticationFailed
    );
    does_not_decide
        || error.is_io_error()
        || error.is_unrecoverable_error()
        || matches!(error.code(), Some("BUSY" | "NOAUTH" | "OOM" | "MISCONF"))
}
