//! Network addresses as keys.

use std::fmt::{self, Display};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};

use super::encoder::tag;
use super::{KeyEncoder, RateLimitKey};

/// What a client's address has to say about who it is, as a key.
///
/// IPv6 counts by its /64: that is the least a subscriber is given, so whoever has one address has all of them, and a limit
/// per address would be none. IPv4 counts whole, and so does IPv4 mapped into IPv6 (`::ffff:192.0.2.1`, how a dual-stack
/// socket shows it), which is the same key as the plain address.
///
/// Give it the address of the peer, or one that a proxy you run has vouched for: `X-Forwarded-For` alone is whatever the
/// client wrote.
///
/// ```
/// use std::net::{IpAddr, Ipv4Addr};
///
/// use ratelimit_runtime::client_net;
///
/// let one: IpAddr = "2001:db8:1:2::3".parse()?;
/// let other: IpAddr = "2001:db8:1:2:ffff::".parse()?;
/// assert_eq!(client_net(one), client_net(other));
/// assert_eq!(client_net(one).to_string(), "2001:db8:1:2::/64");
///
/// let mapped: IpAddr = "::ffff:192.0.2.1".parse()?;
/// assert_eq!(client_net(mapped), client_net(Ipv4Addr::new(192, 0, 2, 1)));
/// # Ok::<(), std::net::AddrParseError>(())
/// ```
#[must_use]
pub fn client_net(ip: impl Into<IpAddr>) -> ClientNet {
    let address = match ip.into().to_canonical() {
        IpAddr::V4(ip) => IpAddr::V4(ip),
        IpAddr::V6(ip) => {
            let [a, b, c, d, ..] = ip.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
    };
    ClientNet { address }
}

/// The network that [`client_net`] finds a client in: an IPv6 /64, or one IPv4 address. Prints as `2001:db8::/64` or
/// `192.0.2.1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClientNet {
    /// IPv4, or IPv6 with its last 64 bits 0.
    address: IpAddr,
}

impl ClientNet {
    /// The network's first address; of IPv4 its only one.
    #[must_use]
    pub const fn address(&self) -> IpAddr {
        self.address
    }
}

impl Display for ClientNet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.address {
            IpAddr::V4(ip) => write!(formatter, "{ip}"),
            IpAddr::V6(ip) => write!(formatter, "{ip}/64"),
        }
    }
}

impl RateLimitKey for ClientNet {
    #[inline]
    fn encode(&self, encoder: &mut KeyEncoder) {
        match self.address {
            IpAddr::V4(ip) => ip.encode(encoder),
            IpAddr::V6(ip) => {
                let [net @ .., _, _, _, _, _, _, _, _] = ip.octets();
                encoder.fixed(tag::IPV6_NET_64, net);
            }
        }
    }
}

impl RateLimitKey for Ipv4Addr {
    #[inline]
    fn encode(&self, encoder: &mut KeyEncoder) {
        encoder.fixed(tag::IPV4, self.octets());
    }
}

impl RateLimitKey for Ipv6Addr {
    #[inline]
    fn encode(&self, encoder: &mut KeyEncoder) {
        encoder.fixed(tag::IPV6, self.octets());
    }
}

impl RateLimitKey for IpAddr {
    #[inline]
    fn encode(&self, encoder: &mut KeyEncoder) {
        match self {
            Self::V4(ip) => ip.encode(encoder),
            Self::V6(ip) => ip.encode(encoder),
        }
    }
}

impl RateLimitKey for SocketAddrV4 {
    #[inline]
    fn encode(&self, encoder: &mut KeyEncoder) {
        encoder.fixed(tag::SOCKET_V4, self.ip().octets());
        encoder.more(self.port().to_be_bytes());
    }
}

impl RateLimitKey for SocketAddrV6 {
    #[inline]
    fn encode(&self, encoder: &mut KeyEncoder) {
        // Nearly all have neither, and without them the key is short enough to be kept as it is.
        let scoped = self.flowinfo() != 0 || self.scope_id() != 0;
        encoder.fixed(if scoped { tag::SOCKET_V6_SCOPED } else { tag::SOCKET_V6 }, self.ip().octets());
        encoder.more(self.port().to_be_bytes());
        if scoped {
            encoder.more(self.flowinfo().to_be_bytes());
            encoder.more(self.scope_id().to_be_bytes());
        }
    }
}

impl RateLimitKey for SocketAddr {
    #[inline]
    fn encode(&self, encoder: &mut KeyEncoder) {
        match self {
            Self::V4(address) => address.encode(encoder),
            Self::V6(address) => address.encode(encoder),
        }
    }
}
