//! A call that waits for its permit: it is admitted at once, or stands in line until its turn comes.

mod blocking;
#[cfg(test)]
mod tests;

use std::{
    future::Future,
    mem,
    pin::Pin,
    task::{Context, Poll, Waker},
};

pub(crate) use self::blocking::block_on;
use crate::{
    claim::Claim,
    decision::{charge, count_admission},
    denied::RateLimited,
    lines::{self, Number, Standing, Terms},
    permit::Permit,
};

/// A call that waits for its permit. Nothing happens before the first poll.
pub(crate) struct Waiting<'a, const N: usize> {
    claims: [Claim<'a>; N],
    terms: Terms,
    stage: Stage,
    /// The thread sleeps by itself, and needs no alarm.
    blocks: bool,
}

#[derive(Clone, Copy)]
enum Stage {
    Start,
    /// Not admitted at once, and not in line yet.
    Refused,
    InLine(Number),
    Over,
}

/// What a look at a call's turn came to.
#[expect(clippy::large_enum_variant, reason = "taken apart where it is made")]
pub(crate) enum Turn<'a> {
    Over(Result<Permit<'a>, RateLimited>),
    /// To be looked at again at `at`, if nobody wakes it before; `None`: there is no such time.
    Waits {
        now: u64,
        at: Option<u64>,
    },
}

impl<'a, const N: usize> Waiting<'a, N> {
    pub(crate) fn new(mut claims: [Claim<'a>; N], terms: Terms) -> Self {
        for claim in &mut claims {
            claim.demand.waits = true;
        }
        Self { claims, terms, stage: Stage::Start, blocks: false }
    }

    /// Admits the call if it need not wait.
    pub(crate) fn admitted_at_once(&mut self) -> Option<Permit<'a>> {
        if !matches!(self.stage, Stage::Start) {
            return None;
        }
        self.stage = Stage::Refused;
        charge(&mut self.claims).then(|| self.admitted())
    }

    /// Looks whether the call's turn has come; if not, `waker` is called when somebody else finds that it has.
    pub(crate) fn turn(&mut self, waker: &Waker) -> Turn<'a> {
        if let Some(permit) = self.admitted_at_once() {
            return Turn::Over(Ok(permit));
        }
        let now = self.now();
        // Cloned before the room is entered, and what is left of it dropped after: both run code of the executor.
        let mut waker = Some(waker.clone());
        let Self { claims, terms, stage, blocks } = self;
        let standing = match *stage {
            Stage::Start | Stage::Refused => lines::join(claims, terms, !*blocks, now, &mut waker),
            Stage::InLine(ticket) => lines::look(ticket, claims, now, &mut waker),
            Stage::Over => return Turn::Waits { now, at: None },
        };
        match standing {
            Standing::Admitted => Turn::Over(Ok(self.admitted())),
            Standing::Denied(limited) => {
                self.stage = Stage::Over;
                Turn::Over(Err(limited))
            }
            Standing::Waits { ticket, at } => {
                self.stage = Stage::InLine(ticket);
                Turn::Waits { now, at }
            }
        }
    }

    /// Asks the limiter's own clock to wake at `at`; `false` if real time has to do it.
    fn wake_at(&self, at: u64, waker: &Waker) -> bool {
        self.claims.first().is_some_and(|claim| claim.limit.clock.wake_at(at, waker))
    }

    fn admitted(&mut self) -> Permit<'a> {
        self.stage = Stage::Over;
        count_admission(&self.claims);
        Permit::of(&self.claims)
    }

    /// All limits of a call share one clock: those of a stack are declared, and go by the system's. A precise reading is
    /// right for each of them.
    fn now(&self) -> u64 {
        self.claims.first().map_or(0, |claim| claim.limit.precise_now())
    }
}

impl<'a, const N: usize> Future for Waiting<'a, N> {
    type Output = Result<Permit<'a>, RateLimited>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match self.turn(context.waker()) {
            Turn::Over(decided) => Poll::Ready(decided),
            Turn::Waits { .. } => Poll::Pending,
        }
    }
}

impl<const N: usize> Drop for Waiting<'_, N> {
    fn drop(&mut self) {
        if let Stage::InLine(ticket) = mem::replace(&mut self.stage, Stage::Over) {
            lines::leave(ticket, self.now());
        }
    }
}
