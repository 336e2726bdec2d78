//! What an answer is to those who wait for it.

use std::{
    mem,
    sync::{Arc, Mutex, PoisonError},
};

use ratelimit_runtime::StoreDoubt;
use redis::Value;

use super::{Failure, Request, Shared};
use crate::scripts;

/// What has come of a request, on its way to who has asked. If nobody takes it, what was done is undone: also if the caller
/// goes when it is there already.
pub(super) struct Answer {
    outcome: Result<Value, Unanswered>,
    /// What was asked, if it can be undone.
    asked: Option<(Arc<Shared>, Request)>,
}

/// There is no answer, or none yet.
pub(crate) struct Unanswered {
    pub(crate) failure: Failure,
    /// What the server may do all the same.
    pub(crate) doubt: Option<Doubt>,
}

/// What a server does for a caller who was given up: it is undone if this is dropped, unless it stands.
pub(crate) struct Doubt(Arc<Late>);

#[derive(Default)]
pub(super) struct Late(Mutex<Outcome>);

#[derive(Default)]
enum Outcome {
    #[default]
    Open,
    /// It was done, and nobody has said yet whether it stands.
    Done(Answer),
    Stands,
    Undone,
}

impl Answer {
    pub(super) fn take(mut self) -> Result<Value, Unanswered> {
        self.asked = None;
        mem::replace(&mut self.outcome, Ok(Value::Nil))
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        if let Some((shared, asked)) = self.asked.take()
            && let Ok(value) = &self.outcome
            && let Some(order) = scripts::undoing(&asked.order, value)
        {
            shared.send(Request { answer: None, late: None, asking: false, undoes: false, order, ..asked });
        }
    }
}

impl StoreDoubt for Doubt {
    fn stands(&self) {
        self.0.settle(Outcome::Stands);
    }
}

impl Drop for Doubt {
    fn drop(&mut self) {
        self.0.settle(Outcome::Undone);
    }
}

impl Late {
    /// Says whether it stands: the first word counts.
    fn settle(&self, outcome: Outcome) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(*known, Outcome::Open | Outcome::Done(_)) {
            let stands = matches!(outcome, Outcome::Stands);
            let before = mem::replace(&mut *known, outcome);
            // Undoing takes another lock.
            drop(known);
            if let Outcome::Done(answer) = before
                && stands
            {
                _ = answer.take();
            }
        }
    }

    fn done(&self, answer: Answer) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match *known {
            Outcome::Open => *known = Outcome::Done(answer),
            Outcome::Stands => _ = answer.take(),
            Outcome::Done(_) | Outcome::Undone => drop(known),
        }
    }
}

impl Request {
    /// Tells the caller that there is no answer for him. One may come all the same.
    pub(super) fn give_up(&mut self, failure: Failure) {
        if let Some(caller) = self.answer.take() {
            self.late = self.undoes.then(Arc::default);
            let doubt = self.late.clone().map(Doubt);
            _ = caller.send(Answer { outcome: Err(Unanswered { failure, doubt }), asked: None });
        }
    }

    pub(super) fn fail(self, failure: Failure) {
        if let Some(caller) = self.answer {
            _ = caller.send(Answer { outcome: Err(failure.into()), asked: None });
        }
    }

    pub(super) fn succeed(mut self, shared: &Arc<Shared>, value: Value) {
        let (caller, late) = (self.answer.take(), self.late.take());
        let asked = self.undoes.then(|| (Arc::clone(shared), self));
        let answer = Answer { outcome: Ok(value), asked };
        match (caller, late) {
            (Some(caller), _) => _ = caller.send(answer),
            (None, Some(late)) => late.done(answer),
            (None, None) => {}
        }
    }
}

impl From<Failure> for Unanswered {
    fn from(failure: Failure) -> Self {
        Self { failure, doubt: None }
    }
}
