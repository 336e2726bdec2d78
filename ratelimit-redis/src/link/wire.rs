//! A connection: bytes that callers write themselves, and that the link's task reads.

use std::{
    io,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
};

use redis::{
    Cmd, ConnectionAddr, ConnectionInfo, ErrorKind, RedisError, RedisResult, Value,
    aio::MultiplexedConnection, parse_redis_value_async,
};
use socket2::SockRef;
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader, ReadBuf},
    net::{TcpStream, lookup_host},
};

/// Its two directions, neither of which waits for the other.
pub(crate) struct Wire {
    reader: Reader,
    writer: Writer,
}

pub(super) struct Reader(BufReader<Box<dyn AsyncRead + Send + Unpin>>);

pub(super) type Writer = Box<dyn AsyncWrite + Send + Unpin>;

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
        Self { reader: Reader(BufReader::new(Box::new(reader))), writer: Box::new(writer) }
    }

    pub(super) fn split(self) -> (Reader, Writer) {
        (self.reader, self.writer)
    }

    /// Asks for one thing, before anything else is asked.
    #[expect(clippy::default_trait_access, reason = "the client library does not name its decoder")]
    pub(crate) async fn ask(&mut self, command: &Cmd) -> RedisResult<Value> {
        self.writer.write_all(&command.get_packed_command()).await?;
        self.writer.flush().await?;
        parse_redis_value_async(&mut Default::default(), &mut self.reader.0).await?.extract_error()
    }
}

impl Reader {
    /// Hands each answer over, until it says that this is enough, or none comes any more.
    #[expect(clippy::default_trait_access, reason = "the client library does not name its decoder")]
    pub(super) async fn read(mut self, mut take: impl FnMut(Value) -> bool) {
        let mut decoder = Default::default();
        while let Ok(value) = parse_redis_value_async(&mut decoder, &mut self.0).await {
            // What nobody has asked for is not an answer.
            if !matches!(value, Value::Push { .. }) && !take(value) {
                return;
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
