//! What an answer is to those who wait for it.

use std::{
    mem,
    sync::{Arc, Mutex, PoisonError},
};

use redis::{ErrorKind, RedisError, ServerErrorKind, Value};

use super::{Failure, Request, Shared, Undo, line::Train, shown};
use crate::scripts;

/// What has come of a request, on its way to who has asked. If nobody takes it, what was done is undone: also if the caller
/// goes when it is there already.
pub(crate) struct Answer {
    outcome: Result<Value, Failure>,
    /// What was asked, if it can be undone.
    asked: Option<(Arc<Shared>, Request)>,
    /// What comes of it later, if that has to be undone for one who does not take this.
    late: Option<Arc<Late>>,
}

/// What is done for a caller who was given up. It is undone if he never learns that.
#[derive(Default)]
pub(super) struct Late(Mutex<Told>);

#[derive(Default)]
enum Told {
    #[default]
    NotYet,
    /// And meanwhile this was done.
    DoneBefore(Answer),
    Taken,
    Gone,
}

impl Answer {
    pub(crate) fn take(mut self) -> Result<Value, Failure> {
        self.asked = None;
        if let Some(late) = self.late.take() {
            late.tell(Told::Taken);
        }
        mem::replace(&mut self.outcome, Err(Failure::Disconnected))
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        if let Some(late) = self.late.take() {
            late.tell(Told::Gone);
        }
        if let Some((shared, asked)) = self.asked.take()
            && let Ok(value) = &self.outcome
            && let Some(order) = scripts::undoing(&asked.order, value)
        {
            let undoing =
                Request { order, answer: None, late: None, asking: false, undo: Undo::Never, ..asked };
            _ = shared.enter(undoing);
        }
    }
}

impl Late {
    fn replace(&self, told: Told) -> Told {
        mem::replace(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner), told)
    }

    /// The caller knows, or never will.
    fn tell(&self, told: Told) {
        let keeps = matches!(told, Told::Taken);
        if let Told::DoneBefore(answer) = self.replace(told)
            && keeps
        {
            _ = answer.take();
        }
    }

    fn done(&self, answer: Answer) {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match *told {
            Told::NotYet => *told = Told::DoneBefore(answer),
            Told::Taken => {
                drop(told);
                _ = answer.take();
            }
            // Dropping the answer undoes it, which takes another lock.
            Told::Gone | Told::DoneBefore(_) => drop(told),
        }
    }
}

/// Hands an answer to those whom it is for, and says whether the link is of use.
pub(super) fn hand_over(shared: &Arc<Shared>, answer: Value) -> bool {
    // Nothing was asked that this could answer.
    let Some(train) = shared.arrive() else { return false };
    if train.0.is_empty() {
        return true;
    }
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
    share_out(shared, train, answer)
}

/// Gives each of a train what the server says of it, and says whether the link is of use.
pub(super) fn share_out(shared: &Arc<Shared>, train: Train, answer: Value) -> bool {
    let answers = match answer {
        Value::Array(answers) if train.0.len() > 1 => answers,
        // One that is alone is told bare.
        answer => vec![answer],
    };
    let mut of_use = answers.len() == train.0.len();
    if of_use {
        for (request, answer) in train.0.into_iter().zip(answers) {
            match answer.extract_error() {
                Ok(value) => request.succeed(shared, value),
                // Of many decisions, one may have failed without the others.
                Err(error) => {
                    of_use &= is_of_use(shared, &error);
                    request.fail(failure(&error));
                }
            }
        }
    }
    of_use
}

impl Request {
    /// Tells the caller that there is no answer for him. One may come all the same.
    pub(super) fn give_up(&mut self, failure: Failure) {
        if let Some(caller) = self.answer.take() {
            self.late = (self.undo == Undo::IfDropped).then(Arc::default);
            _ = caller.send(Answer { outcome: Err(failure), asked: None, late: self.late.clone() });
        }
    }

    fn fail(self, failure: Failure) {
        if let Some(caller) = self.answer {
            _ = caller.send(Answer { outcome: Err(failure), asked: None, late: None });
        }
    }

    fn succeed(mut self, shared: &Arc<Shared>, value: Value) {
        let (caller, late) = (self.answer.take(), self.late.take());
        let asked = (self.undo != Undo::Never).then(|| (Arc::clone(shared), self));
        let answer = Answer { outcome: Ok(value), asked, late: None };
        match (caller, late) {
            (Some(caller), _) => _ = caller.send(answer),
            (None, Some(late)) => late.done(answer),
            (None, None) => {}
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
