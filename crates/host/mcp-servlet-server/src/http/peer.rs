//! Who is at the other end of a connection, and whose share of a limit is the largest.
//!
//! A limit for all clients alone would let one of them keep out all others. An address that holds more than another one would
//! get makes room for it. As long as nobody else waits, one address may have everything.

use std::{
    collections::HashMap,
    net::{IpAddr, Ipv6Addr, SocketAddr},
    sync::Mutex,
    time::{Duration, Instant},
};

use axum::http::HeaderMap;
use ipnet::IpNet;
use mcp_servlet_access::Reason;
use mcp_servlet_common::lock;

use super::tls::HandshakeFailure;
use crate::server::metrics::{RefusedLabel, RefusedTotal};

/// The header in which a trusted proxy names the client.
const FORWARDED: &str = "x-forwarded-for";

/// The address of a client. `None` for a trusted proxy, which has no share of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Peer(Option<IpAddr>);

impl Peer {
    /// The client at the other end of a connection.
    pub(super) fn of_connection(address: SocketAddr, proxies: &[IpNet]) -> Self {
        let address = address.ip().to_canonical();
        Self((!is_in(address, proxies)).then(|| subnet(address)))
    }

    /// The client that sent a request. Only a trusted proxy can name another one.
    pub(super) fn of_request(self, headers: &HeaderMap, proxies: &[IpNet]) -> Self {
        if self.0.is_some() {
            return self;
        }
        let forwarded = headers.get_all(FORWARDED).iter();
        let texts = forwarded.filter_map(|value| value.to_str().ok());
        let addresses: Vec<_> = texts.flat_map(|text| text.split(',')).collect();
        // Each proxy adds the address that it sees, so only the last ones can be trusted.
        let mut addresses = addresses.iter().rev().map_while(|text| {
            let address = forwarded_address(text.trim())?;
            Some(address.to_canonical())
        });
        Self(
            addresses
                .find(|address| !is_in(*address, proxies))
                .map(subnet),
        )
    }

    /// Its address, or the first one of its subnet.
    pub(super) fn address(self) -> Option<IpAddr> {
        self.0
    }

    /// Whether what it holds counts.
    pub(super) fn has_share(self) -> bool {
        self.0.is_some()
    }

    /// The peer that has to make room for this one: the one that holds most, if it would still hold as much as this one then.
    pub(super) fn rival(self, holders: impl Iterator<Item = Self>) -> Option<Self> {
        let mut counts = HashMap::<_, usize>::new();
        for holder in holders {
            *counts.entry(holder).or_default() += 1;
        }
        let own = counts.get(&self).copied().unwrap_or(0) * usize::from(self.has_share());
        let rivals = counts.into_iter().filter(|(peer, _)| peer.has_share());
        let (rival, count) = rivals.max_by_key(|(_, count)| *count)?;
        (count > own + 1).then_some(rival)
    }
}

/// An address of the header. Some proxies write its port, and brackets around IPv6.
fn forwarded_address(text: &str) -> Option<IpAddr> {
    let inside = text
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'));
    let address = inside.unwrap_or(text).parse().ok();
    address.or_else(|| Some(text.parse::<SocketAddr>().ok()?.ip()))
}

fn is_in(address: IpAddr, networks: &[IpNet]) -> bool {
    networks.iter().any(|network| network.contains(&address))
}

/// A client can have all IPv6 addresses of a subnet, so these count as one.
fn subnet(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
    }
}

/// What a limit keeps from a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// A connection had to wait, because too many were open.
    Waiting,
    /// A connection was closed, because too many were open.
    Connection,
    /// A connection was closed, because its TLS handshake failed.
    Handshake(HandshakeFailure),
    /// A session was not opened, because too many were open.
    Session,
    /// A session was closed to make room for another address.
    Evicted,
    /// A request was not answered, because its `Host` or `Origin` is not allowed.
    Sender,
    /// A request was not answered, because its caller is not accepted.
    Caller(Reason),
}

impl Refused {
    fn name(self) -> &'static str {
        match self {
            Self::Waiting => "connection_waits",
            Self::Connection => "connection",
            Self::Handshake(failure) => failure.name(),
            Self::Session => "session",
            Self::Evicted => "session_closed",
            Self::Sender => "sender",
            Self::Caller(reason) => reason.name(),
        }
    }
}

/// Counts what clients were refused, and logs it now and then.
#[derive(Default)]
pub(super) struct Refusals {
    total: RefusedTotal,
    /// When each kind was logged last.
    logged: Mutex<Vec<(Refused, Instant)>>,
}

impl Refusals {
    /// How often a line of each kind is logged at most.
    const PERIOD: Duration = Duration::from_mins(1);

    pub(super) fn new(total: &RefusedTotal) -> Self {
        Self {
            total: total.clone(),
            logged: Mutex::default(),
        }
    }

    pub(super) fn add(&self, refused: Refused, peer: Peer) {
        self.add_with(refused, peer, None);
    }

    /// As [`add`](Self::add), with more about it for the log.
    pub(super) fn add_with(&self, refused: Refused, peer: Peer, detail: Option<String>) {
        let what = refused.name();
        let total = self.total.get_or_create_owned(&RefusedLabel { what }).inc() + 1;
        let mut logged = lock(&self.logged);
        logged.retain(|(_, at)| at.elapsed() < Self::PERIOD);
        if logged.iter().any(|(kind, _)| *kind == refused) {
            return;
        }
        logged.push((refused, Instant::now()));
        drop(logged);
        let address = peer.0.map(tracing::field::display);
        let message = match refused {
            Refused::Waiting => "a client has to wait, because `connections` of `[http]` are open",
            Refused::Connection | Refused::Session => {
                "a client was refused, because a limit of `[http]` is reached"
            }
            Refused::Evicted => {
                "a session of another address was closed, because `sessions` of `[http]` are open"
            }
            Refused::Handshake(_) => "a TLS handshake failed",
            Refused::Sender => "a request was refused, because a header is not allowed",
            Refused::Caller(_) => "a request was refused, because its caller is not accepted",
        };
        let detail = detail
            .map(|detail| format!(": {detail}"))
            .unwrap_or_default();
        tracing::warn!(what, address, total, "{message}{detail}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(address: &str) -> Peer {
        Peer::of_connection(
            SocketAddr::new(address.parse().expect("an address"), 1),
            &[],
        )
    }

    #[test]
    fn the_address_that_holds_most_makes_room() {
        let [a, b, c] = ["10.0.0.1", "10.0.0.2", "10.0.0.3"].map(peer);
        assert_eq!(b.rival([a, a, a].into_iter()), Some(a));
        assert_eq!(b.rival([a, a, b].into_iter()), None);
        assert_eq!(b.rival([a, a, a, b].into_iter()), Some(a));
        assert_eq!(c.rival([a, b].into_iter()), None);
        assert_eq!(a.rival([a, a, a].into_iter()), None);
        let proxy = Peer(None);
        assert_eq!(b.rival([proxy, proxy, proxy].into_iter()), None);
        assert_eq!(proxy.rival([proxy, proxy, a, a].into_iter()), Some(a));
    }

    #[test]
    fn a_subnet_of_ipv6_is_one_address() {
        assert_eq!(peer("2001:db8::1"), peer("2001:db8::2:0:0:1"));
        assert_ne!(peer("2001:db8::1"), peer("2001:db8:0:1::1"));
        assert_eq!(peer("::ffff:10.0.0.1"), peer("10.0.0.1"));
    }

    #[test]
    fn only_a_trusted_proxy_names_its_client() {
        let proxies = ["10.0.0.0/8".parse().expect("a network")];
        let address = |text: &str| SocketAddr::new(text.parse().expect("an address"), 1);
        for (from, header, expected) in [
            ("10.1.2.3", "192.0.2.7", Some("192.0.2.7")),
            (
                "10.1.2.3",
                "203.0.113.9, 192.0.2.7, 10.9.9.9",
                Some("192.0.2.7"),
            ),
            (
                "10.1.2.3",
                "203.0.113.9, 192.0.2.7:51234",
                Some("192.0.2.7"),
            ),
            ("10.1.2.3", "[2001:db8::1]:51234", Some("2001:db8::")),
            ("10.1.2.3", "[2001:db8::1]", Some("2001:db8::")),
            ("10.1.2.3", "unknown", None),
            ("192.0.2.1", "192.0.2.7", Some("192.0.2.1")),
        ] {
            let headers = HeaderMap::from_iter([(
                axum::http::HeaderName::from_static(FORWARDED),
                header.parse().expect("a value"),
            )]);
            let peer = Peer::of_connection(address(from), &proxies).of_request(&headers, &proxies);
            let expected = expected.map(|text| text.parse().expect("an address"));
            assert_eq!(peer, Peer(expected), "{from}: {header}");
        }
    }
}
