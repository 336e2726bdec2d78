//! Waiting for a permit: first come, first served.
//!
//! Who cannot be admitted at once takes a ticket and stands in line at every budget that it needs. A budget with a line
//! is barred to everybody else ([`Cause::Queued`](crate::budget::Cause)), so nobody passes those who wait, and a ticket
//! is admitted once it is first in all of its lines and all of its budgets admit it together. It holds nothing before.
//!
//! Whoever comes by moves a line on, in the name of those who stand in it: the alarm of a waiter, a refund, a reset, a
//! change of the limit, a waiter that leaves. So a task that is not polled holds up nobody, and one that is dropped loses
//! nothing: what it was granted meanwhile is given back.
//!
//! All lines of the process are in one [room](room::Room) under one lock. It is taken to wait, and by those who meet a
//! line, never by a call that is decided without one. A budget's own lock may be taken under it, not the other way
//! round; no clock of a user is read and no waker is called while it is held.

mod bell;
mod blocking;
mod forecast;
mod line;
mod room;
#[cfg(test)]
mod tests;
mod ticket;
mod turn;

use std::{
    future::Future,
    mem,
    pin::Pin,
    task::{Context, Poll, Waker},
    time::Duration,
};

use ratelimit_spec::Mode;

pub(crate) use self::blocking::{block_on, block_on_future};
use self::{line::LineId, room::enter, ticket::Number, turn::Standing};
use crate::{
    algorithm::END_OF_TIME,
    budget::Place,
    claim::{Claim, Role, charge, count_admission},
    clock::nanos,
    demand::Demand,
    denied::RateLimited,
    limit::Limit,
    permit::Permit,
};

/// How a call waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Terms {
    /// The longest wait; `None`: as long as it takes.
    pub(crate) at_most: Option<Duration>,
    /// With so many in a line, the next is denied.
    pub(crate) max_waiters: usize,
    /// The call cannot be denied: what would be a denial waits until the limit is changed.
    pub(crate) surely: bool,
}

impl Terms {
    /// How many may stand in one line, unless said otherwise.
    pub(crate) const DEFAULT_MAX_WAITERS: usize = 1024;

    fn deadline(&self, now: u64) -> Option<u64> {
        self.at_most.map(|at_most| now.saturating_add(nanos(at_most)).min(END_OF_TIME))
    }
}

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
            Stage::Start | Stage::Refused => {
                enter(|room, later| room.join(claims, terms, !*blocks, now, &mut waker, later))
            }
            Stage::InLine(ticket) => enter(|room, later| room.look(ticket, claims, now, &mut waker, later)),
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
            let now = self.now();
            enter(|room, later| room.leave(ticket, now, later));
        }
    }
}

/// Charges a call that does not wait, if nobody is in line before it and there is room.
///
/// Elsewhere a line may seem to be there that somebody only looks for a place in. Here none comes or goes meanwhile.
pub(crate) fn charge_if_nobody_waits(claims: &mut [Claim<'_>]) -> bool {
    let now = claims.first().map_or(0, |claim| claim.limit.precise_now());
    enter(|room, later| room.charge(claims, now, later))
}

/// When a call that does not wait would be admitted behind those in line at `place`; `None`: no time can be given.
pub(crate) fn ready_behind(limit: &Limit, place: Place, demand: &Demand, now: u64) -> Option<u64> {
    let id = LineId::of(limit, place);
    enter(|room, later| {
        room.settle(vec![id], now, later);
        match room.lines.get(&id).and_then(|line| line.end.as_ref()) {
            Some(end) => end.ready_at(now, demand),
            None => limit.budgets.ready_at(place, now, demand),
        }
    })
}

/// A budget with a line has more room than was foreseen.
pub(crate) fn budget_emptied(limit: &Limit, place: Place, now: u64) {
    let line = vec![LineId::of(limit, place)];
    enter(|room, later| {
        room.hasten(&line);
        room.advance(line, now, later);
    });
}

/// A limit's rules or budgets are others now: all in line there are decided anew.
pub(crate) fn limit_changed(limit: &Limit, now: u64) {
    enter(|room, later| {
        let lines = room.lines_of(limit);
        room.upset(&lines);
        room.settle(lines, now, later);
    });
}

/// A limit is enforced no more: nobody waits for it any longer.
pub(crate) fn limit_released(limit: &Limit, mode: Mode, now: u64) {
    let role = match mode {
        Mode::Off => Role::Free,
        Mode::Shadow => Role::Shadow,
        Mode::Enforce => return,
    };
    enter(|room, later| {
        for id in room.lines_of(limit) {
            room.release(id, role, now, later);
        }
    });
}
