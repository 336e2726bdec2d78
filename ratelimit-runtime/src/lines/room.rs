//! The room in which all lines of the process are, and how a line moves on.

use std::{
    collections::{HashMap, HashSet},
    hash::Hash,
};

use super::{
    afterwards::Afterwards,
    line::{Line, LineId, Number},
    ticket::Ticket,
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
    /// The lines of a ticket that comes, for which their budgets stay barred even if the lines end meanwhile.
    pub(super) coming: Vec<LineId>,
    next_number: u64,
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
    later.carry_out();
    result
}

impl Room {
    /// Puts a ticket behind all others in each of its lines.
    pub(super) fn stand_in_line(
        &mut self,
        mut ticket: Ticket,
        forecast: Option<u64>,
        with_bell: bool,
        now: u64,
    ) -> Number {
        let number = Number(self.next_number);
        self.next_number += 1;
        if with_bell {
            ticket.hang_bell(number);
        }
        (ticket.forecast, ticket.ready_at) = (forecast, forecast);
        let turn = ticket.foreseen_turn();
        for stand in ticket.stands() {
            let line = self
                .lines
                .entry(stand.line)
                .or_insert_with(|| Line::new(stand.limit.clone(), stand.line.place, now));
            line.push(number, &stand.demand);
            if let Some(end) = &mut line.end {
                end.append(forecast, turn, &stand.demand);
            }
        }
        let lines = ticket.lines();
        self.tickets.insert(number, ticket);
        self.mark_alike(&lines);
        number
    }

    /// Admits whoever is first in all of its lines and finds room in all of their budgets, until nobody is left who
    /// could be. Those for whom somebody in these lines waits elsewhere are moved on as well.
    pub(super) fn advance(&mut self, mut lines: Vec<LineId>, now: u64, later: &mut Afterwards) {
        let mut held_up = HashSet::new();
        while let Some(id) = lines.pop() {
            while let Some(number) = self.front_of(id) {
                let elsewhere = self.lines_ahead_of(number);
                if !elsewhere.is_empty() {
                    if held_up.insert(number) {
                        lines.extend(elsewhere);
                    }
                    break;
                }
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
                        let left = ticket.lines();
                        self.close(number, Err(limited), now, later);
                        self.upset(&left);
                    }
                    Err(_) => {
                        ticket.ready_at = ticket.admissible_at(now);
                        if ticket.must_look_earlier() {
                            ticket.set_alarm(now, ticket.ready_at, later);
                            // It may have a better timer at hand than who comes by here.
                            later.wake(ticket.waker.take());
                        }
                        break;
                    }
                }
            }
        }
    }

    fn front_of(&self, id: LineId) -> Option<Number> {
        self.lines.get(&id)?.first()
    }

    /// The lines of a ticket in which others stand before it.
    fn lines_ahead_of(&self, number: Number) -> Vec<LineId> {
        let Some(ticket) = self.tickets.get(&number) else { return Vec::new() };
        let ids = ticket.stands().iter().map(|stand| stand.line);
        ids.filter(|id| self.front_of(*id) != Some(number)).collect()
    }

    pub(super) fn is_first(&self, number: Number) -> bool {
        self.lines_ahead_of(number).is_empty()
    }

    /// A ticket has been charged.
    fn admit(&mut self, number: Number, now: u64, later: &mut Afterwards) {
        let Some(ticket) = self.tickets.get(&number) else { return };
        let foreseen = ticket.forecast;
        let (mut earlier, mut later_than_foreseen) = (Vec::new(), Vec::new());
        for stand in ticket.stands() {
            let Some(line) = self.lines.get_mut(&stand.line) else { continue };
            line.remove(number);
            match (&line.end, foreseen, ticket.charge_in(stand.line)) {
                (Some(end), Some(foreseen), Some(charge)) if end.holds_after(foreseen, now, charge) => {}
                (_, Some(foreseen), Some(charge)) if charge.at < foreseen => earlier.push(stand.line),
                _ => later_than_foreseen.push(stand.line),
            }
        }
        self.hasten(&earlier);
        self.upset(&later_than_foreseen);
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

    /// What was foreseen for these lines holds no more, nor for those that hang together with them by common tickets.
    pub(super) fn upset(&mut self, lines: &[LineId]) {
        self.mark(lines, Line::upset);
    }

    /// What was foreseen for these lines, and for those that hang together with them, can only come sooner.
    pub(super) fn hasten(&mut self, lines: &[LineId]) {
        self.mark(lines, Line::hasten);
    }

    /// Lines that hang together are marked together, so that who finds one marked need not look at the others.
    fn mark(&mut self, lines: &[LineId], mark: impl Fn(&mut Line) -> bool) {
        let mut lines = lines.to_vec();
        while let Some(id) = lines.pop() {
            let Some(line) = self.lines.get_mut(&id) else { continue };
            if mark(line) {
                let tickets = line.numbers().filter_map(|number| self.tickets.get(&number));
                lines.extend(tickets.filter(|ticket| ticket.stands().len() > 1).flat_map(Ticket::lines));
            }
        }
    }

    /// These lines hang together from now on.
    fn mark_alike(&mut self, lines: &[LineId]) {
        let of = |id: &LineId| self.lines.get(id);
        if lines.iter().filter_map(of).any(|line| line.end.is_none()) {
            self.upset(lines);
        } else if lines.iter().filter_map(of).any(|line| !line.is_up_to_date()) {
            self.hasten(lines);
        }
    }

    /// Opens a budget to everybody again if nobody is in line for it.
    pub(super) fn close_if_empty(&mut self, id: LineId, now: u64) {
        if self.lines.get(&id).is_some_and(Line::is_empty) {
            self.dissolve(id, now);
        }
    }

    /// Opens a budget to everybody again, and gives the line that was there.
    pub(super) fn dissolve(&mut self, id: LineId, now: u64) -> Option<Line> {
        let line = self.lines.remove(&id)?;
        if !self.coming.contains(&id) {
            line.close(now);
        }
        shrink(&mut self.lines);
        Some(line)
    }

    /// A ticket's waiter has heard how it ended, or is gone.
    pub(super) fn forget(&mut self, number: Number, later: &mut Afterwards) -> Option<Ticket> {
        let mut ticket = self.tickets.remove(&number)?;
        later.drop(ticket.waker.take());
        later.silence(ticket.bell.take());
        shrink(&mut self.tickets);
        Some(ticket)
    }
}

/// Gives memory back once a rush is over.
fn shrink<K: Eq + Hash, V>(map: &mut HashMap<K, V>) {
    const WORTH_SHRINKING: usize = 64;
    if map.capacity() > WORTH_SHRINKING && map.len() < map.capacity() / 8 {
        map.shrink_to(map.len() * 2);
    }
}
