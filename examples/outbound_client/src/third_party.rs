//! Somebody else's service: an HTTP server that rejects what exceeds its limit. It counts for itself, so that it can
//! prove the client wrong.

use std::collections::VecDeque;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// Requests that it answers in one window.
pub const MAX: u32 = 10;
/// The window.
pub const WINDOW: Duration = Duration::from_millis(500);

/// A running service.
#[derive(Clone, Copy, Debug)]
pub struct ThirdParty {
    address: SocketAddr,
}

impl ThirdParty {
    /// Starts it on a free port. It runs until the tokio runtime ends.
    ///
    /// # Errors
    ///
    /// Where the operating system gives no port.
    pub async fn start() -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        tokio::spawn(serve(listener));
        Ok(Self { address })
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }
}

async fn serve(listener: TcpListener) {
    let mut arrivals = Arrivals::default();
    while let Ok((stream, _)) = listener.accept().await {
        let answer = if arrivals.admit(Instant::now()) {
            "HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
        } else {
            "HTTP/1.1 429 Too Many Requests\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
        };
        tokio::spawn(reply(stream, answer));
    }
}

/// The requests answered in the last window.
#[derive(Default)]
struct Arrivals(VecDeque<Instant>);

impl Arrivals {
    fn admit(&mut self, now: Instant) -> bool {
        while self.0.front().is_some_and(|first| now.duration_since(*first) >= WINDOW) {
            self.0.pop_front();
        }
        let room = self.0.len() < MAX as usize;
        if room {
            self.0.push_back(now);
        }
        room
    }
}

/// Reads the request to its empty line, and answers. Who hangs up gets no answer.
async fn reply(mut stream: TcpStream, answer: &str) -> io::Result<()> {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") && stream.read_buf(&mut request).await? > 0 {}
    stream.write_all(answer.as_bytes()).await?;
    stream.shutdown().await
}
