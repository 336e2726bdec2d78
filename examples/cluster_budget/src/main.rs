//! `cargo run -p cluster_budget [-- --server PROGRAM]`
//!
//! Three processes of one service, and one limit for all: 300 calls a second, kept in a Redis or Valkey that this program
//! starts. In the middle it kills the server, and some seconds later it starts it again. For every second it prints how many
//! calls each process was let through, and whether the server has decided or the policy, by which each then uses its share.

mod server;
mod service;

use std::{
    error::Error,
    io::{BufRead as _, BufReader},
    process::{Child, ChildStdout, Command, Stdio},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use server::Server;
use service::{LIMIT, SECONDS, Second};

const USAGE: &str = "usage: cluster_budget [--server PROGRAM], such as /usr/bin/valkey-server";

const PROCESSES: usize = 3;

/// After so many seconds the server is killed, and after so many it is back.
const KILLED: u32 = 3;
const BACK: u32 = 6;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        [] => start_all(server::installed()),
        ["--server", program] => start_all(Some(program.into())),
        // What this program says to the processes that it starts.
        ["--be-one", address, begins] => {
            service::run(address, UNIX_EPOCH + Duration::from_millis(begins.parse()?))
        }
        _ => Err(USAGE.into()),
    }
}

fn start_all(program: Option<String>) -> Result<(), Box<dyn Error>> {
    let mut server = if let Some(program) = program {
        Server::start(&program)?
    } else {
        println!("Neither redis-server nor valkey-server is here (on Debian: apt install redis-server).");
        println!("So each process goes by its share: all of the limit, since it has seen no other.");
        Server::that_is_not_there()?
    };
    println!("One limit of {LIMIT} calls a second for {PROCESSES} processes, at {}.\n", server.address());
    println!("second  process 1  process 2  process 3  together  decided by");

    let begins = SystemTime::now() + Duration::from_millis(500);
    let processes = (0..PROCESSES).map(|_| start_one(&server.address(), begins));
    let (mut processes, mut told): (Vec<_>, Vec<_>) =
        processes.collect::<Result<Vec<_>, Box<dyn Error>>>()?.into_iter().unzip();
    for second in 1..=SECONDS {
        let seconds = told.iter_mut().map(read_one).collect::<Result<Vec<_>, _>>()?;
        print_row(second, &seconds);
        if second == KILLED && server.kill()? {
            println!("        the server is killed");
        }
        if second == BACK && server.start_again()? {
            println!("        the server is started again");
        }
    }
    for process in &mut processes {
        process.wait()?;
    }
    Ok(())
}

fn start_one(address: &str, begins: SystemTime) -> Result<(Child, BufReader<ChildStdout>), Box<dyn Error>> {
    let begins = begins.duration_since(UNIX_EPOCH)?.as_millis().to_string();
    let mut process = Command::new(std::env::current_exe()?)
        .args(["--be-one", address, &begins])
        .stdout(Stdio::piped())
        .spawn()?;
    let told = process.stdout.take().ok_or("a process without output")?;
    Ok((process, BufReader::new(told)))
}

fn read_one(told: &mut BufReader<ChildStdout>) -> Result<Second, Box<dyn Error>> {
    let mut line = String::new();
    told.read_line(&mut line)?;
    line.parse()
}

fn print_row(second: u32, processes: &[Second]) {
    let together: u32 = processes.iter().map(|process| process.admitted).sum();
    let calls: u32 = processes.iter().map(|process| process.calls).sum();
    let decided_by = match processes.iter().map(|process| process.failures).sum() {
        _ if calls == 0 => "nobody",
        0 => "the server",
        failures if failures == calls => "their shares",
        _ => "both",
    };
    print!("{second:>6}");
    for process in processes {
        print!("  {:>9}", process.admitted);
    }
    println!("  {together:>8}  {decided_by}");
}
