//! What an answer is to those who wait for it.

use std::{
    mem,
    sync::{Arc, Mutex, PoisonError},
};

use redis::Value;

use super::{Failure, Request, Shared};
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
            let undoing = Request { order, answer: None, late: None, asking: false, undo: None, ..asked };
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

impl Request {
    /// Tells the caller that there is no answer for him. One may come all the same.
    pub(super) fn give_up(&mut self, failure: Failure) {
        if let Some(caller) = self.answer.take() {
            let stands = self.undo.is_some_and(|undo| !undo.is_due(&failure));
            self.late = stands.then(Arc::default);
            _ = caller.send(Answer { outcome: Err(failure), asked: None, late: self.late.clone() });
        }
    }

    pub(super) fn fail(self, failure: Failure) {
        if let Some(caller) = self.answer {
            _ = caller.send(Answer { outcome: Err(failure), asked: None, late: None });
        }
    }

    pub(super) fn succeed(mut self, shared: &Arc<Shared>, value: Value) {
        let (caller, late) = (self.answer.take(), self.late.take());
        let asked = self.undo.is_some().then(|| (Arc::clone(shared), self));
        let answer = Answer { outcome: Ok(value), asked, late: None };
        match (caller, late) {
            (Some(caller), _) => _ = caller.send(answer),
            (None, Some(late)) => late.done(answer),
            (None, None) => {}
        }
    }
}
