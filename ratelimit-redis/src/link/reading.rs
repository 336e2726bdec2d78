//! Reads what comes on a connection.
//!
//! That is a task of its own, so that an answer wakes nothing else. It goes on when the connection is given up because it
//! was too slow: its server may still do what it was asked, and what was charged then to calls that have been denied
//! meanwhile is given back, on whatever connection there is.

use std::sync::Arc;

use tokio::task::JoinHandle;

use super::{
    Network, Shared,
    hand_over::hand_over,
    wire::{LONGEST, Reader},
};

/// Of the connection of that number, until nothing can come on it any more.
pub(super) fn start(
    mut reader: Reader,
    number: u32,
    shared: &Arc<Shared>,
    network: &Network,
) -> JoinHandle<()> {
    let shared = Arc::clone(shared);
    network.spawn(async move {
        while let Ok(answer) = reader.next(LONGEST).await
            && hand_over(&shared, number, answer)
        {}
        shared.line().ended(number);
    })
}
