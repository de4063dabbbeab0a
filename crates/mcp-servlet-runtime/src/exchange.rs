//! HTTP requests of servlets, and what comes back.

use std::collections::BTreeMap;

use mcp_servlet_types::HttpErrorKind;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A request as the servlet wrote it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HttpRequest {
    /// The method, `GET` if the servlet names none.
    pub method: String,
    /// The URL, which nobody has checked.
    pub url: String,
    /// The headers, by name.
    pub headers: BTreeMap<String, String>,
    /// The body; an empty one is none.
    pub body: Vec<u8>,
}

/// What the servlet gets.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct HttpResponse {
    /// The status code, such as 200.
    pub status: u16,
    /// The headers, by name in lower case.
    pub headers: BTreeMap<String, String>,
    /// The body.
    pub body: Vec<u8>,
}

impl HttpRequest {
    /// Reads the JSON in which servlets write requests.
    pub(crate) fn read(json: &[u8], body: Vec<u8>) -> serde_json::Result<Self> {
        let json: Value = serde_json::from_slice(json)?;
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let headers = json["headers"].as_object().into_iter().flatten();
        Ok(Self {
            method: text(&json["method"]).unwrap_or_else(|| "GET".to_owned()),
            url: text(&json["url"]).unwrap_or_default(),
            headers: headers
                .filter_map(|(name, value)| Some((name.clone(), text(value)?)))
                .collect(),
            body,
        })
    }
}

/// Why an HTTP request of a servlet has no response.
///
/// Servlets of `mcp-servlet` get it as an `HttpError`. Others have no way to read it, so it ends their call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct HttpFailure {
    /// What sort of failure it is.
    pub kind: HttpErrorKind,
    /// The failure in words, for the model.
    pub message: String,
    /// What the operator does not allow, if that is why.
    pub(crate) denied: Option<Denied>,
}

/// A request that the operator does not allow.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("HTTP requests to `{origin}` are not allowed; the operator can allow them with `{option}`")]
pub(crate) struct Denied {
    /// Where it would have gone.
    pub(crate) origin: String,
    /// The option of the command line that allows it.
    pub(crate) option: String,
}

impl HttpFailure {
    /// A failure of this kind, in words for the model.
    pub fn new(kind: HttpErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            denied: None,
        }
    }
}
