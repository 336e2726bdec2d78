//! A connection that was given up because it was too slow.
//!
//! Its server may still do what it was asked before. So its answers are read for a while, and what was charged to calls that
//! have been denied meanwhile is given back, on whatever connection there is then.

use std::{sync::Arc, time::Duration};

use tokio::{task::JoinHandle, time::timeout};

use super::{Shared, hand_over::share_out, line::Open, wire::Reader};

/// For so long.
const LONGEST: Duration = Duration::from_secs(10);

/// The last connection that was given up. There is one at most.
#[derive(Default)]
pub(super) struct Lingering(Option<JoinHandle<()>>);

impl Lingering {
    pub(super) fn replace(&mut self, reader: Reader, open: Open, shared: Arc<Shared>) {
        let next = tokio::spawn(async { _ = timeout(LONGEST, listen(reader, open, shared)).await });
        if let Some(before) = self.0.replace(next) {
            before.abort();
        }
    }
}

async fn listen(mut reader: Reader, mut open: Open, shared: Arc<Shared>) {
    while let Some(train) = open.trains.pop_front()
        && let Ok(answer) = reader.next().await
    {
        share_out(&shared, train, answer);
    }
}
