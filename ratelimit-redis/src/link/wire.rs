//! A connection: bytes that callers write themselves, and that the link's task reads.

use std::{
    io,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
};

use redis::{
    ConnectionAddr, ConnectionInfo, ErrorKind, RedisError, RedisResult, Value, aio::MultiplexedConnection,
};
use socket2::SockRef;
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, ReadBuf},
    net::{TcpStream, lookup_host},
};

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

/// No answer is longer.
const LONGEST: usize = 16 * 1024 * 1024;

impl Wire {
    pub(crate) async fn connect(server: &ConnectionInfo) -> RedisResult<Self> {
        match server.addr() {
            ConnectionAddr::Tcp(host, port) => {
                let stream = introduce(reach(host, *port, server).await?, server).await?;
                let (reader, writer) = stream.into_split();
                Ok(Self::of(reader, writer))
            }
            #[cfg(feature = "tls")]
            ConnectionAddr::TcpTls { host, port, .. } => {
                let stream = super::tls::secure(reach(host, *port, server).await?, host).await?;
                let (reader, writer) = tokio::io::split(introduce(stream, server).await?);
                Ok(Self::of(reader, writer))
            }
            #[cfg(unix)]
            ConnectionAddr::Unix(path) => {
                let stream = introduce(tokio::net::UnixStream::connect(path).await?, server).await?;
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
        self.reader.next().await?.extract_error()
    }
}

impl Reader {
    /// The next answer. Nothing is lost if this is dropped before it has come.
    pub(super) async fn next(&mut self) -> RedisResult<Value> {
        loop {
            if let Some((answer, length)) = resp::read(&self.bytes[self.taken..])? {
                self.taken += length;
                return Ok(answer);
            }
            self.bytes.drain(..self.taken);
            self.taken = 0;
            if self.bytes.len() > LONGEST {
                return Err(RedisError::from((ErrorKind::Parse, "an answer that is too long")));
            }
            self.bytes.reserve(READ);
            if self.stream.read_buf(&mut self.bytes).await? == 0 {
                return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
            }
        }
    }
}

async fn reach(host: &str, port: u16, server: &ConnectionInfo) -> io::Result<TcpStream> {
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
                return Ok(stream);
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
    let lent = Lent(Arc::new(Mutex::new(stream)));
    drop(MultiplexedConnection::new(server.redis_settings(), lent.clone()).await?);
    let stream = Arc::into_inner(lent.0).and_then(|stream| stream.into_inner().ok());
    stream.ok_or_else(|| RedisError::from((ErrorKind::Client, "a connection was not given back")))
}

/// A stream that is given back.
struct Lent<S>(Arc<Mutex<S>>);

impl<S> Lent<S> {
    fn stream(&self) -> MutexGuard<'_, S> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S> Clone for Lent<S> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Lent<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.stream()).poll_read(context, buffer)
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
