//! Tasks that wait in line, and some that give up, are dropped, or never come to be polled.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::{
    runtime::{Builder, Runtime},
    time::timeout,
};

use crate::{declared, load::Load, random::Random};

const TASKS: u64 = 40;

pub(crate) struct Waiters {
    runtime: Runtime,
    load: Arc<Load>,
}

impl Waiters {
    pub(crate) fn start(load: &Arc<Load>) -> Result<Self, String> {
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_time().build();
        Ok(Self { runtime: runtime.map_err(|error| error.to_string())?, load: Arc::clone(load) })
    }

    /// Gives how many calls were made.
    pub(crate) fn work_for(&self, time: Duration, round: u64) -> u64 {
        let end = Instant::now() + time;
        let tasks = (0..TASKS).map(|task| {
            let mut random = Random::new((round * TASKS + task) ^ 0x5555_5555);
            let load = Arc::clone(&self.load);
            self.runtime.spawn(async move {
                let mut calls = 0;
                while Instant::now() < end {
                    some_call(&load, &mut random).await;
                    calls += 1;
                }
                calls
            })
        });
        let tasks: Vec<_> = tasks.collect();
        self.runtime.block_on(async {
            let mut calls = 0;
            for task in tasks {
                calls += task.await.unwrap_or(0);
            }
            calls
        })
    }
}

async fn some_call(load: &Load, random: &mut Random) {
    let (plain, keyed) = load.limiters(random);
    let patience = Duration::from_micros(random.below(20_000).into());
    let max_wait = random.one_in(2).then(|| Duration::from_micros(random.below(30_000).into()));
    let cost = random.below(3);
    // Dropped where it stands, if it takes longer than the caller has patience.
    match random.below(4) {
        0 => _ = timeout(patience, plain.acquire_n(cost, max_wait)).await,
        1 => _ = timeout(patience, keyed.acquire_n(&random.below(20), cost, max_wait)).await,
        2 => _ = timeout(patience, declared::call_and_wait(random)).await,
        _ => {
            let never_polled = plain.acquire();
            drop(never_polled);
            tokio::time::sleep(patience / 10).await;
        }
    }
}
