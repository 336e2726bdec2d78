//! `cargo xtask soak`: everything at once, for as long as one likes. Memory must not grow, and no limit may be exceeded.
//!
//! Threads and tasks work on limits of every kind for a while ([`Load`], [`waiters`]), then all is idle until every window
//! has passed. What is still held then, between two bursts of work, is the same after hours as after the first minutes
//! ([`growth`]). Beside that some limits are [watched](bound): what they admit is logged, and checked against the bound.

mod bound;
mod declared;
mod flood;
mod growth;
mod load;
mod random;
mod specs;
mod waiters;

use std::{
    alloc::System,
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant},
};

use cap::Cap;

use self::{bound::Watched, growth::Sample, load::Load, random::Random, waiters::Waiters};

/// Counts what is allocated, and bounds nothing.
#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

const THREADS: u64 = 3;

/// How long all work, and then rest. Every window is shorter than the rest, and by more than its bucket.
const WORK: Duration = Duration::from_secs(7);
const REST: Duration = Duration::from_millis(2500);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let seconds = match &arguments[..] {
        [option, seconds] if option == "--seconds" => seconds.parse().ok(),
        _ => None,
    };
    let Some(seconds) = seconds else {
        eprintln!("usage: soak --seconds <how long>");
        return ExitCode::from(2);
    };
    match soak(Duration::from_secs(seconds)) {
        Ok(()) => {
            println!("ok");
            ExitCode::SUCCESS
        }
        Err(what) => {
            println!("FAILED: {what}");
            ExitCode::FAILURE
        }
    }
}

fn soak(time: Duration) -> Result<(), String> {
    let began = Instant::now();
    flood::takes_no_more_memory()?;

    let load = Arc::new(Load::new());
    let watched = Watched::all();
    let waiters = Waiters::start(&load)?;
    // Hours are told in about a hundred lines.
    let pause = time / 100;
    let (mut next_line, mut calls, mut samples) = (Duration::ZERO, 0, Vec::new());
    while began.elapsed() < time || samples.len() < growth::FEWEST {
        calls += work(&load, &watched, &waiters, samples.len() as u64);
        let tracked = tracked_keys(&load, &watched);
        watched.iter().try_for_each(Watched::check)?;
        thread::sleep(REST);
        // Nobody has worked at it meanwhile: whoever asks finds them reclaimed.
        match tracked_keys(&load, &watched) {
            0 => {}
            keys => return Err(format!("{keys} keys are tracked though every window has passed")),
        }
        load.restore();
        watched.iter().for_each(Watched::restore);
        let sample = Sample::take(ALLOCATOR.allocated());
        if began.elapsed() >= next_line {
            next_line += pause;
            println!(
                "{:>7.0} s {calls:>13} calls {tracked:>7} keys   {sample}",
                began.elapsed().as_secs_f64()
            );
        }
        samples.push(sample);
    }
    println!("admitted by the watched limits: {}", bound::summary(&watched));
    growth::judge(&samples)
}

fn tracked_keys(load: &Load, watched: &[Watched]) -> u64 {
    load.tracked_keys() + watched.iter().map(Watched::tracked_keys).sum::<u64>()
}

/// One burst of work; gives how many calls were made.
fn work(load: &Load, watched: &[Watched], waiters: &Waiters, round: u64) -> u64 {
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|thread| {
                let (load, watched, is_over) = (&load, &watched, &is_over);
                scope.spawn(move || {
                    let mut random = Random::new(round * THREADS + thread);
                    let mut calls = 0;
                    while !is_over.load(Relaxed) {
                        calls += load.some_calls(&mut random);
                        calls += watched.iter().map(|limit| limit.some_calls(&mut random)).sum::<u64>();
                    }
                    calls
                })
            })
            .collect();
        declared::enforce_all();
        let waited = waiters.work_for(WORK, round);
        is_over.store(true, Relaxed);
        waited + threads.into_iter().map(|thread| thread.join().unwrap_or(0)).sum::<u64>()
    })
}
