//! When those in line will be admitted, if nothing else happens.
//!
//! Each line keeps how its budget will stand once all in it are admitted, so that a call which joins learns its time
//! at once. What makes that inexact (a ticket that leaves, a refund, a change, an admission at another time than foreseen)
//! marks the line and all that hang together with it by common tickets. The next who has to know exactly has them worked
//! out anew; who joins and may wait longer than that need not, so that many can come and go in a long line.

use std::collections::{BTreeSet, HashSet};

use super::{
    afterwards::Afterwards,
    line::{LineId, Number},
    room::Room,
    ticket::{Stand, Ticket},
};
use crate::denied::RateLimited;

impl Room {
    /// When a call with these stands would be admitted behind all in line, and not later; `None`: no time can be given.
    ///
    /// It is exact if the lines' forecasts are up to date.
    pub(super) fn ready_behind(&self, stands: &[Stand], now: u64) -> Option<u64> {
        stands.iter().try_fold(now, |latest, stand| {
            let ready_at = match self.lines.get(&stand.line) {
                Some(line) => line.end.as_ref()?.ready_at(now, &stand.demand)?,
                None => stand.limit.budgets.ready_at(stand.line.place, now, &stand.demand)?,
            };
            Some(latest.max(ready_at))
        })
    }

    /// Moves lines on, brings their forecasts up to date, and turns away those who would wait in vain.
    pub(super) fn settle(&mut self, mut lines: Vec<LineId>, now: u64, later: &mut Afterwards) {
        loop {
            self.advance(lines.clone(), now, later);
            let left = self.foresee(&lines, now, later);
            if left.is_empty() {
                return;
            }
            lines.extend(left);
        }
    }

    /// Works out anew what is not up to date, and gives the lines that somebody has been turned away from.
    fn foresee(&mut self, lines: &[LineId], now: u64, later: &mut Afterwards) -> Vec<LineId> {
        let outdated = |id: &LineId| self.lines.get(id).is_some_and(|line| !line.is_up_to_date());
        if !lines.iter().any(outdated) {
            return Vec::new();
        }
        let (lines, tickets) = self.connected(lines);
        for id in &lines {
            if let Some(line) = self.lines.get_mut(id) {
                line.restart_forecast(now);
            }
        }
        let in_vain: Vec<_> =
            tickets.into_iter().filter_map(|number| self.foresee_ticket(number, now)).collect();
        let mut left = Vec::new();
        for (number, limited) in in_vain {
            left.extend(self.tickets.get(&number).map(Ticket::lines).unwrap_or_default());
            self.close(number, Err(limited), now, later);
        }
        left
    }

    /// All lines that hang together with these by common tickets, and the tickets in their order.
    fn connected(&self, lines: &[LineId]) -> (HashSet<LineId>, BTreeSet<Number>) {
        let (mut known, mut tickets) = (HashSet::new(), BTreeSet::new());
        let mut next = lines.to_vec();
        while let Some(id) = next.pop() {
            let Some(line) = self.lines.get(&id).filter(|_| known.insert(id)) else { continue };
            for number in line.numbers() {
                if tickets.insert(number)
                    && let Some(ticket) = self.tickets.get(&number)
                {
                    next.extend(ticket.lines());
                }
            }
        }
        (known, tickets)
    }

    /// Appends a ticket to the forecasts of its lines; gives its denial, and appends nothing, if it waits in vain.
    fn foresee_ticket(&mut self, number: Number, now: u64) -> Option<(Number, RateLimited)> {
        let ticket = self.tickets.get(&number)?;
        let forecast = self.ready_behind(ticket.stands(), now);
        if let Some(reason) = ticket.waits_in_vain(forecast, now) {
            return Some((number, ticket.denial(reason, forecast, now)?));
        }
        let ticket = self.tickets.get_mut(&number)?;
        ticket.forecast = forecast;
        let turn = ticket.foreseen_turn();
        for stand in ticket.stands() {
            if let Some(end) = self.lines.get_mut(&stand.line).and_then(|line| line.end.as_mut()) {
                end.append(forecast, turn, &stand.demand);
            }
        }
        None
    }
}
