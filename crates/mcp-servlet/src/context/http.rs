//! HTTP through the host.

use std::collections::BTreeMap;
use std::fmt;

use mcp_servlet_json::{from_slice, write_string};

/// A request for [`Context::http`](crate::Context::http).
///
/// ```
/// use mcp_servlet::HttpRequest;
///
/// let request = HttpRequest::get("https://example.com/").with_header("Accept", "text/html");
/// assert_eq!(request.method, "GET");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpRequest {
    /// The method, in capitals.
    pub method: String,
    /// The absolute URL.
    pub url: String,
    /// The headers, by name.
    pub headers: BTreeMap<String, String>,
    /// The body; an empty one is not sent.
    pub body: Vec<u8>,
}

impl HttpRequest {
    /// A request of any method.
    pub fn new(method: impl Into<String>, url: impl Into<String>) -> Self {
        Self {
            method: method.into(),
            url: url.into(),
            headers: BTreeMap::new(),
            body: Vec::new(),
        }
    }

    /// A `GET` request.
    pub fn get(url: impl Into<String>) -> Self {
        Self::new("GET", url)
    }

    /// A `POST` request with a body.
    pub fn post(url: impl Into<String>, body: impl Into<Vec<u8>>) -> Self {
        Self {
            body: body.into(),
            ..Self::new("POST", url)
        }
    }

    /// The same with a header, which replaces one of the same name.
    #[must_use]
    pub fn with_header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.insert(name.into(), value.into());
        self
    }

    /// The JSON that Extism reads: it knows no other member.
    #[cfg_attr(
        not(target_family = "wasm"),
        allow(dead_code, reason = "hosts read it")
    )]
    pub(crate) fn to_json(&self) -> String {
        let mut json = String::from("{\"url\":");
        write_string(&mut json, &self.url);
        json.push_str(",\"method\":");
        write_string(&mut json, &self.method);
        json.push_str(",\"headers\":{");
        for (index, (name, value)) in self.headers.iter().enumerate() {
            if index > 0 {
                json.push(',');
            }
            write_string(&mut json, name);
            json.push(':');
            write_string(&mut json, value);
        }
        json.push_str("}}");
        json
    }
}

/// The answer to an [`HttpRequest`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HttpResponse {
    /// The status code, such as 200.
    pub status: u16,
    /// The headers, by name in lower case.
    pub headers: BTreeMap<String, String>,
    /// The body.
    pub body: Vec<u8>,
}

impl HttpResponse {
    /// A response without headers, for tests.
    pub fn new(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status,
            headers: BTreeMap::new(),
            body: body.into(),
        }
    }

    /// The body as text.
    ///
    /// # Errors
    ///
    /// [`HttpError`] if it is not UTF-8.
    pub fn text(&self) -> Result<&str, HttpError> {
        std::str::from_utf8(&self.body).map_err(|_| HttpError::new("the body is not UTF-8 text"))
    }

    #[cfg_attr(
        not(target_family = "wasm"),
        allow(dead_code, reason = "hosts answer so")
    )]
    pub(crate) fn from_host(
        status: u16,
        headers: Option<Vec<u8>>,
        body: Vec<u8>,
    ) -> Result<Self, HttpError> {
        let headers = match headers {
            None => BTreeMap::new(),
            Some(json) => from_slice(&json).map_err(|error| {
                HttpError::new(format!("the host's headers are not JSON: {error}"))
            })?,
        };
        Ok(Self {
            status,
            headers,
            body,
        })
    }
}

/// A request that has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpError {
    message: String,
}

impl HttpError {
    /// An error with this message, for tests.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
        }
    }
}

impl fmt::Display for HttpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for HttpError {}
