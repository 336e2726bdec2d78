//! Those who wait for permits, in their lines: first come, first served.
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

mod afterwards;
mod bell;
mod forecast;
mod line;
mod room;
mod terms;
mod ticket;
mod turn;

use std::task::Waker;

use ratelimit_spec::Mode;

use self::{line::LineId, room::enter};
pub(crate) use self::{line::Number, terms::Terms, turn::Standing};
use crate::{
    budget::Place,
    claim::{Claim, Role},
    demand::Demand,
    limit::Limit,
};

/// A call comes that was not admitted at once: it is admitted after all, turned away, or stands in line.
///
/// With a bell, `waker` is called when its turn has come, whoever finds that; a thread that sleeps looks by itself.
pub(crate) fn join(
    claims: &mut [Claim<'_>],
    terms: &Terms,
    with_bell: bool,
    now: u64,
    waker: &mut Option<Waker>,
) -> Standing {
    enter(|room, later| room.join(claims, terms, with_bell, now, waker, later))
}

/// A call in line looks whether its turn has come.
pub(crate) fn look(
    ticket: Number,
    claims: &mut [Claim<'_>],
    now: u64,
    waker: &mut Option<Waker>,
) -> Standing {
    enter(|room, later| room.look(ticket, claims, now, waker, later))
}

/// A call in line is dropped. What it was granted and has not heard of yet is given back.
pub(crate) fn leave(ticket: Number, now: u64) {
    enter(|room, later| room.leave(ticket, now, later));
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

/// How a ticket's wait has ended, if it has.
#[cfg(test)]
pub(crate) fn outcome(ticket: Number) -> Option<Result<(), crate::denied::Reason>> {
    let outcome = enter(|room, _| room.tickets[&ticket].outcome.clone());
    outcome.map(|outcome| outcome.map_err(|limited| limited.reason))
}
