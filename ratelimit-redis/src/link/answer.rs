//! What an answer is to those who wait for it.

use std::{mem, sync::Arc};

use redis::{ErrorKind, RedisError, ServerErrorKind, Value};

use super::{Failure, Request, Shared, Undo, line::Train, shown};
use crate::scripts;

/// What a server has answered, on its way to who has asked. If nobody takes it, what was done is undone: also if the caller
/// goes when it is there already.
pub(crate) struct Answer {
    value: Value,
    /// What was asked, if it can be undone.
    asked: Option<(Arc<Shared>, Request)>,
}

impl Answer {
    pub(crate) fn take(mut self) -> Value {
        self.asked = None;
        mem::replace(&mut self.value, Value::Nil)
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        if let Some((shared, asked)) = self.asked.take()
            && let Some(order) = scripts::undoing(&asked.order, &self.value)
        {
            _ = shared.enter(Request { order, answer: None, asking: false, undo: Undo::Never, ..asked });
        }
    }
}

/// Hands an answer to those whom it is for, and says whether the link is of use.
pub(super) fn hand_over(shared: &Arc<Shared>, answer: Value) -> bool {
    // Nothing was asked that this could answer.
    let Some(train) = shared.arrive() else { return false };
    let Some(first) = train.0.first() else { return true };
    if let Value::ServerError(_) = answer {
        return match answer.extract_error() {
            Err(error) if error.kind() == ErrorKind::Server(ServerErrorKind::NoScript) => {
                shared.repeat(train);
                true
            }
            Err(error)
                if error.kind() == ErrorKind::Server(ServerErrorKind::CrossSlot) && train.0.len() > 1 =>
            {
                shared.take_apart(train);
                true
            }
            Err(error) => {
                let (failure, of_use) = (failure(&error), is_of_use(shared, &error));
                train.0.into_iter().for_each(|request| request.fail(failure.clone()));
                of_use
            }
            Ok(_) => false,
        };
    }
    if train.0.iter().any(|request| request.answer.is_some()) {
        shared.line().is_in_time();
    }
    if !first.script.takes_many {
        train.0.into_iter().for_each(|request| request.succeed(shared, answer.clone()));
        return true;
    }
    match answer {
        Value::Array(answers) if answers.len() == train.0.len() => each(shared, train, answers),
        _ => false,
    }
}

/// Of many decisions, one may have failed without the others.
fn each(shared: &Arc<Shared>, train: Train, answers: Vec<Value>) -> bool {
    let mut of_use = true;
    for (request, answer) in train.0.into_iter().zip(answers) {
        match answer {
            Value::ServerError(_) => {
                if let Err(error) = answer.extract_error() {
                    of_use &= is_of_use(shared, &error);
                    request.fail(failure(&error));
                }
            }
            answer => request.succeed(shared, answer),
        }
    }
    of_use
}

impl Request {
    pub(super) fn time_out(&mut self) {
        let told = self.answer.take().is_some_and(|answer| answer.send(Err(Failure::Timeout)).is_ok());
        if told && self.undo == Undo::IfDropped {
            self.undo = Undo::Never;
        }
    }

    fn fail(self, failure: Failure) {
        if let Some(answer) = self.answer {
            _ = answer.send(Err(failure));
        }
    }

    fn succeed(mut self, shared: &Arc<Shared>, value: Value) {
        let caller = self.answer.take();
        let asked = (self.undo != Undo::Never).then(|| (Arc::clone(shared), self));
        let answer = Answer { value, asked };
        if let Some(caller) = caller {
            _ = caller.send(Ok(answer));
        }
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

/// Whether the link still is. If not, it is noted why.
fn is_of_use(shared: &Shared, error: &RedisError) -> bool {
    let breaks_link = breaks_link(error);
    if breaks_link {
        shared.note(shown(error, &[]));
    }
    !breaks_link
}

/// Whether no request would fare better: the connection is gone, or the server does not decide about anything.
fn breaks_link(error: &RedisError) -> bool {
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
