//! Where a connection comes from.

use std::{fmt, slice, time::Duration};

use futures_util::future::select_ok;
use redis::{
    ConnectionAddr, ConnectionInfo, ErrorKind, FromRedisValue as _, IntoConnectionInfo as _, ProtocolVersion,
    RedisConnectionInfo, RedisError, RedisResult, cmd, io::tcp::TcpSettings,
};
use tokio::time::timeout;

use super::{Network, Wire};

#[derive(Clone)]
pub(crate) enum Source {
    /// One server, always the same.
    Server(ConnectionInfo),
    /// Whichever server the sentinels call the master of that name.
    Sentinels(Vec<ConnectionInfo>, String),
}

/// A sentinel that takes longer is passed over.
const SENTINEL_ANSWERS: Duration = Duration::from_millis(250);

impl Source {
    pub(super) async fn connect(&self, network: &Network) -> RedisResult<Wire> {
        match self {
            Self::Server(server) => Wire::connect(server, network).await,
            Self::Sentinels(sentinels, name) => {
                Wire::connect(&master(sentinels, name, network).await?, network).await
            }
        }
    }

    pub(super) fn shown(&self, error: &RedisError) -> String {
        match self {
            Self::Server(server) => shown(error, slice::from_ref(server)),
            Self::Sentinels(sentinels, _) => shown(error, sentinels),
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Server(server) => server.addr().fmt(f),
            Self::Sentinels(_, name) => f.write_str(name),
        }
    }
}

/// What has gone wrong with such servers, in their words, and without passwords: a server that does not know a command tells
/// what came with it.
pub(crate) fn shown(error: &RedisError, servers: &[ConnectionInfo]) -> String {
    let error = match (error.code(), error.detail()) {
        _ if error.kind() == ErrorKind::Parse => "what answers there is no Redis or Valkey server".to_owned(),
        _ if hangs_up(error) && servers.iter().any(|server| !speaks_tls(server)) => {
            format!("{error}; if the server expects TLS, its address begins with `rediss://`")
        }
        (Some(code), Some(detail)) => format!("{code} {detail}"),
        _ => error.to_string(),
    };
    let error = error.split_once(", with args").map_or(error.as_str(), |(before, _)| before);
    let passwords = servers.iter().filter_map(|server| server.redis_settings().password());
    passwords
        .filter(|password| !password.is_empty())
        .fold(error.to_owned(), |error, password| error.replace(password, "…"))
}

/// Whether somebody was there, who has ended the connection: not so if nobody listens.
fn hangs_up(error: &RedisError) -> bool {
    error.is_connection_dropped() && !error.is_connection_refusal()
}

fn speaks_tls(server: &ConnectionInfo) -> bool {
    matches!(server.addr(), ConnectionAddr::TcpTls { .. })
}

/// Reads an address such as `redis://user:password@host:port/database`, or says what to write instead.
pub(crate) fn server(url: &str) -> Result<ConnectionInfo, String> {
    if cfg!(not(feature = "tls")) && ["rediss:", "valkeys:"].iter().any(|scheme| url.starts_with(scheme)) {
        return Err("TLS needs the feature `tls` of `ratelimit-redis`".to_owned());
    }
    let server = url.into_connection_info().map_err(|error: RedisError| {
        format!("{error}; write `redis://host:port` or `redis://user:password@host:port/database`")
    })?;
    match server.addr() {
        ConnectionAddr::TcpTls { insecure: true, .. } => {
            return Err("TLS is not made insecure; leave out `#insecure`".to_owned());
        }
        #[cfg(feature = "tls")]
        ConnectionAddr::TcpTls { .. } => _ = super::tls::config().map_err(|error| error.to_string())?,
        _ => {}
    }
    Ok(as_we_like(server))
}

/// Another server, to be spoken to in the same way.
pub(crate) fn at(address: &str, like: &ConnectionInfo) -> Option<ConnectionInfo> {
    let (host, port) = address.rsplit_once(':')?;
    let address = (host.trim_matches(['[', ']']), port.parse().ok()?);
    let mut other = like.clone();
    let before = like.addr().clone();
    other = other.set_addr(match before {
        ConnectionAddr::TcpTls { insecure, tls_params, .. } => {
            ConnectionAddr::TcpTls { host: address.0.to_owned(), port: address.1, insecure, tls_params }
        }
        _ => ConnectionAddr::Tcp(address.0.to_owned(), address.1),
    });
    Some(other)
}

/// The master, by the first sentinel that tells. All are asked at once: those that do not answer cost no time.
async fn master(sentinels: &[ConnectionInfo], name: &str, network: &Network) -> RedisResult<ConnectionInfo> {
    let ask = |sentinel| async move {
        let error = match timeout(SENTINEL_ANSWERS, ask(sentinel, name, network)).await {
            Ok(Ok(Some((host, port)))) => match at(&format!("{host}:{port}"), sentinel) {
                Some(master) => return Ok(master),
                None => format!("the master is at {host}:{port}"),
            },
            Ok(Ok(None)) => "it watches over no master of that name".to_owned(),
            Ok(Err(error)) => shown(&error, sentinels),
            Err(_) => format!("no answer within {SENTINEL_ANSWERS:?}"),
        };
        Err(format!("{}: {error}", sentinel.addr()))
    };
    let asked = select_ok(sentinels.iter().map(|sentinel| Box::pin(ask(sentinel)))).await;
    asked.map(|(master, _)| master).map_err(|why| {
        RedisError::from((ErrorKind::MasterNameNotFoundBySentinel, "no sentinel tells the master", why))
    })
}

/// With the credentials that the master has, or without any: sentinels often have none.
async fn ask(sentinel: &ConnectionInfo, name: &str, network: &Network) -> RedisResult<Option<(String, u16)>> {
    let settings = sentinel.redis_settings().clone().set_db(0);
    let bare = RedisConnectionInfo::default().set_protocol(ProtocolVersion::RESP2);
    let mut answer = Err(RedisError::from((ErrorKind::Client, "not asked")));
    for settings in [settings, bare] {
        let sentinel = sentinel.clone().set_redis_settings(settings);
        let asked = async {
            let question = cmd("SENTINEL").arg("GET-MASTER-ADDR-BY-NAME").arg(name).get_packed_command();
            let answer = Wire::connect(&sentinel, network).await?.ask(&question).await?;
            Ok(Option::<(String, u16)>::from_redis_value(answer)?)
        };
        answer = asked.await;
        if answer.is_ok() {
            break;
        }
    }
    answer
}

/// Small packets leave at once, a server that is gone is noticed, and so is a connection that ends.
fn as_we_like(info: ConnectionInfo) -> ConnectionInfo {
    let keepalive =
        socket2::TcpKeepalive::new().with_time(Duration::from_secs(10)).with_interval(Duration::from_secs(5));
    let settings = info.redis_settings().clone().set_protocol(ProtocolVersion::RESP2);
    info.set_tcp_settings(TcpSettings::default().set_nodelay(true).set_keepalive(keepalive))
        .set_redis_settings(settings)
}
