//! Servers at a URL, with their headers and credentials.

use std::env::VarError;
use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use mcp_servlet_common::is_this_machine;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use url::Url;

use super::{TargetError, Tls, bare_url, parse_url};

/// Headers that the protocol or HTTP sets.
const RESERVED: &[&str] = &[
    "accept",
    "connection",
    "content-length",
    "content-type",
    "host",
    "last-event-id",
    "mcp-method",
    "mcp-name",
    "mcp-protocol-version",
    "mcp-session-id",
    "transfer-encoding",
];

/// How messages travel over HTTP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum HttpTransport {
    /// Streamable HTTP. If the server refuses it as servers with only HTTP+SSE do, HTTP+SSE is tried.
    #[default]
    Auto,
    /// Streamable HTTP, the transport of MCP since 2025-03-26.
    Streamable,
    /// HTTP+SSE, the transport of MCP before.
    Sse,
}

/// A server at a URL.
#[derive(Clone)]
pub struct Http {
    url: Url,
    /// Whether the URL came without a path.
    has_default_path: bool,
    transport: HttpTransport,
    headers: HeaderMap,
    tls: Tls,
    /// What messages call the server, instead of its URL.
    name: Option<String>,
}

impl Http {
    /// A server at an `https` URL, or at an `http` URL on this machine.
    ///
    /// Without a path, the path is `/mcp`, or `/sse` over HTTP+SSE.
    ///
    /// # Errors
    /// If the text is no such URL.
    pub fn new(url: &str) -> Result<Self, TargetError> {
        let http = Self::without_encryption(url)?;
        let host = http.url.host_str().unwrap_or_default();
        if http.url.scheme() == "http" && !is_this_machine(host) {
            return Err(TargetError::PlainHttp {
                host: host.to_owned(),
            });
        }
        Ok(http)
    }

    /// As [`new`](Self::new), but `http` may go to other machines.
    ///
    /// # Errors
    /// If the text is no `http` or `https` URL.
    pub fn without_encryption(url: &str) -> Result<Self, TargetError> {
        let mut url = parse_url(url)?;
        let has_default_path = url.path() == "/";
        if has_default_path {
            url.set_path("/mcp");
        }
        Ok(Self {
            url,
            has_default_path,
            transport: HttpTransport::Auto,
            headers: HeaderMap::new(),
            tls: Tls::default(),
            name: None,
        })
    }

    /// Sets the path.
    #[must_use]
    pub fn path(mut self, path: &str) -> Self {
        self.url.set_path(path);
        self.has_default_path = false;
        self
    }

    /// Sets how messages travel.
    #[must_use]
    pub fn transport(mut self, transport: HttpTransport) -> Self {
        self.transport = transport;
        self
    }

    /// Adds a header. `${NAME}` in its value is replaced by that environment variable.
    ///
    /// # Errors
    /// If the protocol sets the header, if HTTP does not allow it, or if a variable is not set.
    pub fn header(self, name: &str, value: &str) -> Result<Self, TargetError> {
        let value = expand(name, value)?;
        self.literal_header(name, &value)
    }

    /// Adds a header whose value is sent as it is, such as one from a configuration whose placeholders are replaced
    /// already.
    ///
    /// # Errors
    /// If the protocol sets the header, or if HTTP does not allow it.
    pub fn literal_header(mut self, name: &str, value: &str) -> Result<Self, TargetError> {
        let (name, value) = header(name, value)?;
        self.headers.append(name, value);
        Ok(self)
    }

    /// Whether there is a value for a header.
    pub fn has_header(&self, name: &str) -> bool {
        self.headers.contains_key(name)
    }

    /// Sends the token in an environment variable with every request.
    ///
    /// # Errors
    /// If the variable is not set, or is no token.
    pub fn bearer_env(self, name: &str) -> Result<Self, TargetError> {
        let token = variable(name)?;
        if token.is_empty() {
            let name = name.to_owned();
            return Err(TargetError::EmptyVariable { name });
        }
        self.authorization(&format!("Bearer {token}"))
    }

    /// Sends a user and the password in an environment variable with every request.
    ///
    /// # Errors
    /// If the variable is not set.
    pub fn basic_env(self, user: &str, name: &str) -> Result<Self, TargetError> {
        let password = variable(name)?;
        let credentials = BASE64.encode(format!("{user}:{password}"));
        self.authorization(&format!("Basic {credentials}"))
    }

    /// Sets the options of TLS.
    #[must_use]
    pub fn tls(mut self, tls: Tls) -> Self {
        self.tls = tls;
        self
    }

    /// Sets what errors, logs and their help call the server, instead of its URL, whose path may be secret.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    fn authorization(mut self, value: &str) -> Result<Self, TargetError> {
        let value = secret(value).ok_or_else(|| TargetError::InvalidHeader {
            name: AUTHORIZATION.to_string(),
        })?;
        self.headers.insert(AUTHORIZATION, value);
        Ok(self)
    }

    pub(crate) fn url(&self) -> &Url {
        &self.url
    }

    /// What messages call the server: its name, or its URL without user, password and query.
    pub(crate) fn label(&self) -> String {
        self.name.clone().unwrap_or_else(|| bare_url(&self.url))
    }

    /// Whether messages must not show the URL.
    pub(crate) fn has_name(&self) -> bool {
        self.name.is_some()
    }

    /// The URL for HTTP+SSE, whose path is `/sse` if none was given.
    pub(crate) fn sse_url(&self) -> Url {
        let mut url = self.url.clone();
        if self.has_default_path {
            url.set_path("/sse");
        }
        url
    }

    pub(crate) fn chosen_transport(&self) -> HttpTransport {
        self.transport
    }

    pub(crate) fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    pub(crate) fn tls_options(&self) -> &Tls {
        &self.tls
    }
}

/// Without values of headers, which may be secret.
impl fmt::Debug for Http {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.headers.keys().collect();
        f.debug_struct("Http")
            .field("url", &self.label())
            .field("transport", &self.transport)
            .field("headers", &names)
            .field("tls", &self.tls)
            .finish_non_exhaustive()
    }
}

/// A header that a message can have in addition to those of the protocol.
pub(crate) fn header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), TargetError> {
    let invalid = || TargetError::InvalidHeader {
        name: name.to_owned(),
    };
    let parsed: HeaderName = name.parse().map_err(|_| invalid())?;
    if RESERVED.contains(&parsed.as_str()) || parsed.as_str().starts_with("mcp-param-") {
        return Err(TargetError::ReservedHeader {
            name: name.to_owned(),
        });
    }
    Ok((parsed, secret(value).ok_or_else(invalid)?))
}

fn secret(value: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(value).ok()?;
    value.set_sensitive(true);
    Some(value)
}

fn variable(name: &str) -> Result<String, TargetError> {
    std::env::var(name).map_err(|error| {
        let name = name.to_owned();
        match error {
            VarError::NotPresent => TargetError::MissingVariable { name },
            VarError::NotUnicode(_) => TargetError::InvalidVariable { name },
        }
    })
}

/// Replaces `${NAME}` by environment variables.
fn expand(header: &str, value: &str) -> Result<String, TargetError> {
    let mut expanded = String::new();
    let mut rest = value;
    while let Some((before, after)) = rest.split_once("${") {
        let (name, after) = after
            .split_once('}')
            .ok_or_else(|| TargetError::OpenVariable {
                name: header.to_owned(),
            })?;
        expanded.push_str(before);
        expanded.push_str(&variable(name)?);
        rest = after;
    }
    expanded.push_str(rest);
    Ok(expanded)
}
