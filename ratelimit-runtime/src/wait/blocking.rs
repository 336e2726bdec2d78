//! Waiting in a sync function: the thread sleeps, in real time, and needs no other thread to go on.

use std::{thread, time::Duration};

use super::{Turn, Waiting};
use crate::{denied::RateLimited, park::waker_of_this_thread, permit::Permit};

/// Blocks this thread until the call is decided.
pub(crate) fn block_on<const N: usize>(mut waiting: Waiting<'_, N>) -> Result<Permit<'_>, RateLimited> {
    // Most calls are admitted at once, and then there is nobody to wake.
    if let Some(permit) = waiting.admitted_at_once() {
        return Ok(permit);
    }
    waiting.blocks = true;
    let waker = waker_of_this_thread();
    loop {
        match waiting.turn(&waker) {
            Turn::Over(decided) => return decided,
            Turn::Waits { now, at: Some(at) } if !waiting.wake_at(at, &waker) => {
                thread::park_timeout(Duration::from_nanos(at.saturating_sub(now)));
            }
            Turn::Waits { .. } => thread::park(),
        }
    }
}
