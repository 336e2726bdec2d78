//! `cargo run -p cluster_budget -- [--server redis://127.0.0.1:6379] [--processes 4]`
//!
//! Starts several processes that call one limited function as fast as they can, and adds up what each was let through. With
//! a server they share its budget: together they are admitted exactly as often as one would be. Without, each decides by
//! its share.

use std::error::Error;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use ratelimit_redis::{LinkState, RedisStore};
use ratelimit_runtime::{RateLimited, install_store, limit, rate_limit};

const USAGE: &str = "usage: cluster_budget [--server URL] [--processes NUMBER]";

const CALLS: u32 = 200;

#[rate_limit(key = tenant, max = 200, window = "1h", store = "redis", name = "reports")]
async fn report(tenant: &str) -> Result<String, RateLimited> {
    Ok(format!("report of {tenant}"))
}

fn main() -> Result<(), Box<dyn Error>> {
    let (mut server, mut processes, mut number) = ("redis://127.0.0.1:6379".to_owned(), 4, None);
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or(USAGE)?;
        match name.as_str() {
            "--server" => server = value,
            "--processes" => processes = value.parse::<u32>()?.max(1),
            // What this program says to the processes that it starts.
            "--be" => number = Some(value),
            _ => return Err(USAGE.into()),
        }
    }
    match number {
        Some(tenant) => be_one(&server, processes, &tenant),
        None => start_all(&server, processes),
    }
}

/// One of the processes: makes its calls, and says what came of them.
#[tokio::main(flavor = "current_thread")]
async fn be_one(server: &str, processes: u32, tenant: &str) -> Result<(), Box<dyn Error>> {
    let store = RedisStore::builder(server)
        .prefix("cluster_budget")
        .timeout(Duration::from_millis(500))
        .local_share(1.0 / f64::from(processes))
        .connect_lazy()?;
    install_store("redis", store.clone())?;
    let mut admitted = 0;
    for _ in 0..CALLS {
        admitted += u32::from(report(tenant).await.is_ok());
    }
    let failures = limit("reports").map_or(0, |limit| limit.stats().store_failures);
    let link = if store.state() == LinkState::Up { "by the server" } else { "by its share" };
    println!("{admitted} {failures} {link}");
    Ok(())
}

fn start_all(server: &str, processes: u32) -> Result<(), Box<dyn Error>> {
    // Its own budget each time that this is run.
    let tenant = format!("tenant of {}", std::process::id());
    let program = std::env::current_exe()?;
    let start = |_| -> std::io::Result<Child> {
        Command::new(&program)
            .args(["--server", server, "--processes", &processes.to_string(), "--be", &tenant])
            .stdout(Stdio::piped())
            .spawn()
    };
    let started = (0..processes).map(start).collect::<Result<Vec<_>, _>>()?;
    let mut together = 0;
    for (number, process) in (1..).zip(started) {
        let said = String::from_utf8(process.wait_with_output()?.stdout)?;
        let mut words = said.trim().splitn(3, ' ');
        let mut next = || words.next().ok_or("a process has said nothing");
        let (admitted, failures, link): (u32, u32, &str) = (next()?.parse()?, next()?.parse()?, next()?);
        together += admitted;
        println!(
            "process {number}: {admitted:3} of {CALLS} calls admitted, decided {link}, {failures} store failures"
        );
    }
    println!("together:  {together:3} of {} calls admitted, by a limit of 200", processes * CALLS);
    Ok(())
}
