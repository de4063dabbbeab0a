//! HTTP between guest and host: the reasons why a request fails, and the requests that are refused.
//!
//! When Extism's `http_request` fails, it ends the call. Our host returns the failure to a module with the custom
//! section [`HTTP_ERRORS`] instead: `http_status_code` returns [`HttpErrorKind::code`], which is below every HTTP
//! status, and the block that `http_request` returns contains the message.

/// The custom section of modules that handle failures of HTTP requests.
pub const HTTP_ERRORS: &str = "mcp-servlet.http-errors";

/// The configuration key whose value tells a module with the section [`HTTP_ERRORS`] that the host takes several requests at
/// once. Other hosts have no value for it.
///
/// `http_request` then takes a list `[[request, length], …]`, in which each request is an object as Extism reads it. The block
/// with the body has the bodies of all requests, one after the other, with these lengths. `http_status_code` returns 200, and
/// `http_headers` `[[status, headers, length], …]` in the order of the requests. The block that `http_request` returns contains
/// the bodies of the responses. A request that failed has the code of its failure as the status, and the message as the body.
/// If the list as a whole is refused, the call fails as a single request does.
pub const HTTP_ALL: &str = "mcp-servlet.http-all";

/// Why an HTTP request failed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HttpErrorKind {
    /// Any other reason.
    #[default]
    Other = 0,
    /// The operator does not allow requests to this host, or to a private address.
    NotAllowed = 1,
    /// The name of the host does not resolve.
    Dns = 2,
    /// The server refuses connections, cannot be reached, or closed the connection.
    Connect = 3,
    /// TLS failed, for example because the server's certificate is not trusted.
    Tls = 4,
    /// There was no complete response in time.
    Timeout = 5,
    /// The response is larger than allowed.
    TooLarge = 6,
    /// The call has reached its limit of requests, or the servlet its limit of open ones.
    TooManyRequests = 7,
    /// The server redirected too many times.
    TooManyRedirects = 8,
    /// The request is invalid: its method, its URL or a header.
    Request = 9,
    /// The server did not answer in HTTP.
    Protocol = 10,
    /// The status does not mean success.
    Status = 11,
    /// The body does not have the format that the servlet expects.
    Body = 12,
    /// A redirect would send the body of the request to another origin, which may not be allowed to read it.
    Redirect = 13,
}

impl HttpErrorKind {
    /// Every kind, in the order of the codes.
    pub const ALL: [Self; 14] = [
        Self::Other,
        Self::NotAllowed,
        Self::Dns,
        Self::Connect,
        Self::Tls,
        Self::Timeout,
        Self::TooLarge,
        Self::TooManyRequests,
        Self::TooManyRedirects,
        Self::Request,
        Self::Protocol,
        Self::Status,
        Self::Body,
        Self::Redirect,
    ];

    /// The number that the host returns instead of an HTTP status.
    pub const fn code(self) -> u16 {
        self as u16
    }

    /// The kind with this code, or `Other`.
    pub fn from_code(code: u16) -> Self {
        let kind = Self::ALL.get(usize::from(code));
        kind.copied().unwrap_or_default()
    }
}

/// Methods that turn the connection into a tunnel or send the request's headers back.
const METHODS: [&str; 3] = ["CONNECT", "TRACE", "TRACK"];

/// Headers of the connection, which belongs to the host: a servlet that sets them could smuggle requests.
const HEADERS: [&str; 8] = [
    "connection",
    "content-length",
    "host",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// The reason why a servlet must not send a request with this method and these headers; `None` if it may.
///
/// The host refuses such requests, and so do native tests.
pub fn refused_request<'a>(
    method: &str,
    headers: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    if METHODS
        .iter()
        .any(|refused| refused.eq_ignore_ascii_case(method))
    {
        return Some(["the method `", method, "` cannot be sent"].concat());
    }
    let name = headers.into_iter().find(|name| is_refused_header(name))?;
    Some(["the header `", name, "` is set by the host"].concat())
}

fn is_refused_header(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    HEADERS.contains(&&*name) || name.starts_with("proxy-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_and_codes_convert_both_ways() {
        for (code, kind) in (0..).zip(HttpErrorKind::ALL) {
            assert_eq!(kind.code(), code);
            assert_eq!(HttpErrorKind::from_code(code), kind);
        }
        assert_eq!(HttpErrorKind::from_code(99), HttpErrorKind::Other);
    }

    #[test]
    fn headers_of_the_connection_are_refused_in_any_case() {
        let refused = |name| refused_request("GET", [name]);
        for name in [
            "Host",
            "content-length",
            "TRANSFER-ENCODING",
            "Proxy-Authorization",
        ] {
            assert_eq!(
                refused(name),
                Some(format!("the header `{name}` is set by the host"))
            );
        }
        assert_eq!(refused("x-proxy-"), None);
        let refused = refused_request("trace", []);
        assert_eq!(
            refused.as_deref(),
            Some("the method `trace` cannot be sent")
        );
    }
}
