//! A shop whose functions have limits. Three users call them from threads and from tasks; then the program prints what
//! each limit did, and one denial as the caller sees it.

pub mod services;
mod table;

use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::thread;

use ratelimit_runtime::RateLimited;
use tokio::task::JoinSet;

const USERS: [&str; 3] = ["ada", "bob", "cleo"];

/// Calls everything, and prints the table and one denial.
///
/// # Errors
///
/// Where `out` cannot be written to, and where two limits have one name.
pub async fn run(out: &mut impl io::Write) -> io::Result<()> {
    // A name used twice is found here, at start-up, and not when somebody looks for it.
    ratelimit_runtime::verify().map_err(io::Error::other)?;

    call_from_threads();
    let denied = call_from_tasks().await;

    table::print(out, ratelimit_runtime::limits())?;
    if let Some(denied) = denied {
        let retry = denied.retry_after().unwrap_or_default();
        writeln!(out, "\nada's sixth profile: {denied}")?;
        writeln!(out, "she may come again in {:.1} s", retry.as_secs_f64())?;
    }
    Ok(())
}

/// Every user searches and logs in from a thread of their own. All search within one budget; each logs in from one
/// address, which has a budget of its own.
fn call_from_threads() {
    thread::scope(|scope| {
        for (number, user) in (1..).zip(USERS) {
            scope.spawn(move || {
                for _ in 0..20 {
                    let _ = services::search("blue teapot");
                }
                for _ in 0..5 {
                    let _ = services::log_in(IpAddr::V4(Ipv4Addr::new(192, 0, 2, number)), user);
                }
                for _ in 0..3 {
                    let _ = services::recommend(user);
                }
            });
        }
    });
}

/// Every user looks at the profile eight times, and twelve mails go out at once. Returns one of the denials.
async fn call_from_tasks() -> Option<RateLimited> {
    let mut mails = JoinSet::new();
    for number in 0..12 {
        mails.spawn(services::send_mail(USERS[number % USERS.len()]));
    }

    let mut denials = Vec::new();
    for user in USERS {
        for _ in 0..8 {
            denials.extend(services::profile(user).await.err());
        }
    }
    mails.join_all().await;
    denials.into_iter().next()
}
