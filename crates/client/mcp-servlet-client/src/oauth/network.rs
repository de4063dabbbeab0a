//! HTTP requests to authorization servers.
//!
//! A server names its authorization servers, and so decides where these requests go. They only reach public addresses, and
//! addresses of the kind that the server itself has: a server on this machine may use an authorization server on this
//! machine, and one on the internet may not use a router in the user's home.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use mcp_servlet_common::{Reach, is_this_machine, literal};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{Client, redirect};
use rmcp::transport::auth::{
    OAuthHttpClient, OAuthHttpClientError, OAuthHttpClientFuture, OAuthHttpRequest,
};
use url::{Host, Url};

use super::failure;
use super::response::Endpoint;
use crate::error::Error;
use crate::target::Http;
use crate::transport::http::use_ring;

/// How long a request may take.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
/// The most bytes of a response.
const MAX_RESPONSE: usize = 1 << 20;

/// An HTTP client for the authorization servers of one server.
#[derive(Clone, Debug)]
pub(super) struct Network {
    client: Client,
    allowed: Allowed,
}

/// The addresses that requests may go to.
#[derive(Clone, Debug)]
struct Allowed {
    /// How the server itself is reached.
    server: Vec<Reach>,
    /// Whether the server itself is reached without TLS.
    is_plain: bool,
}

impl Network {
    pub(super) async fn new(target: &Http) -> Result<Self, Error> {
        use_ring();
        let allowed = Allowed::for_server(target.url()).await;
        let builder = Client::builder()
            .redirect(redirect::Policy::none())
            .timeout(REQUEST_TIMEOUT)
            .dns_resolver(allowed.clone());
        let builder = target
            .tls_options()
            .apply(&target.label(), builder)
            .map_err(|error| failure::setup(error.to_string()))?;
        let client = builder
            .build()
            .map_err(|error| failure::setup(error.without_url().to_string()))?;
        Ok(Self { client, allowed })
    }

    pub(super) fn client(&self) -> &Client {
        &self.client
    }

    async fn send(
        &self,
        request: http::Request<Vec<u8>>,
    ) -> Result<http::Response<Vec<u8>>, OAuthHttpClientError> {
        let mut response = self
            .client
            .execute(request.try_into()?)
            .await
            .map_err(reqwest::Error::without_url)?;
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await? {
            if body.len() + chunk.len() > MAX_RESPONSE {
                return Err(format!("the response has more than {MAX_RESPONSE} bytes").into());
            }
            body.extend_from_slice(&chunk);
        }
        let response = http::Response::<reqwest::Body>::from(response);
        Ok(response.map(|_| body))
    }

    /// Whether the URL of the server has a private address. Names are checked when they are resolved.
    pub(super) fn is_private(target: &Http) -> bool {
        address(target.url()).is_some_and(|address| Reach::of(address) == Reach::Private)
    }

    /// Checks a URL that an authorization server names.
    pub(super) fn check(&self, name: &str, url: &str) -> Result<Url, Error> {
        let parsed = Url::parse(url).ok().filter(|url| self.allowed.allows(url));
        parsed.ok_or_else(|| failure::endpoint(name, url))
    }
}

impl Allowed {
    async fn for_server(url: &Url) -> Self {
        let server = match (url.host(), url.port_or_known_default()) {
            (Some(Host::Domain(name)), Some(port)) => tokio::net::lookup_host((name, port))
                .await
                .into_iter()
                .flatten()
                .map(|address| Reach::of(address.ip()))
                .collect(),
            _ => address(url).map(Reach::of).into_iter().collect(),
        };
        Self {
            server,
            is_plain: url.scheme() == "http",
        }
    }

    fn allows(&self, url: &Url) -> bool {
        let scheme_is_allowed = match url.scheme() {
            "https" => true,
            "http" => self.allows_plain(url),
            _ => false,
        };
        scheme_is_allowed && address(url).is_none_or(|address| self.reaches(address))
    }

    /// Whether a URL may be without TLS: if the user lets messages to the server go without TLS to other machines, or
    /// if both are this machine.
    fn allows_plain(&self, url: &Url) -> bool {
        let is_here = url.host_str().is_some_and(is_this_machine);
        self.is_plain && (is_here || !self.server.contains(&Reach::Loopback))
    }

    fn reaches(&self, address: IpAddr) -> bool {
        match Reach::of(address) {
            Reach::Public => true,
            Reach::Reserved => false,
            local => self.server.contains(&local),
        }
    }
}

impl Resolve for Allowed {
    fn resolve(&self, name: Name) -> Resolving {
        let allowed = self.clone();
        Box::pin(async move {
            let addresses = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let allowed: Vec<SocketAddr> = addresses
                .filter(|address| allowed.reaches(address.ip()))
                .collect();
            if allowed.is_empty() {
                let reason = format!(
                    "`{}` has no address that this server may name",
                    name.as_str()
                );
                return Err(io::Error::other(reason).into());
            }
            Ok(Box::new(allowed.into_iter()) as Addrs)
        })
    }
}

impl OAuthHttpClient for Network {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(async move {
            let endpoint = Endpoint::of(&request.request);
            endpoint.normalize(self.send(request.request).await)
        })
    }
}

fn address(url: &Url) -> Option<IpAddr> {
    literal(url.host_str()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn servers_may_only_name_public_addresses_and_those_of_their_own_kind() {
        for (server, url, is_allowed) in [
            ("https://93.184.216.34", "https://login.example.com", true),
            ("https://93.184.216.34", "http://login.example.com", false),
            ("https://93.184.216.34", "https://127.0.0.1", false),
            ("https://93.184.216.34", "https://10.0.0.1", false),
            ("https://93.184.216.34", "file:///etc/passwd", false),
            ("https://93.184.216.34", "javascript:alert(1)", false),
            ("http://127.0.0.1", "http://127.0.0.1:99/token", true),
            ("http://127.0.0.1", "http://localhost:99/token", true),
            ("http://127.0.0.1", "http://login.example.com", false),
            ("http://127.0.0.1", "http://10.0.0.1/token", false),
            ("http://10.0.0.2", "http://10.0.0.1/token", true),
            ("https://10.0.0.2", "https://10.0.0.1", true),
            ("https://10.0.0.2", "https://169.254.169.254", false),
        ] {
            let allowed = Allowed::for_server(&server.parse().expect("a URL")).await;
            let url = url.parse().expect("a URL");
            assert_eq!(allowed.allows(&url), is_allowed, "{server} {url}");
        }
    }

    #[tokio::test]
    async fn names_of_local_addresses_are_not_resolved() {
        let url = "https://93.184.216.34".parse().expect("a URL");
        let allowed = Allowed::for_server(&url).await;
        let name = || "localhost".parse::<Name>().expect("a name");
        assert!(allowed.resolve(name()).await.is_err());
        let url = "http://127.0.0.1".parse().expect("a URL");
        let allowed = Allowed::for_server(&url).await;
        assert!(allowed.resolve(name()).await.is_ok());
    }
}
