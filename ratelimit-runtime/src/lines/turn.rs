//! One call in the room: it comes, it looks whether its turn has come, it leaves.

use std::{
    sync::Arc,
    task::{Wake, Waker},
};

use super::{
    afterwards::Afterwards,
    bell::Bell,
    line::{Line, LineId, Number},
    room::{Room, enter},
    terms::Terms,
    ticket::{Stand, Ticket},
};
use crate::{
    claim::{Claim, Role},
    denied::{RateLimited, Reason},
    limit::Limit,
};

/// How a call stands.
pub(crate) enum Standing {
    /// Its claims are charged.
    Admitted,
    Denied(RateLimited),
    /// In line, to be looked at again at `at`; `None`: not before it is woken.
    Waits {
        ticket: Number,
        at: Option<u64>,
    },
}

/// What is decided about a call that comes.
enum Decision {
    Charged,
    TurnedAway(RateLimited),
    Waits { forecast: Option<u64> },
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
        self.coming = ticket.lines();
        let decision = self.receive(&mut ticket, terms, now, later);
        self.coming.clear();
        match decision {
            Decision::Charged => {
                self.open_to_all(&ticket, now);
                ticket.hand_over(claims);
                Standing::Admitted
            }
            Decision::TurnedAway(limited) => {
                self.open_to_all(&ticket, now);
                Standing::Denied(limited)
            }
            Decision::Waits { forecast } => {
                ticket.stands().iter().for_each(|stand| stand.limit.counters.waited());
                ticket.waker = waker.take();
                let number = self.stand_in_line(ticket, forecast, with_bell, now);
                self.wait(number, now, later)
            }
        }
    }

    fn receive(&mut self, ticket: &mut Ticket, terms: &Terms, now: u64, later: &mut Afterwards) -> Decision {
        let lines = ticket.lines();
        self.advance(lines.clone(), now, later);
        if self.charge_at_once(ticket, now) {
            return Decision::Charged;
        }
        let forecast = self.ready_behind(ticket.stands(), now);
        let fits =
            self.full_line_of(ticket, terms).is_none() && self.full_bucket(ticket, terms, now).is_none();
        if fits && ticket.waits_in_vain(forecast, now).is_none() {
            return Decision::Waits { forecast };
        }
        // It is turned away only by what is exact, and with those gone who wait in vain themselves.
        self.settle(lines, now, later);
        if self.charge_at_once(ticket, now) {
            return Decision::Charged;
        }
        let forecast = self.ready_behind(ticket.stands(), now);
        match self.turn_away(ticket, forecast, terms, now) {
            Some(limited) => Decision::TurnedAway(limited),
            None => Decision::Waits { forecast },
        }
    }

    /// A call comes that does not wait: it is charged if nobody is in line before it and there is room.
    pub(super) fn charge(&mut self, claims: &mut [Claim<'_>], now: u64, later: &mut Afterwards) -> bool {
        let mut ticket = Ticket::new(claims, false, None, now);
        self.coming = ticket.lines();
        self.advance(ticket.lines(), now, later);
        let charged = self.charge_at_once(&mut ticket, now);
        self.coming.clear();
        self.open_to_all(&ticket, now);
        if charged {
            ticket.hand_over(claims);
        }
        charged
    }

    /// Charges a ticket that does not stand in line, unless others do.
    ///
    /// Since its lines were opened nobody else is charged, so what it finds now holds until it stands in them.
    fn charge_at_once(&self, ticket: &mut Ticket, now: u64) -> bool {
        let nobody_waits = ticket.stands().iter().all(|stand| !self.lines.contains_key(&stand.line));
        nobody_waits && ticket.charge(now).is_ok()
    }

    fn turn_away(
        &self,
        ticket: &Ticket,
        forecast: Option<u64>,
        terms: &Terms,
        now: u64,
    ) -> Option<RateLimited> {
        let in_vain = ticket.waits_in_vain(forecast, now);
        if in_vain != Some(Reason::CostExceedsCapacity)
            && let Some((full, joins_at)) = self.full_bucket(ticket, terms, now)
        {
            return Some(full.denial(Reason::Exceeded, Some(joins_at), now));
        }
        if let Some(reason) = in_vain {
            return ticket.denial(reason, forecast, now);
        }
        let full = self.full_line_of(ticket, terms)?;
        Some(full.denial(Reason::QueueFull, forecast, now))
    }

    fn full_line_of<'t>(&self, ticket: &'t Ticket, terms: &Terms) -> Option<&'t Stand> {
        let length = |id: &LineId| self.lines.get(id).map_or(0, Line::len);
        ticket.stands().iter().find(|stand| length(&stand.line) >= terms.max_waiters)
    }

    /// Where the call does not even fit in line, and when it would; of several, the one that frees last.
    fn full_bucket<'t>(&self, ticket: &'t Ticket, terms: &Terms, now: u64) -> Option<(&'t Stand, u64)> {
        if terms.surely {
            return None;
        }
        let joins_at = |stand: &'t Stand| {
            let waiting = self.lines.get(&stand.line).map_or(0, Line::waiting);
            let joins_at = stand.limit.budgets.joins_at(stand.line.place, now, waiting, &stand.demand)?;
            Some((stand, joins_at))
        };
        let full = ticket.stands().iter().filter_map(joins_at).filter(|(_, joins_at)| *joins_at > now);
        full.max_by_key(|(_, joins_at)| *joins_at)
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
        self.hasten(&lines);
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
        for number in line.numbers() {
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

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if let Some((ticket, now)) = self.heard() {
            enter(|room, later| room.ring(ticket, now, later));
        }
    }
}
