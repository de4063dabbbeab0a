//! Why a request has no response: messages and kinds.

use std::{io, time::Duration};

use extism::Error;
use mcp_servlet_types::HttpErrorKind as Kind;
use url::Url;

use super::address::{PrivateAddress, can_be_listed};
use crate::exchange::{Denied, HttpFailure};

/// Why a request ended without a response.
#[derive(Debug, thiserror::Error)]
pub(super) enum Ended {
    /// The request failed, and the servlet may go on.
    #[error(transparent)]
    Failed(#[from] HttpFailure),
    /// The call is over.
    #[error(transparent)]
    Stopped(Error),
}

impl HttpFailure {
    /// The operator does not allow the host.
    pub(super) fn host_denied(url: &Url) -> Self {
        let option = format!("--allow-host {}", url.host_str().unwrap_or_default());
        Self::denied(url, "", option)
    }

    /// The operator allows the host, but not its address.
    pub(super) fn address_denied(url: &Url) -> Self {
        let host = url.host_str().unwrap_or_default();
        let option = if can_be_listed(host) {
            format!("--allow-host {host}")
        } else {
            "--allow-private".to_owned()
        };
        Self::denied(url, ": the address is private", option)
    }

    fn denied(url: &Url, why: &'static str, option: String) -> Self {
        let origin = origin(url);
        tracing::warn!(origin, allow = option, "HTTP request not allowed{why}");
        let denied = Denied {
            origin,
            why,
            option,
        };
        Self {
            denied: Some(denied.clone()),
            ..Self::new(Kind::NotAllowed, denied.to_string())
        }
    }

    /// A redirect would send the body of a request to another origin.
    pub(super) fn body_redirected(from: &Url, to: &Url) -> Self {
        let (from, to) = (origin(from), origin(to));
        let message = format!(
            "`{from}` redirects the request and its body to another origin, `{to}`; send the request there if it may \
             have the body"
        );
        Self::new(Kind::Redirect, message)
    }

    pub(super) fn timed_out(url: &Url, limit: Duration) -> Self {
        let origin = origin(url);
        let message = format!("`{origin}` did not answer within {limit:?}");
        Self::new(Kind::Timeout, message)
    }

    /// Sorts an error of the HTTP client, except for our own timeouts.
    pub(super) fn sort(error: ureq::Error, url: &Url) -> Self {
        use ureq::Error as E;
        let origin = origin(url);
        let connection =
            |error: &dyn std::fmt::Display| format!("the connection to `{origin}` failed: {error}");
        let (kind, message) = match error {
            E::Other(error) if error.is::<PrivateAddress>() => return Self::address_denied(url),
            E::HostNotFound => {
                let host = url.host_str().unwrap_or_default();
                (Kind::Dns, format!("the host `{host}` was not found"))
            }
            E::Io(error) => (io_kind(&error, url), connection(&error)),
            E::Tls(_) | E::Rustls(_) | E::Pem(_) | E::TlsRequired => {
                (Kind::Tls, connection(&error))
            }
            E::Timeout(_) => (Kind::Timeout, connection(&error)),
            E::ConnectionFailed | E::ConnectProxyFailed(_) => (Kind::Connect, connection(&error)),
            E::Http(_) | E::BadUri(_) => (Kind::Request, format!("invalid HTTP request: {error}")),
            E::Protocol(_) | E::LargeResponseHeader(..) | E::Decompress(..) => (
                Kind::Protocol,
                format!("the response of `{origin}` is not valid HTTP: {error}"),
            ),
            error => (Kind::Other, connection(&error)),
        };
        Self::new(kind, message)
    }
}

fn io_kind(error: &io::Error, url: &Url) -> Kind {
    match error.kind() {
        io::ErrorKind::TimedOut => Kind::Timeout,
        // The error of rustls if it rejects the other side.
        io::ErrorKind::InvalidData if url.scheme() == "https" => Kind::Tls,
        _ => Kind::Connect,
    }
}

/// The origin of a URL, without the parts that may be secret: path, query and password.
pub(super) fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}

impl From<Error> for Ended {
    fn from(error: Error) -> Self {
        Self::Stopped(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_the_option_that_allows_the_request() {
        let read = |failure: &HttpFailure| {
            let Denied { origin, option, .. } = failure.denied.clone().expect("a refusal");
            assert!(
                failure.message.contains(&format!("`{option}`")),
                "{failure}"
            );
            (origin, option)
        };
        let url = |text| Url::parse(text).expect("a URL");
        let host = HttpFailure::host_denied(&url("https://u:p@api.example:8443/secret?key=1"));
        let expected = ("https://api.example:8443", "--allow-host api.example");
        assert_eq!(read(&host), (expected.0.to_owned(), expected.1.to_owned()));
        for (text, origin, option) in [
            ("http://a.example/", "http://a.example", "--allow-private"),
            (
                "http://localhost/",
                "http://localhost",
                "--allow-host localhost",
            ),
            ("http://[::1]:8/", "http://[::1]:8", "--allow-host [::1]"),
        ] {
            let denied = HttpFailure::address_denied(&url(text));
            assert_eq!(read(&denied), (origin.to_owned(), option.to_owned()));
            assert_eq!(denied.kind, Kind::NotAllowed);
        }
    }
}
