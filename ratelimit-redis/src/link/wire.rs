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
    io::{AsyncRead, AsyncWrite, AsyncWriteExt as _, ReadBuf},
    net::{TcpStream, lookup_host},
};

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// A handle: clones are one connection. The lock is held for one read, or one write, which do not block.
#[derive(Clone)]
pub(crate) struct Wire(Arc<Mutex<Box<dyn Stream>>>);

#[expect(clippy::default_trait_access, reason = "the client library does not name its decoder")]
impl Wire {
    pub(super) async fn connect(server: &ConnectionInfo) -> RedisResult<Self> {
        let wire = Self(Arc::new(Mutex::new(open(server).await?)));
        // The client library knows how to introduce oneself. What it makes of the connection is not needed any more.
        let (_connection, _driver) =
            MultiplexedConnection::new(server.redis_settings(), wire.clone()).await?;
        Ok(wire)
    }

    /// Asks for one thing, before anything else is asked.
    pub(super) async fn ask(&mut self, command: &Cmd) -> RedisResult<Value> {
        self.write_all(&command.get_packed_command()).await?;
        parse_redis_value_async(&mut Default::default(), self).await?.extract_error()
    }

    /// Hands each answer over, until it says that this is enough, or none comes any more.
    pub(super) async fn read(mut self, mut take: impl FnMut(Value) -> bool) {
        let mut decoder = Default::default();
        while let Ok(value) = parse_redis_value_async(&mut decoder, &mut self).await {
            // What nobody has asked for is not an answer.
            if !matches!(value, Value::Push { .. }) && !take(value) {
                return;
            }
        }
    }

    fn stream(&self) -> MutexGuard<'_, Box<dyn Stream>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn open(server: &ConnectionInfo) -> RedisResult<Box<dyn Stream>> {
    match server.addr() {
        ConnectionAddr::Tcp(host, port) => {
            let mut last = io::Error::from(io::ErrorKind::NotFound);
            for address in lookup_host((host.as_str(), *port)).await? {
                match TcpStream::connect(address).await {
                    Ok(stream) => {
                        // Small packets leave at once, and a server that is gone is noticed.
                        let settings = server.tcp_settings();
                        stream.set_nodelay(settings.nodelay())?;
                        if let Some(keepalive) = settings.keepalive() {
                            SockRef::from(&stream).set_tcp_keepalive(keepalive)?;
                        }
                        return Ok(Box::new(stream));
                    }
                    Err(error) => last = error,
                }
            }
            Err(last.into())
        }
        #[cfg(unix)]
        ConnectionAddr::Unix(path) => Ok(Box::new(tokio::net::UnixStream::connect(path).await?)),
        _ => Err(RedisError::from((ErrorKind::InvalidClientConfig, "this kind of address is not supported"))),
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut **self.stream()).poll_read(context, buffer)
    }
}

impl AsyncWrite for Wire {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut **self.stream()).poll_write(context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut **self.stream()).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut **self.stream()).poll_shutdown(context)
    }
}
