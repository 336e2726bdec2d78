//! Who waits for a budget in a store: first come, first served within this process.
//!
//! The first in a line asks the store, and asks again at the time that it was told. The others wait for it to leave.

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    ptr,
    sync::{Arc, LazyLock, Mutex, MutexGuard},
    task::Waker,
};

use smallvec::SmallVec;

use crate::{key::Key, limit::Limit, sync::unpoisoned};

/// A budget: the address of the limit, which those in line hold, and the key.
type Line = (usize, Key);

#[derive(Default)]
struct Room {
    lines: HashMap<Line, VecDeque<Waiter>>,
    wakers: BTreeMap<u64, Waker>,
    next: u64,
}

struct Waiter {
    ticket: u64,
    cost: u32,
    /// Something has changed since it last asked.
    hastened: bool,
}

static ROOM: LazyLock<Mutex<Room>> = LazyLock::new(Mutex::default);

/// Acts in the room, and wakes whom that concerns once it is left.
fn enter<R>(act: impl FnOnce(&mut Room, &mut Woken) -> R) -> R {
    let mut woken = Woken::new();
    let result = act(&mut unpoisoned::<MutexGuard<'_, Room>>(ROOM.lock()), &mut woken);
    woken.into_iter().for_each(Waker::wake);
    result
}

type Woken = SmallVec<[Waker; 2]>;

impl Room {
    /// Has the first in line ask at once.
    fn hasten(&mut self, line: Line, woken: &mut Woken) {
        if let Some(first) = self.lines.get_mut(&line).and_then(VecDeque::front_mut) {
            first.hastened = true;
            woken.extend(self.wakers.get(&first.ticket).cloned());
        }
    }
}

fn line_of(limit: &Limit, key: Key) -> Line {
    (ptr::from_ref(limit).addr(), key)
}

/// Permits that those in line wait for, if there are any.
pub(super) fn waiting(limit: &Limit, key: Key) -> Option<u32> {
    enter(|room, _| {
        let line = room.lines.get(&line_of(limit, key))?;
        Some(line.iter().fold(0, |sum: u32, waiter| sum.saturating_add(waiter.cost)))
    })
}

/// More may be free at the budget than its line was told.
pub(super) fn hasten(limit: &Limit, key: Key) {
    enter(|room, woken| room.hasten(line_of(limit, key), woken));
}

/// A limit is another now: all its lines ask anew.
pub(crate) fn changed(limit: &Limit) {
    let limit = ptr::from_ref(limit).addr();
    enter(|room, woken| {
        let lines: Vec<Line> = room.lines.keys().filter(|(of, _)| *of == limit).copied().collect();
        for line in lines {
            room.hasten(line, woken);
        }
    });
}

/// A place in the lines of all budgets that a call needs. Dropped, it is left.
pub(super) struct Place<'a> {
    ticket: u64,
    lines: SmallVec<[Line; 2]>,
    /// They are told apart by address, so they stay.
    _limits: SmallVec<[&'a Arc<Limit>; 2]>,
}

impl<'a> Place<'a> {
    /// Takes the last place in each line. `None` if one has `most` already.
    pub(super) fn take(
        budgets: impl Iterator<Item = (&'a Arc<Limit>, Key, u32)> + Clone,
        most: usize,
    ) -> Option<Self> {
        enter(|room, _| {
            let length = |(limit, key, _): (&Arc<Limit>, Key, u32)| {
                room.lines.get(&line_of(limit, key)).map_or(0, VecDeque::len)
            };
            if budgets.clone().any(|budget| length(budget) >= most) {
                return None;
            }
            let ticket = room.next;
            room.next += 1;
            let mut lines = SmallVec::<[Line; 2]>::new();
            for (limit, key, cost) in budgets.clone() {
                let line = line_of(limit, key);
                if !lines.contains(&line) {
                    room.lines.entry(line).or_default().push_back(Waiter { ticket, cost, hastened: false });
                    lines.push(line);
                }
            }
            Some(Self { ticket, lines, _limits: budgets.map(|(limit, ..)| limit).collect() })
        })
    }

    /// Permits that those before it wait for, in the longest of its lines.
    pub(super) fn ahead(&self) -> u32 {
        enter(|room, _| {
            let ahead = self.lines.iter().filter_map(|line| room.lines.get(line)).map(|line| {
                let before = line.iter().take_while(|waiter| waiter.ticket != self.ticket);
                before.fold(0, |sum: u32, waiter| sum.saturating_add(waiter.cost))
            });
            ahead.max().unwrap_or(0)
        })
    }

    /// Whether it is first in all its lines; `waker` is called when that may change, or when it should ask again.
    pub(super) fn is_first(&self, waker: &Waker) -> bool {
        enter(|room, _| {
            room.wakers.insert(self.ticket, waker.clone());
            self.lines.iter().all(|line| {
                room.lines
                    .get(line)
                    .and_then(VecDeque::front)
                    .is_some_and(|first| first.ticket == self.ticket)
            })
        })
    }

    /// Whether it was told to ask again since it was last asked this.
    pub(super) fn was_hastened(&self) -> bool {
        enter(|room, _| {
            let mut hastened = false;
            for line in &self.lines {
                let first = room.lines.get_mut(line).and_then(VecDeque::front_mut);
                if let Some(first) = first.filter(|first| first.ticket == self.ticket) {
                    hastened |= std::mem::take(&mut first.hastened);
                }
            }
            hastened
        })
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let own = enter(|room, woken| {
            for line in &self.lines {
                if let Some(waiters) = room.lines.get_mut(line) {
                    waiters.retain(|waiter| waiter.ticket != self.ticket);
                    if waiters.is_empty() {
                        room.lines.remove(line);
                    } else {
                        room.hasten(*line, woken);
                    }
                }
            }
            room.wakers.remove(&self.ticket)
        });
        // Dropped outside: that may run code of the executor.
        drop(own);
    }
}
