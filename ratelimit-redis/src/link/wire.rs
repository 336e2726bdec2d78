//! A connection: bytes that callers write themselves, and that the link's task reads.

use std::{
    io,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, ready},
};

use redis::{
    ConnectionAddr, ConnectionInfo, ErrorKind, RedisError, RedisResult, Value, aio::MultiplexedConnection,
};
use socket2::SockRef;
#[cfg(unix)]
use tokio::net::UnixStream;
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, ReadBuf},
    net::{TcpStream, lookup_host},
};

use super::hub::Network;
use crate::resp;

/// Its two directions, neither of which waits for the other.
pub(crate) struct Wire {
    reader: Reader,
    writer: Writer,
}

pub(super) struct Reader {
    stream: Box<dyn AsyncRead + Send + Unpin>,
    /// What has come, and how much of it was taken.
    bytes: Vec<u8>,
    taken: usize,
}

pub(super) type Writer = Box<dyn AsyncWrite + Send + Unpin>;

/// So much is read at once.
const READ: usize = 8 * 1024;

/// No answer of a script is longer, by far, nor what is said before the first; and no map of a Cluster.
pub(super) const LONGEST: usize = 64 * 1024;
const LONGEST_MAP: usize = 4 * 1024 * 1024;

impl Wire {
    pub(crate) async fn connect(server: &ConnectionInfo, network: &Network) -> RedisResult<Self> {
        match server.addr() {
            ConnectionAddr::Tcp(host, port) => {
                let stream = introduce(reach(host, *port, server, network).await?, server).await?;
                let (reader, writer) = stream.into_split();
                Ok(Self::of(reader, writer))
            }
            #[cfg(feature = "tls")]
            ConnectionAddr::TcpTls { host, port, .. } => {
                let stream = super::tls::secure(reach(host, *port, server, network).await?, host).await?;
                let (reader, writer) = tokio::io::split(introduce(stream, server).await?);
                Ok(Self::of(reader, writer))
            }
            #[cfg(unix)]
            ConnectionAddr::Unix(path) => {
                let stream = UnixStream::connect(path).await?.into_std();
                let stream = introduce(network.take(stream, UnixStream::from_std)?, server).await?;
                let (reader, writer) = stream.into_split();
                Ok(Self::of(reader, writer))
            }
            _ => Err(RedisError::from((
                ErrorKind::InvalidClientConfig,
                "this kind of address is not supported",
            ))),
        }
    }

    fn of(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        let reader = Reader { stream: Box::new(reader), bytes: Vec::new(), taken: 0 };
        Self { reader, writer: Box::new(writer) }
    }

    pub(super) fn split(self) -> (Reader, Writer) {
        (self.reader, self.writer)
    }

    /// Asks for one thing, before anything else is asked.
    pub(crate) async fn ask(&mut self, command: &[u8]) -> RedisResult<Value> {
        self.writer.write_all(command).await?;
        self.writer.flush().await?;
        self.reader.next(LONGEST_MAP).await?.extract_error()
    }
}

impl Reader {
    /// The next answer, of so many bytes at most. Nothing is lost if this is dropped before it has come.
    pub(super) async fn next(&mut self, longest: usize) -> RedisResult<Value> {
        loop {
            let missing = match resp::read(&self.bytes[self.taken..])? {
                resp::Read::Whole(answer, length) if length <= longest => {
                    self.taken += length;
                    return Ok(answer);
                }
                resp::Read::Whole(..) => return Err(too_long().into()),
                resp::Read::Missing(missing) => missing,
            };
            self.bytes.drain(..self.taken);
            self.taken = 0;
            let length = self.bytes.len().saturating_add(missing);
            if length > longest {
                return Err(too_long().into());
            }
            while self.bytes.len() < length {
                self.bytes.reserve(READ);
                if self.stream.read_buf(&mut self.bytes).await? == 0 {
                    return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
                }
            }
        }
    }
}

fn too_long() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "an answer that is too long")
}

async fn reach(host: &str, port: u16, server: &ConnectionInfo, network: &Network) -> io::Result<TcpStream> {
    let mut last = io::Error::from(io::ErrorKind::NotFound);
    for address in lookup_host((host, port)).await? {
        match TcpStream::connect(address).await {
            Ok(stream) => {
                // Small packets leave at once, and a server that is gone is noticed.
                let settings = server.tcp_settings();
                stream.set_nodelay(settings.nodelay())?;
                if let Some(keepalive) = settings.keepalive() {
                    SockRef::from(&stream).set_tcp_keepalive(keepalive)?;
                }
                return network.take(stream.into_std(), TcpStream::from_std);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Says who we are, and what we want to use. The client library knows how; what it makes of the connection is not needed.
async fn introduce<S: AsyncRead + AsyncWrite + Send + Unpin + 'static>(
    stream: S,
    server: &ConnectionInfo,
) -> RedisResult<S> {
    let lent = Lent { stream: Arc::new(Mutex::new(stream)), may_read: LONGEST };
    drop(MultiplexedConnection::new(server.redis_settings(), lent.clone()).await?);
    let stream = Arc::into_inner(lent.stream).and_then(|stream| stream.into_inner().ok());
    stream.ok_or_else(|| RedisError::from((ErrorKind::Client, "a connection was not given back")))
}

/// A stream that is given back.
struct Lent<S> {
    stream: Arc<Mutex<S>>,
    /// Bytes, before it is an error to read any.
    may_read: usize,
}

impl<S> Lent<S> {
    fn stream(&self) -> MutexGuard<'_, S> {
        self.stream.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S> Clone for Lent<S> {
    fn clone(&self) -> Self {
        Self { stream: Arc::clone(&self.stream), may_read: self.may_read }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Lent<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut *self.stream()).poll_read(context, buffer))?;
        let read = buffer.filled().len() - before;
        self.may_read = self.may_read.checked_sub(read).ok_or_else(too_long)?;
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Lent<S> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut *self.stream()).poll_write(context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.stream()).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.stream()).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::runtime::Builder;

    /// What a reader makes of those bytes, of which each answer may take so many.
    fn read(bytes: &[u8], longest: usize) -> RedisResult<Vec<Value>> {
        let runtime = Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (ours, mut theirs) = tokio::io::duplex(READ);
            let (reader, writer) = tokio::io::split(ours);
            let mut reader = Wire::of(reader, writer).reader;
            let reading = async move {
                let mut answers = Vec::new();
                loop {
                    match reader.next(longest).await {
                        Ok(answer) => answers.push(answer),
                        Err(error) if error.to_string().contains("too long") => return Err(error),
                        Err(_) => return Ok(answers),
                    }
                }
            };
            let writing = async {
                _ = theirs.write_all(bytes).await;
                drop(theirs);
            };
            tokio::join!(reading, writing).0
        })
    }

    fn text(length: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        resp::write_text(&mut bytes, &vec![b'x'; length]);
        bytes
    }

    #[test]
    fn an_answer_may_be_as_long_as_that_and_no_longer() {
        for longest in [LONGEST, LONGEST_MAP] {
            let fits = text(longest - 16);
            assert_eq!(read(&fits, longest).unwrap().len(), 1);
            assert_eq!(read(&fits.repeat(3), longest).unwrap().len(), 3);
            assert!(read(&text(longest), longest).is_err());
            // It is not waited for.
            assert!(read(&text(longest)[..20], longest).is_err());
            assert!(read(b"*2000000000\r\n:1\r\n", longest).is_err());
            assert!(read(&b"*5000000000\r\n".repeat(7), longest).is_err());
        }
    }
}
