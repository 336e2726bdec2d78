//! The room in which all lines of the process are, and how a line moves on.

use std::{collections::HashMap, task::Waker};

use super::{
    line::{Line, LineId},
    ticket::{Number, Ticket},
};
use crate::{
    budget::Cause,
    denied::{RateLimited, Reason},
    sync::{Mutex, lock},
};

#[derive(Default)]
pub(super) struct Room {
    pub(super) lines: HashMap<LineId, Line>,
    pub(super) tickets: HashMap<Number, Ticket>,
    next_number: u64,
}

/// Wakers to be called, or only dropped, once the room is left: either may run a task, which may come here.
#[derive(Default)]
pub(super) struct Afterwards {
    wake: Vec<Waker>,
    drop: Vec<Waker>,
}

impl Afterwards {
    pub(super) fn wake(&mut self, waker: Option<Waker>) {
        self.wake.extend(waker);
    }

    pub(super) fn drop(&mut self, waker: Option<Waker>) {
        self.drop.extend(waker);
    }
}

#[cfg(not(all(test, ratelimit_loom)))]
static ROOM: std::sync::LazyLock<Mutex<Room>> = std::sync::LazyLock::new(|| Mutex::new(Room::default()));

#[cfg(all(test, ratelimit_loom))]
loom::lazy_static! {
    static ref ROOM: Mutex<Room> = Mutex::new(Room::default());
}

/// Acts in the room, alone, and wakes those whom that concerns when it is left.
pub(super) fn enter<R>(act: impl FnOnce(&mut Room, &mut Afterwards) -> R) -> R {
    let mut later = Afterwards::default();
    let result = act(&mut lock(&ROOM), &mut later);
    later.wake.into_iter().for_each(Waker::wake);
    result
}

impl Room {
    /// Puts a ticket behind all others in each of its lines.
    pub(super) fn stand_in_line(&mut self, mut ticket: Ticket, forecast: Option<u64>) -> Number {
        let number = Number(self.next_number);
        self.next_number += 1;
        for stand in ticket.stands() {
            let line = self.lines.entry(stand.line).or_insert_with(|| Line::new(stand));
            line.queue.push_back(number);
            if let Some(end) = &mut line.end {
                end.append(forecast, &stand.demand);
            }
        }
        (ticket.forecast, ticket.ready_at) = (forecast, forecast);
        self.tickets.insert(number, ticket);
        number
    }

    /// Admits whoever is first in all of its lines and finds room in all of their budgets, until nobody is left who
    /// could be.
    pub(super) fn advance(&mut self, mut lines: Vec<LineId>, now: u64, later: &mut Afterwards) {
        while let Some(id) = lines.pop() {
            while let Some(number) = self.first_of(id) {
                let Some(ticket) = self.tickets.get_mut(&number) else { break };
                match ticket.charge(now) {
                    Ok(()) => {
                        lines.extend(ticket.lines());
                        self.admit(number, now, later);
                    }
                    Err(Cause::CostExceedsCapacity) if !ticket.surely => {
                        lines.extend(ticket.lines());
                        let Some(limited) = ticket.denial(Reason::CostExceedsCapacity, None, now) else {
                            break;
                        };
                        self.close(number, Err(limited), now, later);
                    }
                    Err(_) => {
                        ticket.ready_at = ticket.admissible_at(now);
                        // Its waiter must look earlier than it meant to.
                        if ticket
                            .alarm
                            .is_none_or(|alarm| ticket.ready_at.is_some_and(|ready_at| ready_at < alarm))
                        {
                            later.wake(ticket.waker.take());
                        }
                        break;
                    }
                }
            }
        }
    }

    /// The first ticket of a line, if it is first in its other lines as well.
    fn first_of(&self, id: LineId) -> Option<Number> {
        let number = *self.lines.get(&id)?.queue.front()?;
        self.is_first(number).then_some(number)
    }

    pub(super) fn is_first(&self, number: Number) -> bool {
        self.tickets.get(&number).is_some_and(|ticket| {
            let mut lines = ticket.stands().iter().map(|stand| self.lines.get(&stand.line));
            lines.all(|line| line.is_some_and(|line| line.is_first(number)))
        })
    }

    /// A ticket has been charged.
    fn admit(&mut self, number: Number, now: u64, later: &mut Afterwards) {
        let Some(ticket) = self.tickets.get(&number) else { return };
        let foreseen = ticket.forecast;
        for stand in ticket.stands() {
            let Some(line) = self.lines.get_mut(&stand.line) else { continue };
            let as_foreseen = match (&line.end, foreseen) {
                (Some(end), Some(foreseen)) => end.counts_alike(foreseen, now),
                _ => false,
            };
            line.queue.pop_front();
            if !as_foreseen {
                line.end = None;
            }
        }
        self.close(number, Ok(()), now, later);
    }

    /// A ticket's wait is over: it leaves its lines, and its waiter is woken to hear how it ended.
    pub(super) fn close(
        &mut self,
        number: Number,
        outcome: Result<(), RateLimited>,
        now: u64,
        later: &mut Afterwards,
    ) {
        let Some(ticket) = self.tickets.get_mut(&number) else { return };
        ticket.outcome = Some(outcome);
        later.wake(ticket.waker.take());
        for id in ticket.leave() {
            self.leave_line(id, number, now);
        }
    }

    pub(super) fn leave_line(&mut self, id: LineId, number: Number, now: u64) {
        let Some(line) = self.lines.get_mut(&id) else { return };
        line.remove(number);
        self.close_if_empty(id, now);
    }

    /// What was foreseen for these lines holds no more.
    pub(super) fn upset(&mut self, lines: &[LineId]) {
        for id in lines {
            if let Some(line) = self.lines.get_mut(id) {
                line.end = None;
            }
        }
    }

    /// Opens a budget to everybody again if nobody is in line for it.
    pub(super) fn close_if_empty(&mut self, id: LineId, now: u64) {
        if let Some(line) = self.lines.get(&id)
            && line.queue.is_empty()
        {
            line.close(now);
            self.lines.remove(&id);
        }
    }
}
