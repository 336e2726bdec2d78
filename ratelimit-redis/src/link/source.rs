//! Where a connection comes from.

use std::time::Duration;

use redis::{
    AsyncConnectionConfig, Client, ConnectionInfo, IntoConnectionInfo as _, ProtocolVersion, PushKind,
    RedisResult, aio::MultiplexedConnection, io::tcp::TcpSettings,
};
use tokio::sync::watch;

#[derive(Clone)]
pub(crate) enum Source {
    /// One server, always the same.
    Server(Client),
}

/// A connection, and a way to be told that it broke, whether or not anything is asked of it.
pub(crate) struct Connected {
    pub(crate) connection: MultiplexedConnection,
    pub(crate) broken: watch::Receiver<bool>,
}

impl Source {
    pub(crate) fn server(url: &str) -> RedisResult<Self> {
        Ok(Self::Server(Client::open(as_we_like(url.into_connection_info()?))?))
    }

    pub(crate) async fn connect(&self, within: Duration) -> RedisResult<Connected> {
        let Self::Server(client) = self;
        connect(client, within).await
    }
}

async fn connect(client: &Client, within: Duration) -> RedisResult<Connected> {
    let (breaks, broken) = watch::channel(false);
    let config = AsyncConnectionConfig::new()
        .set_connection_timeout(Some(within))
        // Each request has its own.
        .set_response_timeout(None)
        .set_pipeline_buffer_size(1024)
        .set_push_sender(move |message: redis::PushInfo| {
            if message.kind == PushKind::Disconnection {
                _ = breaks.send(true);
            }
            Ok::<(), redis::aio::SendError>(())
        });
    let connection = client.get_multiplexed_async_connection_with_config(&config).await?;
    Ok(Connected { connection, broken })
}

/// Small packets leave at once, a server that is gone is noticed, and so is a connection that ends.
fn as_we_like(info: ConnectionInfo) -> ConnectionInfo {
    let keepalive =
        socket2::TcpKeepalive::new().with_time(Duration::from_secs(10)).with_interval(Duration::from_secs(5));
    let settings = info.redis_settings().clone().set_protocol(ProtocolVersion::RESP3);
    info.set_tcp_settings(TcpSettings::default().set_nodelay(true).set_keepalive(keepalive))
        .set_redis_settings(settings)
}
