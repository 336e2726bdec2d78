//! A client of somebody else's service that keeps to their limit by waiting in line, so that it never sees a 429.
//!
//! The service is a small HTTP server in this process, with a limit of its own that knows nothing of ours.

pub mod client;
pub mod third_party;

use std::io;

use client::Client;
use third_party::ThirdParty;
use tokio::task::JoinSet;

/// How many tasks ask, each once, all at the same time.
pub const REQUESTS: usize = 30;

/// Whether the client keeps to the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// It waits for its turn.
    Limited,
    /// It sends at once.
    Unlimited,
}

/// What the third party made of the requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answers {
    /// Status 200.
    pub answered: usize,
    /// Status 429.
    pub rejected: usize,
}

/// Starts a third party and asks it from many tasks at once.
///
/// # Errors
///
/// Where a connection fails, or the answer is neither 200 nor 429.
pub async fn ask_many(pace: Pace) -> io::Result<Answers> {
    let client = Client::new(ThirdParty::start().await?.address());
    let mut tasks = JoinSet::new();
    for _ in 0..REQUESTS {
        tasks.spawn(async move {
            match pace {
                Pace::Limited => client.get("/rates").await,
                Pace::Unlimited => client.get_at_once("/rates").await,
            }
        });
    }

    let mut answers = Answers::default();
    for status in tasks.join_all().await {
        match status? {
            200 => answers.answered += 1,
            429 => answers.rejected += 1,
            other => return Err(io::Error::other(format!("status {other}"))),
        }
    }
    Ok(answers)
}
