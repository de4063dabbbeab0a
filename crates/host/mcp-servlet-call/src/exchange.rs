//! HTTP requests of servlets and their responses.

use std::collections::BTreeMap;

use mcp_servlet_common::value_kind;
use mcp_servlet_types::HttpErrorKind;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// An HTTP request as the servlet wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HttpRequest {
    /// The method; `GET` if the servlet does not name one.
    pub method: String,
    /// The URL, not validated.
    pub url: String,
    /// The headers, by name.
    pub headers: BTreeMap<String, String>,
    /// The body; empty if there is none.
    pub body: Vec<u8>,
}

/// An HTTP response as the servlet gets it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct HttpResponse {
    /// The status code, such as 200.
    pub status: u16,
    /// The headers, by name in lower case. Several of one name are joined by `, `, except that only the last `set-cookie` is kept.
    pub headers: BTreeMap<String, String>,
    /// The body.
    pub body: Vec<u8>,
}

impl HttpRequest {
    /// Reads the JSON that servlets send as a request. It has no body yet.
    ///
    /// # Errors
    /// [`HttpFailure`] if it is not JSON, or the value of a header is not a string, a number or a boolean.
    pub fn read(json: &[u8]) -> Result<Self, HttpFailure> {
        let json = serde_json::from_slice(json).map_err(|error| HttpFailure::invalid(&error))?;
        Self::of(&json)
    }

    /// The request in this JSON, without its body.
    ///
    /// # Errors
    /// [`HttpFailure`] if the value of a header is not a string, a number or a boolean.
    pub fn of(json: &Value) -> Result<Self, HttpFailure> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        // Extism reads both names.
        let headers = ["headers", "header"].map(|name| json[name].as_object());
        let headers = headers.into_iter().flatten().next().into_iter().flatten();
        let header = |(name, value): (&String, &Value)| {
            let value = match value {
                Value::String(text) => text.clone(),
                Value::Number(_) | Value::Bool(_) => value.to_string(),
                other => {
                    let kind = value_kind(other);
                    let problem = format!("header `{name}`: expected a string, found {kind}");
                    return Err(HttpFailure::invalid(&problem));
                }
            };
            Ok((name.clone(), value))
        };
        Ok(Self {
            method: text(&json["method"]).unwrap_or_else(|| "GET".to_owned()),
            url: text(&json["url"]).unwrap_or_default(),
            headers: headers.map(header).collect::<Result<_, _>>()?,
            body: Vec::new(),
        })
    }
}

/// Why an HTTP request of a servlet has no response.
///
/// Servlets that use `mcp-servlet` get it as an `HttpError`. Other servlets cannot read it, so it
/// ends their call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct HttpFailure {
    /// The kind of failure.
    pub kind: HttpErrorKind,
    /// A message for the model.
    pub message: String,
    /// The request that the operator does not allow, if that is the reason.
    pub denied: Option<HttpDenied>,
    /// Whether the server of an `https` URL does not use TLS.
    pub lacks_tls: bool,
}

/// A request that the operator does not allow.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("HTTP requests to `{origin}` are not allowed{}; the operator can allow them with `{option}`", self.why())]
pub struct HttpDenied {
    /// The origin of the URL.
    pub origin: String,
    /// Whether the host is allowed, but its address is private.
    pub is_private: bool,
    /// The command-line option that allows it.
    pub option: String,
}

impl HttpDenied {
    /// The end of the message, after the URL.
    pub fn why(&self) -> &'static str {
        if self.is_private {
            ": the address is private"
        } else {
            ""
        }
    }
}

impl HttpFailure {
    /// A failure of this kind, with a message for the model.
    pub fn new(kind: HttpErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            denied: None,
            lacks_tls: false,
        }
    }

    /// The failure of a request that cannot be sent, for this reason.
    pub fn invalid(reason: &dyn std::fmt::Display) -> Self {
        let message = format!("invalid HTTP request: {reason}");
        Self::new(HttpErrorKind::Request, message)
    }
}
