//! How many keys may be tracked, and how many are.

use crate::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Invariant: `tracked` counts the keys in all shards and the reservations not yet used, and no reservation is given
/// beyond `max_keys`. Relaxed is enough: every change is one read-modify-write, and the count guards no other memory.
pub(super) struct Room {
    max_keys: AtomicUsize,
    tracked: AtomicUsize,
}

/// Room for one key, given back unless it is used.
#[must_use]
pub(super) struct Reservation<'a> {
    room: &'a Room,
}

impl Room {
    pub(super) fn new(max_keys: usize) -> Self {
        Self { max_keys: AtomicUsize::new(max_keys), tracked: AtomicUsize::new(0) }
    }

    pub(super) fn set_max_keys(&self, max_keys: usize) {
        self.max_keys.store(max_keys, Relaxed);
    }

    pub(super) fn tracked(&self) -> usize {
        self.tracked.load(Relaxed)
    }

    pub(super) fn reserve(&self) -> Option<Reservation<'_>> {
        let max_keys = self.max_keys.load(Relaxed);
        let one_more = |tracked| (tracked < max_keys).then_some(tracked + 1);
        let reserved = self.tracked.fetch_update(Relaxed, Relaxed, one_more);
        // Lazily: a reservation that is made and dropped would give back room that was never taken.
        reserved.is_ok().then(|| Reservation { room: self })
    }

    /// A key is tracked no more.
    pub(super) fn release(&self) {
        self.tracked.fetch_sub(1, Relaxed);
    }
}

impl Reservation<'_> {
    /// A key takes the room.
    pub(super) fn used(self) {
        std::mem::forget(self);
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        self.room.release();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reservation_refused_gives_nothing_back() {
        let room = Room::new(1);
        room.reserve().unwrap().used();
        for _ in 0..3 {
            assert!(room.reserve().is_none());
            assert_eq!(room.tracked(), 1);
        }
    }
}
