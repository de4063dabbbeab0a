//! The IP addresses that requests may reach.
//!
//! The check is part of name resolution and runs for each connection, because a name can resolve to
//! another address the next time.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    vec,
};

use hyper_util::client::legacy::connect::dns::Name;
use tower_service::Service;

use crate::options::LoadOptions;

const LOCALHOST: &str = "localhost";

/// The private addresses that a servlet may reach.
#[derive(Clone, Debug)]
pub(crate) struct Addresses {
    /// Whether it may reach all of them.
    all: bool,
    /// The addresses that the operator listed.
    listed: Arc<[IpAddr]>,
    /// Whether it may reach this machine by the name `localhost`.
    localhost: bool,
}

impl Addresses {
    pub(super) fn of(options: &LoadOptions) -> Self {
        let hosts = options.allowed_hosts.iter();
        Self {
            all: options.allow_private,
            listed: hosts.clone().filter_map(|host| literal(host)).collect(),
            localhost: hosts
                .clone()
                .any(|host| host.eq_ignore_ascii_case(LOCALHOST)),
        }
    }

    /// All addresses.
    pub(crate) fn any() -> Self {
        Self {
            all: true,
            listed: Arc::default(),
            localhost: true,
        }
    }

    /// The allowed addresses of a name.
    async fn resolve(self, name: Name) -> Result<vec::IntoIter<SocketAddr>, Unresolved> {
        let host = name.as_str();
        let resolved = tokio::net::lookup_host((host, 0)).await;
        let resolved: Vec<_> = resolved.map_or_else(
            |error| {
                tracing::debug!(host, %error, "host name not resolved");
                Vec::new()
            },
            Iterator::collect,
        );
        if resolved.is_empty() {
            return Err(Unresolved::NotFound);
        }
        let mut allowed = resolved.clone();
        allowed.retain(|address| self.allow(host, address.ip()));
        if allowed.is_empty() {
            tracing::debug!(host, addresses = ?resolved, "private address refused");
            return Err(Unresolved::Private);
        }
        Ok(allowed.into_iter())
    }

    /// Whether a connection to `host` may lead to `address`.
    pub(super) fn allow(&self, host: &str, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.all
            || is_public(address)
            || self.listed.contains(&address)
            || (self.localhost && host.eq_ignore_ascii_case(LOCALHOST) && address.is_loopback())
    }

    /// Whether a URL may name this host to a proxy, which resolves it. Literal addresses follow the
    /// same rules as connections; `localhost` must be listed, unless all private addresses are
    /// allowed.
    pub(super) fn allow_name(&self, host: &str) -> bool {
        if let Some(address) = literal(host) {
            return self.allow(host, address);
        }
        let name = host.trim_end_matches('.').to_ascii_lowercase();
        let is_local = name == LOCALHOST || name.ends_with(".localhost");
        !is_local || self.all || (self.localhost && name == LOCALHOST)
    }
}

/// Whether listing `host` as an allowed host also opens its private address.
pub(super) fn can_be_listed(host: &str) -> bool {
    literal(host).is_some() || host.eq_ignore_ascii_case(LOCALHOST)
}

/// The IP address in a host, with or without brackets.
pub(super) fn literal(host: &str) -> Option<IpAddr> {
    let bare = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    let address: IpAddr = bare.unwrap_or(host).parse().ok()?;
    Some(address.to_canonical())
}

/// Why a connection to a host has no address.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unresolved {
    /// The name does not resolve.
    #[error("host not found")]
    NotFound,
    /// All addresses of the host are private, and the servlet may not reach them.
    #[error("the host has a private address")]
    Private,
}

impl Service<Name> for Addresses {
    type Response = vec::IntoIter<SocketAddr>;
    type Error = Unresolved;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Unresolved>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Unresolved>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        Box::pin(self.clone().resolve(name))
    }
}

/// Whether an address is public, according to IANA's registries of special-purpose addresses.
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let special = address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_multicast()
        || address.is_documentation();
    let special = special
        || matches!(
            address.octets(),
            // "This network", reserved addresses, and broadcast.
            [0 | 240.., ..]
            // Shared address space of providers.
            | [100, 64..128, ..]
            // IETF protocol assignments.
            | [192, 0, 0, _]
            // Benchmarking.
            | [198, 18 | 19, ..]
        );
    !special
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let v4 = |high: u16, low: u16| {
        let [[a, b], [c, d]] = [high.to_be_bytes(), low.to_be_bytes()];
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match address.segments() {
        // IPv4 addresses in another form: mapped, compatible, NAT64 and 6to4.
        [0, 0, 0, 0, 0, 0xffff | 0, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low]
        | [0x2002, high, low, ..] => v4(high, low),
        // Teredo, which also contains an IPv4 address, protocol assignments, and documentation.
        [0x2001, second, ..] => second >= 0x200 && second != 0xdb8,
        [0x3fff, second, ..] => second >= 0x1000,
        // Global unicast. This excludes unique local, link-local, site-local and multicast addresses.
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap_or_else(|_| panic!("{text}"))
    }

    #[test]
    fn distinguishes_public_addresses_from_all_others() {
        for public in [
            "1.1.1.1",
            "100.63.255.255",
            "100.128.0.0",
            "172.15.0.1",
            "172.32.0.1",
            "192.0.1.1",
            "198.17.0.1",
            "198.20.0.1",
            "223.255.255.255",
            "2606:4700::1111",
            "2001:4860:4860::8888",
            "64:ff9b::101:101",
            "2002:101:101::1",
            "::ffff:1.1.1.1",
        ] {
            assert!(is_public(address(public)), "{public}");
        }
        for private in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.254",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.1",
            "192.0.2.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::127.0.0.1",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "64:ff9b::7f00:1",
            "64:ff9b:1::1",
            "100::1",
            "2001::1",
            "2001:db8::1",
            "2002:7f00:1::1",
            "3fff::1",
            "fc00::1",
            "fd12:3456::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ] {
            assert!(!is_public(address(private)), "{private}");
        }
    }

    #[test]
    fn an_address_in_the_list_is_open_in_all_its_forms() {
        let options = LoadOptions {
            allowed_hosts: ["10.0.0.1", "[::ffff:a00:2]", "[fd00::1]", "10.1.*"]
                .map(str::to_owned)
                .into(),
            ..LoadOptions::default()
        };
        let addresses = Addresses::of(&options);
        for listed in ["10.0.0.1", "::ffff:10.0.0.1", "10.0.0.2", "fd00::1"] {
            assert!(addresses.allow("a.example", address(listed)), "{listed}");
        }
        for other in ["10.0.0.3", "10.1.0.1", "fd00::2", "127.0.0.1"] {
            assert!(!addresses.allow("a.example", address(other)), "{other}");
        }
    }
}
