//! One call in the room: it comes, it looks whether its turn has come, it leaves.

use std::task::Waker;

use super::{
    Terms,
    line::LineId,
    room::{Afterwards, Room},
    ticket::{Number, Ticket},
};
use crate::{
    claim::{Claim, Role},
    denied::{RateLimited, Reason},
    limit::Limit,
};

/// How a call stands.
pub(super) enum Standing {
    /// Its claims are charged.
    Admitted,
    Denied(RateLimited),
    /// In line, to be looked at again at `at`; `None`: not before it is woken.
    Waits {
        ticket: Number,
        at: Option<u64>,
    },
}

impl Room {
    /// A call comes that was not admitted at once: it is admitted after all, turned away, or stands in line.
    pub(super) fn join(
        &mut self,
        claims: &mut [Claim<'_>],
        terms: &Terms,
        with_bell: bool,
        now: u64,
        waker: &mut Option<Waker>,
        later: &mut Afterwards,
    ) -> Standing {
        let mut ticket = Ticket::new(claims, terms.surely, terms.deadline(now), now);
        if self.charge_at_once(&mut ticket, now, later) {
            ticket.hand_over(claims);
            return Standing::Admitted;
        }
        let forecast = self.ready_behind(ticket.stands(), now);
        if let Some(limited) = self.turn_away(&ticket, forecast, terms, now) {
            self.open_to_all(&ticket, now);
            return Standing::Denied(limited);
        }
        ticket.stands().iter().for_each(|stand| stand.limit.counters.waited());
        ticket.waker = waker.take();
        let number = self.stand_in_line(ticket, forecast, with_bell, now);
        self.wait(number, now, later)
    }

    /// A call comes that does not wait: it is charged if nobody is in line before it and there is room.
    pub(super) fn charge(&mut self, claims: &mut [Claim<'_>], now: u64, later: &mut Afterwards) -> bool {
        let mut ticket = Ticket::new(claims, false, None, now);
        let charged = self.charge_at_once(&mut ticket, now, later);
        if charged {
            ticket.hand_over(claims);
        } else {
            self.open_to_all(&ticket, now);
        }
        charged
    }

    /// Charges a ticket that does not stand in line, unless others do.
    ///
    /// Since its lines were opened nobody else is charged, so what it finds now holds until it stands in them.
    fn charge_at_once(&mut self, ticket: &mut Ticket, now: u64, later: &mut Afterwards) -> bool {
        let lines = ticket.lines();
        self.settle(lines.clone(), now, later);
        let nobody_waits = lines.iter().all(|id| !self.lines.contains_key(id));
        let charged = nobody_waits && ticket.charge(now).is_ok();
        if charged {
            self.open_to_all(ticket, now);
        }
        charged
    }

    fn turn_away(
        &self,
        ticket: &Ticket,
        forecast: Option<u64>,
        terms: &Terms,
        now: u64,
    ) -> Option<RateLimited> {
        if let Some(reason) = ticket.waits_in_vain(forecast) {
            return ticket.denial(reason, forecast, now);
        }
        let is_full =
            |id: &LineId| self.lines.get(id).map_or(0, |line| line.queue.len()) >= terms.max_waiters;
        let full = ticket.stands().iter().find(|stand| is_full(&stand.line))?;
        Some(full.denial(Reason::QueueFull, forecast, now))
    }

    /// The call looks whether its turn has come.
    pub(super) fn look(
        &mut self,
        number: Number,
        claims: &mut [Claim<'_>],
        now: u64,
        waker: &mut Option<Waker>,
        later: &mut Afterwards,
    ) -> Standing {
        if let Some(ticket) = self.tickets.get_mut(&number) {
            later.drop(ticket.waker.take());
        }
        self.move_on(number, now, later);
        let Some(ticket) = self.tickets.get_mut(&number) else { return Standing::Admitted };
        match ticket.outcome.take() {
            None => {
                ticket.waker = waker.take();
                self.wait(number, now, later)
            }
            Some(Ok(())) => {
                ticket.hand_over(claims);
                self.forget(number, later);
                Standing::Admitted
            }
            Some(Err(limited)) => {
                self.forget(number, later);
                Standing::Denied(limited)
            }
        }
    }

    /// A ticket's alarm rings.
    pub(super) fn ring(&mut self, number: Number, now: u64, later: &mut Afterwards) {
        self.move_on(number, now, later);
        if self.open_ticket(number).is_some() {
            self.wait(number, now, later);
        }
    }

    /// Moves on the lines of an open ticket. If its time should have come and has not, it gets a later one, or hears that
    /// it waits in vain.
    fn move_on(&mut self, number: Number, now: u64, later: &mut Afterwards) {
        let Some(ticket) = self.open_ticket(number) else { return };
        let lines = ticket.lines();
        self.advance(lines, now, later);
        let Some(ticket) = self.open_ticket(number) else { return };
        let overdue = ticket.forecast.is_some_and(|at| at <= now) && !self.is_first(number);
        let timed_out = ticket.deadline.is_some_and(|deadline| deadline <= now);
        if overdue || timed_out {
            let lines = ticket.lines();
            self.upset(&lines);
            self.settle(lines, now, later);
        }
    }

    fn open_ticket(&self, number: Number) -> Option<&Ticket> {
        self.tickets.get(&number).filter(|ticket| ticket.outcome.is_none())
    }

    /// When an open ticket is to be looked at again: when its budgets or those before it free, or its time is over.
    fn wait(&mut self, number: Number, now: u64, later: &mut Afterwards) -> Standing {
        let is_first = self.is_first(number);
        let Some(ticket) = self.tickets.get_mut(&number) else { return Standing::Admitted };
        let turn = if is_first { ticket.ready_at } else { ticket.forecast };
        ticket.set_alarm(now, turn.into_iter().chain(ticket.deadline).min(), later);
        Standing::Waits { ticket: number, at: ticket.alarm }
    }

    /// The call is dropped. What it was granted and has not heard of yet is given back.
    pub(super) fn leave(&mut self, number: Number, now: u64, later: &mut Afterwards) {
        let Some(mut ticket) = self.forget(number, later) else { return };
        let lines = match ticket.outcome {
            None => ticket.leave(),
            Some(Ok(())) => ticket.undo(now),
            Some(Err(_)) => Vec::new(),
        };
        for id in &lines {
            self.leave_line(*id, number, now);
        }
        self.upset(&lines);
        self.advance(lines, now, later);
    }

    /// A ticket that does not stand in line leaves budgets open to all, unless others stand there.
    fn open_to_all(&self, ticket: &Ticket, now: u64) {
        for stand in ticket.stands() {
            if !self.lines.contains_key(&stand.line) {
                stand.limit.budgets.close_line(stand.line.place, now);
            }
        }
    }

    pub(super) fn lines_of(&self, limit: &Limit) -> Vec<LineId> {
        self.lines.keys().filter(|id| id.belongs_to(limit)).copied().collect()
    }

    /// Dissolves a line: its tickets go on without that limit, and those that waited for nothing else are admitted.
    pub(super) fn release(&mut self, id: LineId, role: Role, now: u64, later: &mut Afterwards) {
        let Some(line) = self.dissolve(id, now) else { return };
        let mut others = Vec::new();
        for number in line.queue {
            let Some(ticket) = self.tickets.get_mut(&number) else { continue };
            ticket.release(id, role);
            others.extend(ticket.lines());
            // With no line left, nothing can refuse it.
            if ticket.stands().is_empty() && ticket.charge(now).is_ok() {
                self.close(number, Ok(()), now, later);
            }
        }
        self.upset(&others);
        self.advance(others, now, later);
    }
}
