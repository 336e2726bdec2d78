//! Stands between a store and its server, and does to their talk what networks do.

use std::{
    io::{Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    thread,
    time::{Duration, Instant},
};

#[derive(Default)]
struct Mischief {
    /// Nothing comes back.
    swallows: AtomicBool,
    /// Answers come so much later, in microseconds.
    delay: AtomicU64,
    /// The connection breaks after so many more bytes of answers; 0: never.
    cuts_after: AtomicUsize,
}

/// Who has come.
#[derive(Default)]
struct Visits {
    opened: Mutex<Vec<Instant>>,
    open: AtomicUsize,
    most_at_once: AtomicUsize,
}

pub(crate) struct Proxy {
    pub(crate) port: u16,
    mischief: Arc<Mischief>,
    visits: Arc<Visits>,
}

impl Proxy {
    pub(crate) fn before(server: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let mischief = Arc::new(Mischief::default());
        let visits = Arc::new(Visits::default());
        let (shared, noted) = (Arc::clone(&mischief), Arc::clone(&visits));
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                noted.opened.lock().unwrap().push(Instant::now());
                let Ok(server) = TcpStream::connect(("127.0.0.1", server)) else { continue };
                _ = server.set_nodelay(true);
                _ = client.set_nodelay(true);
                let (from_client, to_server) = (client.try_clone().unwrap(), server.try_clone().unwrap());
                let visits = Arc::clone(&noted);
                visits.most_at_once.fetch_max(visits.open.fetch_add(1, Relaxed) + 1, Relaxed);
                thread::spawn(move || {
                    pass(from_client, to_server, &Mischief::default());
                    visits.open.fetch_sub(1, Relaxed);
                });
                let shared = Arc::clone(&shared);
                thread::spawn(move || pass(server, client, &shared));
            }
        });
        Self { port, mischief, visits }
    }

    pub(crate) fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// When somebody came, whether or not the server was there.
    pub(crate) fn times_opened(&self) -> Vec<Instant> {
        self.visits.opened.lock().unwrap().clone()
    }

    /// How many were connected to the server at the same time.
    pub(crate) fn most_at_once(&self) -> usize {
        self.visits.most_at_once.load(Relaxed)
    }

    pub(crate) fn swallow(&self, swallows: bool) {
        self.mischief.swallows.store(swallows, Relaxed);
    }

    pub(crate) fn delay(&self, by: Duration) {
        self.mischief.delay.store(u64::try_from(by.as_micros()).unwrap(), Relaxed);
    }

    pub(crate) fn cut_after(&self, bytes: usize) {
        self.mischief.cuts_after.store(bytes, Relaxed);
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream, mischief: &Mischief) {
    let mut bytes = [0; 4096];
    while let Ok(read @ 1..) = from.read(&mut bytes) {
        let delay = mischief.delay.load(Relaxed);
        if delay > 0 {
            thread::sleep(Duration::from_micros(delay));
        }
        if mischief.swallows.load(Relaxed) {
            continue;
        }
        let left = mischief.cuts_after.load(Relaxed);
        if left > 0 && read >= left {
            mischief.cuts_after.store(0, Relaxed);
            _ = to.write_all(&bytes[..left]);
            break;
        }
        if to.write_all(&bytes[..read]).is_err() {
            break;
        }
        mischief.cuts_after.store(left.saturating_sub(read), Relaxed);
    }
    _ = from.shutdown(Shutdown::Both);
    _ = to.shutdown(Shutdown::Both);
}
