//! A server that answers as no server does.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    thread,
};

/// When it begins to be hostile.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum From {
    TheFirstCommand,
    /// When it was asked to decide, and not before.
    TheFirstDecision,
}

pub(crate) struct Hostile {
    pub(crate) port: u16,
    pub(crate) visits: Arc<AtomicUsize>,
}

impl Hostile {
    /// Answers with `begins`, and then with `goes_on` for as long as somebody listens.
    pub(crate) fn start(from: From, begins: Vec<u8>, goes_on: &'static [u8]) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let (port, visits) = (listener.local_addr().unwrap().port(), Arc::new(AtomicUsize::new(0)));
        let counted = Arc::clone(&visits);
        let begins: Arc<[u8]> = begins.into();
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                counted.fetch_add(1, Relaxed);
                let begins = Arc::clone(&begins);
                thread::spawn(move || serve(client, from, &begins, goes_on));
            }
        });
        Self { port, visits }
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }
}

/// Until the other end has gone.
fn serve(client: TcpStream, from: From, begins: &[u8], goes_on: &[u8]) -> Option<()> {
    let mut reader = BufReader::new(client.try_clone().ok()?);
    let mut client = client;
    loop {
        let command = command(&mut reader)?;
        // The processes that use a server are counted at a key of their own.
        let is_probe = command.iter().any(|word| word.ends_with(b":v1-nodes\r\n"));
        let is_decision = command[0].starts_with(b"EVAL") && !is_probe;
        if is_decision || from == From::TheFirstCommand {
            client.write_all(begins).ok()?;
            while !goes_on.is_empty() {
                client.write_all(goes_on).ok()?;
            }
        } else {
            client.write_all(if is_probe { b":1\r\n" } else { b"+OK\r\n" }).ok()?;
        }
    }
}

fn command(reader: &mut BufReader<TcpStream>) -> Option<Vec<Vec<u8>>> {
    let words = number(reader)?;
    (0..words)
        .map(|_| {
            let mut word = vec![0; number(reader)? + 2];
            reader.read_exact(&mut word).ok()?;
            Some(word)
        })
        .collect()
}

fn number(reader: &mut BufReader<TcpStream>) -> Option<usize> {
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    line.get(1..)?.trim().parse().ok()
}
