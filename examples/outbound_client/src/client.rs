//! The client: its one limited function is all that keeps it within the third party's limit.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use ratelimit_runtime::rate_limit;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::third_party;

/// The third party counts a request when it arrives, we when we send it. A request that travels slowly, followed by a
/// fast one, arrives closer to it than it was sent: the margin is for that difference.
const MARGIN: Duration = Duration::from_millis(250);

/// A client of the service at one address.
#[derive(Clone, Copy, Debug)]
pub struct Client {
    server: SocketAddr,
}

impl Client {
    /// A client of the service at this address.
    #[must_use]
    pub const fn new(server: SocketAddr) -> Self {
        Self { server }
    }

    /// Asks when it is our turn, however long that takes. A bare `wait` cannot be denied, so the function returns what
    /// it would return without a limit.
    ///
    /// # Errors
    ///
    /// Where the connection fails, or what answers is not HTTP.
    #[rate_limit(
        max = const { third_party::MAX },
        window = const { third_party::WINDOW.saturating_add(MARGIN) },
        wait,
        name = "third party"
    )]
    pub async fn get(&self, path: &str) -> io::Result<u16> {
        self.get_at_once(path).await
    }

    /// Asks without a thought for the limit.
    ///
    /// # Errors
    ///
    /// Where the connection fails, or what answers is not HTTP.
    pub async fn get_at_once(&self, path: &str) -> io::Result<u16> {
        let mut stream = TcpStream::connect(self.server).await?;
        let request = format!("GET {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n\r\n", self.server);
        stream.write_all(request.as_bytes()).await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await?;
        status(&answer).ok_or_else(|| io::Error::other("the answer is not HTTP"))
    }
}

/// The number in `HTTP/1.1 200 OK`.
fn status(answer: &str) -> Option<u16> {
    answer.strip_prefix("HTTP/1.1 ")?.split(' ').next()?.parse().ok()
}
