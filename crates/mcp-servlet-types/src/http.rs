//! What guest and host agree on about HTTP: why a request has no response, and which requests are refused.
//!
//! Extism's `http_request` has no way to fail but to end the call. A module with the custom section [`HTTP_ERRORS`] gets
//! a failure from our host instead: `http_status_code` answers [`HttpErrorKind::code`], which is below every HTTP status,
//! and the block that `http_request` answers with holds the message.

/// The custom section of modules that read failures of HTTP requests.
pub const HTTP_ERRORS: &str = "mcp-servlet.http-errors";

/// Why an HTTP request failed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HttpErrorKind {
    /// None of the others.
    #[default]
    Other = 0,
    /// The operator does not allow requests to this host, or to a private address.
    NotAllowed = 1,
    /// The name of the host does not resolve.
    Dns = 2,
    /// The server refuses connections, cannot be reached, or broke the connection off.
    Connect = 3,
    /// TLS failed, for example because the server's certificate is not trusted.
    Tls = 4,
    /// There was no complete response in time.
    Timeout = 5,
    /// The response is larger than allowed.
    TooLarge = 6,
    /// The call has sent as many requests as it may.
    TooManyRequests = 7,
    /// Every redirect led to another one.
    TooManyRedirects = 8,
    /// The request is invalid: its method, its URL or a header.
    Request = 9,
    /// The server did not answer in HTTP.
    Protocol = 10,
    /// The status is not one of success.
    Status = 11,
    /// The body is not what the servlet reads it as.
    Body = 12,
    /// A redirect leads the body of the request to another origin, which may not be meant to read it.
    Redirect = 13,
}

impl HttpErrorKind {
    /// Every kind, by its code.
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

    /// The number that the host answers with instead of an HTTP status.
    pub const fn code(self) -> u16 {
        self as u16
    }

    /// The kind with this code, or `Other`.
    pub fn from_code(code: u16) -> Self {
        let kind = Self::ALL.get(usize::from(code));
        kind.copied().unwrap_or_default()
    }
}

/// Methods that turn a connection into something else than requests and responses, or send headers back.
const METHODS: [&str; 3] = ["CONNECT", "TRACE", "TRACK"];

/// Headers that belong to the connection, which is the host's: a servlet that sets them could smuggle requests.
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

/// Why a servlet may not send a request with this method and these headers, if it may not.
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
    fn a_code_is_that_of_one_kind() {
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
