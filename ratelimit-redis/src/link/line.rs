//! What waits to be sent, and what is under way.
//!
//! Whoever has a request puts it in line, and sends what waits there if it may leave. It may while fewer than
//! [`MOST_TRAINS`] are under way: so a request on an idle link leaves at once, by its caller's own hand, and under load
//! each answer sends off all that has come meanwhile, as one train: many decisions for one call of the script. Answers
//! come in the order of the trains. Whoever waits is told of a timeout by the link's task, which sets its alarm for the
//! first, and is woken to set it again only for a request that has less time than any before it.

use std::{
    collections::VecDeque,
    io, mem,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker, ready},
    time::Duration,
};

use tokio::{io::AsyncWrite as _, task::AbortHandle, time::Instant};

use super::{Failure, Request, wire::Writer};
use crate::resp;

/// Requests that may wait to be sent. More are refused.
const CAPACITY: usize = 16 * 1024;

/// Of those that nobody waits for, so many are kept while there is no connection.
const MOST_KEPT: usize = 1024;

/// So many connections are still listened to that were too slow.
const MOST_GIVEN_UP: usize = 8;

/// So many trains may be under way, and each may take so many requests.
const MOST_TRAINS: usize = 4;
const MOST_IN_TRAIN: usize = 64;

/// After so many timeouts in a row the link is dropped.
const MOST_TIMEOUTS: u32 = 3;

pub(super) struct Line {
    waiting: VecDeque<Request>,
    track: Track,
    /// Connections that were too slow, the last ones. What they answer may have to be undone.
    given_up: VecDeque<Open>,
    /// When the task looks for those whose time is over.
    alarm: Option<Instant>,
    /// Whether anything was asked since it last did.
    used: bool,
    /// In a row.
    timeouts: u32,
    timeout: Duration,
    /// Whether keys may be decided about together, which in a Cluster may lie on different servers.
    mixes_keys: bool,
}

enum Track {
    /// The first attempt to connect is under way.
    Awaited,
    Open(Open),
    Closed,
}

/// A connection, and what is under way on it.
struct Open {
    number: u32,
    writer: Writer,
    _reading: Reading,
    trains: VecDeque<Train>,
    unsent: Vec<u8>,
    /// Whether the connection holds nothing back of what it took.
    is_flushed: bool,
}

/// The task that reads what comes. It ends with the connection.
pub(super) struct Reading(pub(super) AbortHandle);

/// What an answer is for.
pub(super) enum Arrival {
    Train(Train),
    /// Something that was asked on a connection that was given up since.
    Late {
        train: Train,
        is_last: bool,
    },
    /// Nothing that was asked.
    Unexpected,
}

/// Requests that are answered together: several, if one script decides about them. None: what is answered is `ASKING`.
pub(super) struct Train(pub(super) Vec<Request>);

impl Line {
    pub(super) fn new(timeout: Duration, mixes_keys: bool) -> Self {
        let (waiting, track) = (VecDeque::new(), Track::Awaited);
        let given_up = VecDeque::new();
        Self { waiting, track, given_up, alarm: None, used: false, timeouts: 0, timeout, mixes_keys }
    }

    /// Takes a request, and says whether the task has to be woken.
    pub(super) fn enter(&mut self, request: Request) -> Result<bool, Failure> {
        let is_closed = matches!(self.track, Track::Closed);
        if is_closed && request.answer.is_some() {
            return Err(Failure::Disconnected);
        }
        if self.waiting.len() >= if is_closed { MOST_KEPT } else { CAPACITY } {
            return Err(Failure::Overloaded);
        }
        // Its caller was late, and not the server.
        if request.answer.is_some() && request.deadline <= Instant::now() {
            return Err(Failure::Timeout);
        }
        self.used = true;
        let is_first_to_end =
            request.answer.is_some() && self.alarm.is_none_or(|alarm| request.deadline < alarm);
        if is_first_to_end {
            self.alarm = Some(request.deadline);
        }
        self.waiting.push_back(request);
        self.depart();
        Ok(is_first_to_end || self.is_blocked())
    }

    /// A connection is there.
    pub(super) fn open(&mut self, number: u32, writer: Writer, reading: Reading) {
        let (trains, unsent) = (VecDeque::new(), Vec::new());
        self.track =
            Track::Open(Open { number, writer, _reading: reading, trains, unsent, is_flushed: true });
        self.timeouts = 0;
        self.depart();
    }

    /// It is not, any more. Those who wait are told; what nobody waits for is sent when there is a connection again. If it was
    /// only slow, it is still listened to.
    pub(super) fn close(&mut self, is_slow: bool) {
        self.alarm = None;
        self.waiting.retain(|request| request.answer.is_none());
        self.waiting.truncate(MOST_KEPT);
        if let Track::Open(mut open) = mem::replace(&mut self.track, Track::Closed)
            && is_slow
            && !open.trains.is_empty()
        {
            open.requests().for_each(|request| request.give_up(Failure::Disconnected));
            self.given_up.truncate(MOST_GIVEN_UP - 1);
            self.given_up.push_front(open);
        }
    }

    /// What the next answer is for on the connection of that number.
    pub(super) fn arrive(&mut self, number: u32) -> Arrival {
        if let Track::Open(open) = &mut self.track
            && open.number == number
        {
            let train = open.trains.pop_front();
            self.depart();
            return train.map_or(Arrival::Unexpected, Arrival::Train);
        }
        let late = self.given_up.iter_mut().find(|open| open.number == number);
        late.map_or(Arrival::Unexpected, |open| {
            let train = open.trains.pop_front();
            let is_last = open.trains.is_empty();
            train.map_or(Arrival::Unexpected, |train| Arrival::Late { train, is_last })
        })
    }

    /// Nothing more comes on the connection of that number.
    pub(super) fn ended(&mut self, number: u32) {
        self.given_up.retain(|open| open.number != number);
    }

    pub(super) fn repeat(&mut self, train: Train) {
        if let Track::Open(open) = &mut self.track {
            open.load(train, true);
            _ = open.write(&mut Context::from_waker(Waker::noop()));
        }
    }

    pub(super) fn take_apart(&mut self, train: Train) {
        self.mixes_keys = false;
        train.0.into_iter().rev().for_each(|request| self.waiting.push_front(request));
        self.depart();
    }

    /// The server has answered somebody in time.
    pub(super) fn is_in_time(&mut self) {
        self.timeouts = 0;
    }

    /// Tells those whose time is over, and sets the alarm anew. Says whether the link is of no use.
    pub(super) fn ring(&mut self, now: Instant) -> bool {
        let mut first_to_end: Option<Instant> = None;
        let mut is_over = |request: &mut Request| {
            if request.answer.is_none() {
                return false;
            }
            let is_over = request.deadline <= now;
            if is_over {
                request.give_up(Failure::Timeout);
            } else {
                first_to_end =
                    Some(first_to_end.map_or(request.deadline, |first| first.min(request.deadline)));
            }
            is_over
        };
        self.waiting.retain_mut(|request| !is_over(request));
        if let Track::Open(open) = &mut self.track {
            // The server is late with what it was asked, and with nothing else.
            self.timeouts += open.requests().map(|request| u32::from(is_over(request))).sum::<u32>();
        }
        // Whoever comes while the link is used finds an alarm that is early enough.
        self.alarm = first_to_end.or_else(|| self.used.then(|| now + self.timeout));
        self.used = false;
        self.timeouts >= MOST_TIMEOUTS
    }

    pub(super) fn alarm(&self) -> Option<Instant> {
        self.alarm
    }

    /// Whether something has to be written that the connection did not take yet.
    pub(super) fn is_blocked(&self) -> bool {
        matches!(&self.track, Track::Open(open) if !open.unsent.is_empty() || !open.is_flushed)
    }

    pub(super) fn is_idle(&self) -> bool {
        match &self.track {
            Track::Open(open) => open.trains.is_empty() && self.waiting.is_empty(),
            Track::Awaited | Track::Closed => true,
        }
    }

    pub(super) fn write(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.track {
            Track::Open(open) => open.write(context),
            Track::Awaited | Track::Closed => Poll::Ready(Ok(())),
        }
    }

    /// Sends what waits, as far as it may leave. What the connection does not take is left to the task.
    fn depart(&mut self) {
        let Track::Open(open) = &mut self.track else { return };
        while open.trains.len() < MOST_TRAINS
            && let Some(first) = self.waiting.pop_front()
        {
            let mut requests = vec![first];
            while requests.len() < MOST_IN_TRAIN
                && requests[0].takes_company()
                && self.waiting.front().is_some_and(Request::takes_company)
            {
                requests.extend(self.waiting.pop_front());
            }
            // Of those who have gone meanwhile, nothing is asked.
            requests.retain(|request| !request.is_given_up());
            // A budget is read and written once for all that stand together. Those of one key stay in their order, but
            // for a limit whose algorithm is changed meanwhile.
            let place = |request: &Request| Arc::as_ptr(&request.script);
            requests.sort_by(|one, other| {
                place(one).cmp(&place(other)).then_with(|| one.order.key().cmp(other.order.key()))
            });
            while let Some(first) = requests.first() {
                let with_it = |request: &&Request| {
                    Arc::ptr_eq(&request.script, &first.script)
                        && (self.mixes_keys || request.order.key() == first.order.key())
                };
                let rest = requests.split_off(requests.iter().take_while(with_it).count());
                open.load(Train(requests), false);
                requests = rest;
            }
        }
        _ = open.write(&mut Context::from_waker(Waker::noop()));
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Open {
    fn requests(&mut self) -> impl Iterator<Item = &mut Request> {
        self.trains.iter_mut().flat_map(|train| &mut train.0)
    }

    fn load(&mut self, train: Train, by_code: bool) {
        let Some(first) = train.0.first() else { return };
        let orders = train.0.iter().map(|request| &request.order);
        if first.asking {
            resp::write_list(&mut self.unsent, 1);
            resp::write_text(&mut self.unsent, b"ASKING");
            self.trains.push_back(Train(Vec::new()));
        }
        if by_code || first.asking {
            first.script.by_code(orders, &mut self.unsent);
        } else {
            first.script.by_hash(orders, &mut self.unsent);
        }
        self.trains.push_back(train);
    }

    fn write(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.unsent.is_empty() {
            match ready!(Pin::new(&mut self.writer).poll_write(context, &self.unsent))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                written => {
                    self.unsent.drain(..written);
                    self.is_flushed = false;
                }
            }
        }
        if !self.is_flushed {
            ready!(Pin::new(&mut self.writer).poll_flush(context))?;
            self.is_flushed = true;
        }
        Poll::Ready(Ok(()))
    }
}

impl Request {
    /// Whether one call of its script can decide about others too.
    fn takes_company(&self) -> bool {
        self.script.takes_many && !self.asking
    }

    /// Whether somebody has waited for it, and does not any more.
    fn is_given_up(&self) -> bool {
        self.answer.as_ref().is_some_and(tokio::sync::oneshot::Sender::is_closed)
    }
}
