//! The IP addresses that requests may reach.
//!
//! The check is part of name resolution and runs for each connection, because a name can resolve to
//! another address the next time.
//!
//! See `docs/decisions/0034-resolver-checks-addresses.md`.

use std::{
    net::{IpAddr, SocketAddr},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    vec,
};

use hyper_util::client::legacy::connect::dns::Name;
use mcp_servlet_common::{Reach, is_this_machine, literal};
use tower_service::Service;

const LOCALHOST: &str = "localhost";

/// The private addresses that a servlet may reach.
#[derive(Clone, Debug)]
pub struct Addresses {
    /// Whether it may reach all of them.
    all: bool,
    /// The addresses that the operator listed.
    listed: Arc<[IpAddr]>,
    /// Whether it may reach this machine by the name `localhost`.
    localhost: bool,
}

impl Addresses {
    /// The private addresses among these hosts, or all of them.
    pub fn of(hosts: &[String], all: bool) -> Self {
        Self {
            all,
            listed: hosts.iter().filter_map(|host| literal(host)).collect(),
            localhost: hosts
                .iter()
                .any(|host| host.eq_ignore_ascii_case(LOCALHOST)),
        }
    }

    /// All addresses.
    pub fn any() -> Self {
        Self {
            all: true,
            listed: Arc::default(),
            localhost: true,
        }
    }

    /// The allowed addresses of a name.
    async fn resolve(self, name: Name) -> Result<vec::IntoIter<SocketAddr>, Unresolved> {
        let host = name.as_str();
        let resolved: Vec<_> = tokio::net::lookup_host((host, 0)).await.map_or_else(
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
    pub(crate) fn allow(&self, host: &str, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.all
            || Reach::of(address) == Reach::Public
            || self.listed.contains(&address)
            || (self.localhost && host.eq_ignore_ascii_case(LOCALHOST) && address.is_loopback())
    }

    /// Whether a URL may name this host to a proxy, which resolves it. Literal addresses follow the
    /// same rules as connections; `localhost` must be listed, unless all private addresses are
    /// allowed.
    pub fn allow_name(&self, host: &str) -> bool {
        if let Some(address) = literal(host) {
            return self.allow(host, address);
        }
        let is_localhost = host.trim_end_matches('.').eq_ignore_ascii_case(LOCALHOST);
        !is_this_machine(host) || self.all || (self.localhost && is_localhost)
    }
}

/// Whether listing `host` as an allowed host also opens its private address.
pub(crate) fn can_be_listed(host: &str) -> bool {
    literal(host).is_some() || host.eq_ignore_ascii_case(LOCALHOST)
}

/// Why a connection to a host has no address.
#[derive(Debug, thiserror::Error)]
pub enum Unresolved {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap_or_else(|_| panic!("{text}"))
    }

    #[test]
    fn an_address_in_the_list_is_open_in_all_its_forms() {
        let hosts = ["10.0.0.1", "[::ffff:a00:2]", "[fd00::1]", "10.1.*"];
        let addresses = Addresses::of(&hosts.map(str::to_owned), false);
        for listed in ["10.0.0.1", "::ffff:10.0.0.1", "10.0.0.2", "fd00::1"] {
            assert!(addresses.allow("a.example", address(listed)), "{listed}");
        }
        for other in ["10.0.0.3", "10.1.0.1", "fd00::2", "127.0.0.1"] {
            assert!(!addresses.allow("a.example", address(other)), "{other}");
        }
    }
}
