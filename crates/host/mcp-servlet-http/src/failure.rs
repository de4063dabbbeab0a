//! Why a request has no response: messages and kinds.

use std::{error::Error, io, iter::successors, time::Duration};

use mcp_servlet_call::{HttpDenied, HttpFailure};
use mcp_servlet_types::HttpErrorKind as Kind;
use tokio_rustls::rustls::{self, InvalidMessage, pki_types::InvalidDnsNameError};
use url::Url;

use crate::address::{Unresolved, can_be_listed};

/// There is no connection through the proxy.
#[derive(Debug, thiserror::Error)]
#[error("CONNECT proxy failed: {0}")]
pub(crate) struct ProxyFailed(pub(crate) String);

/// The operator does not allow the host.
pub fn host_denied(url: &Url) -> HttpFailure {
    let option = format!("--allow-host {}", url.host_str().unwrap_or_default());
    denied(url, false, option)
}

/// The operator allows the host, but not its address.
pub fn address_denied(url: &Url) -> HttpFailure {
    let host = url.host_str().unwrap_or_default();
    let option = if can_be_listed(host) {
        format!("--allow-host {host}")
    } else {
        "--allow-private".to_owned()
    };
    denied(url, true, option)
}

fn denied(url: &Url, is_private: bool, option: String) -> HttpFailure {
    let denied = HttpDenied {
        origin: origin(url),
        is_private,
        option,
    };
    let HttpDenied { origin, option, .. } = &denied;
    tracing::warn!(
        origin,
        allow = option,
        "HTTP request not allowed{}",
        denied.why()
    );
    HttpFailure {
        denied: Some(denied.clone()),
        ..HttpFailure::new(Kind::NotAllowed, denied.to_string())
    }
}

/// A redirect would send the body of a request to another origin.
pub(crate) fn body_redirected(from: &Url, to: &Url) -> HttpFailure {
    let (from, to) = (origin(from), origin(to));
    let message = format!(
        "`{from}` redirects the request and its body to another origin, `{to}`; send the request there if it may \
         have the body"
    );
    HttpFailure::new(Kind::Redirect, message)
}

/// The server did not answer in time.
pub fn timed_out(url: &Url, limit: Duration) -> HttpFailure {
    let origin = origin(url);
    let message = format!("`{origin}` did not answer within {limit:?}");
    HttpFailure::new(Kind::Timeout, message)
}

/// The request was redirected this often, and again.
pub fn too_many_redirects(url: &Url, limit: usize) -> HttpFailure {
    let message = format!("more than {limit} redirects, the last to {}", origin(url));
    HttpFailure::new(Kind::TooManyRedirects, message)
}

/// The call has reached its limit of requests.
pub fn too_many_requests(limit: u32) -> HttpFailure {
    let message = format!("a call may send at most {limit} HTTP requests");
    HttpFailure::new(Kind::TooManyRequests, message)
}

/// A request has waited this long for others to end.
pub fn too_many_open(url: &Url, open: usize, waited: Duration) -> HttpFailure {
    let message = format!(
        "the request to `{}` was not sent within {waited:?}: the servlet has {open} open HTTP requests, which is its \
         limit `http_concurrency`; send fewer at the same time, or raise the limit",
        origin(url)
    );
    HttpFailure::new(Kind::TooManyRequests, message)
}

/// The server did not answer in HTTP.
pub(crate) fn not_http(url: &Url, reason: &str) -> HttpFailure {
    let origin = origin(url);
    let message = format!("the response of `{origin}` is not valid HTTP: {reason}");
    HttpFailure::new(Kind::Protocol, message)
}

/// Sorts an error of the HTTP client.
pub(crate) fn sort(error: &(dyn Error + 'static), url: &Url) -> HttpFailure {
    let kind = match find(error) {
        Some(Unresolved::Private) => return address_denied(url),
        Some(Unresolved::NotFound) => {
            let host = url.host_str().unwrap_or_default();
            return HttpFailure::new(Kind::Dns, format!("the host `{host}` was not found"));
        }
        None => kind(error),
    };
    let reason = reason(error);
    if kind == Kind::Protocol {
        return not_http(url, &reason);
    }
    let origin = origin(url);
    if find(error).is_some_and(lacks_tls) {
        let message = format!("the server of `{origin}` does not use TLS");
        return HttpFailure {
            lacks_tls: true,
            ..HttpFailure::new(kind, message)
        };
    }
    let message = format!("the connection to `{origin}` failed: {reason}");
    HttpFailure::new(kind, message)
}

/// Whether the answer to a handshake of TLS is something else, such as plain HTTP.
fn lacks_tls(error: &io::Error) -> bool {
    let cause = error.get_ref().and_then(|cause| cause.downcast_ref());
    matches!(
        cause,
        Some(rustls::Error::InvalidMessage(
            InvalidMessage::InvalidContentType
        ))
    )
}

/// The kind of an error that no other rule sorts.
fn kind(error: &(dyn Error + 'static)) -> Kind {
    if find::<ProxyFailed>(error).is_some() {
        return Kind::Connect;
    }
    if find::<InvalidDnsNameError>(error).is_some() {
        return Kind::Tls;
    }
    let io = find(error).map(io_kind);
    io.or_else(|| find(error).map(http_kind))
        .unwrap_or_default()
}

fn io_kind(error: &io::Error) -> Kind {
    if matches!(error.get_ref(), Some(cause) if cause.is::<rustls::Error>()) {
        return Kind::Tls;
    }
    match error.kind() {
        io::ErrorKind::TimedOut => Kind::Timeout,
        // The errors of hyper for chunks that are not valid.
        io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => Kind::Protocol,
        _ => Kind::Connect,
    }
}

fn http_kind(error: &hyper::Error) -> Kind {
    if error.is_parse() {
        Kind::Protocol
    } else if error.is_incomplete_message() || error.is_canceled() || error.is_closed() {
        Kind::Connect
    } else {
        Kind::Other
    }
}

/// The error that says the most: the last one of the chain, which the others only wrap.
pub(crate) fn reason(error: &(dyn Error + 'static)) -> String {
    chain(error).last().unwrap_or(error).to_string()
}

/// The first error of a type in a chain.
fn find<'a, T: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a T> {
    chain(error).find_map(|error| error.downcast_ref())
}

/// An error and its causes.
fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    successors(Some(error), |&error| error.source())
}

/// The origin of a URL, without the parts that may be secret: path, query and password.
pub(crate) fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_the_option_that_allows_the_request() {
        let read = |failure: &HttpFailure| {
            let HttpDenied { origin, option, .. } = failure.denied.clone().expect("a refusal");
            assert!(
                failure.message.contains(&format!("`{option}`")),
                "{failure}"
            );
            (origin, option)
        };
        let url = |text| Url::parse(text).expect("a URL");
        let host = host_denied(&url("https://u:p@api.example:8443/secret?key=1"));
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
            let denied = address_denied(&url(text));
            assert_eq!(read(&denied), (origin.to_owned(), option.to_owned()));
            assert_eq!(denied.kind, Kind::NotAllowed);
        }
    }
}
