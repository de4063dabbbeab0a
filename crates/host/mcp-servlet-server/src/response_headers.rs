//! Headers that an endpoint adds to its responses.

use std::fmt;

use axum::http::{HeaderMap, HeaderName, HeaderValue, Method};
use mcp_servlet_host::bundle::{NoText, RequestText, Requested};

use crate::session_id::SessionId;

/// The headers that an endpoint adds to its successful responses.
#[derive(Debug, Default)]
pub(crate) struct EndpointHeaders {
    /// Those of all responses, or of all but `messages`.
    pub(crate) all: ResponseHeaders,
    /// Those of responses to messages of HTTP+SSE.
    pub(crate) messages: Option<ResponseHeaders>,
}

impl EndpointHeaders {
    /// Those of responses to requests with this method.
    pub(crate) fn of_method(&self, method: &Method) -> &ResponseHeaders {
        match &self.messages {
            Some(messages) if *method == Method::POST => messages,
            _ => &self.all,
        }
    }
}

/// Headers that an endpoint adds to its responses. Their values may be secret, so `Debug` shows only
/// the names.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ResponseHeaders(Vec<(HeaderName, HeaderText)>);

/// The value of a header.
#[derive(Clone, PartialEq, Eq)]
enum HeaderText {
    Constant(HeaderValue),
    /// It has expressions.
    Expressions(RequestText),
}

/// Why a header has no value. The message does not show what its value would be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoHeader {
    Expression(NoText),
    /// Its value would have line breaks or other control characters.
    Characters,
}

impl fmt::Display for NoHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expression(error) => error.fmt(f),
            Self::Characters => {
                f.write_str("its value has line breaks or other control characters")
            }
        }
    }
}

/// The headers that the server sets itself.
const OWN: [&str; 8] = [
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    SessionId::HEADER,
    "trailer",
    "transfer-encoding",
    "upgrade",
];

impl ResponseHeaders {
    /// Adds a header.
    ///
    /// # Errors
    /// What is wrong with the name or the value. The text does not contain the value.
    pub fn add(&mut self, name: &str, value: &str) -> Result<(), String> {
        let name = self.new_name(name)?;
        let value = HeaderValue::from_str(value).map_err(|_| {
            "expected a value without line breaks and other control characters".to_owned()
        })?;
        self.0.push((name, HeaderText::Constant(value)));
        Ok(())
    }

    /// Adds a header whose value has expressions. Responses for which the value is empty or absent do not
    /// get it.
    ///
    /// # Errors
    /// What is wrong with the name.
    pub fn add_text(&mut self, name: &str, value: RequestText) -> Result<(), String> {
        let name = self.new_name(name)?;
        self.0.push((name, HeaderText::Expressions(value)));
        Ok(())
    }

    /// A name that the headers do not have.
    fn new_name(&self, name: &str) -> Result<HeaderName, String> {
        let name = header_name(name)?;
        if OWN.contains(&name.as_str()) || name.as_str().starts_with("access-control-") {
            return Err(format!("the server sets the header `{name}` itself"));
        }
        if self.0.iter().any(|(other, _)| *other == name) {
            return Err(format!("the header `{name}` is listed twice"));
        }
        Ok(name)
    }

    /// The names.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    /// Whether a value has expressions.
    pub(crate) fn have_expressions(&self) -> bool {
        let mut values = self.0.iter().map(|(_, value)| value);
        values.any(|value| matches!(value, HeaderText::Expressions(_)))
    }

    /// Whether an expression reads who sends the request.
    pub(crate) fn read_caller(&self) -> bool {
        let mut values = self.0.iter().map(|(_, value)| value);
        values.any(|value| match value {
            HeaderText::Constant(_) => false,
            HeaderText::Expressions(text) => text.reads_caller(),
        })
    }

    /// Adds the headers to the response of a request.
    ///
    /// # Errors
    /// The name of a header that has no valid value, and why.
    pub(crate) fn apply(
        &self,
        headers: &mut HeaderMap,
        requested: Requested<'_>,
    ) -> Result<(), (&HeaderName, NoHeader)> {
        for (name, text) in &self.0 {
            if let Some(value) = text.value(requested).map_err(|error| (name, error))? {
                // It replaces the server's own, such as `cache-control`.
                headers.insert(name, value);
            }
        }
        Ok(())
    }
}

impl HeaderText {
    fn value(&self, requested: Requested<'_>) -> Result<Option<HeaderValue>, NoHeader> {
        let text = match self {
            Self::Constant(value) => return Ok(Some(value.clone())),
            Self::Expressions(text) => text.fill(requested).map_err(NoHeader::Expression)?,
        }
        .filter(|text| !text.is_empty());
        let value = text.map(HeaderValue::try_from).transpose();
        value.map_err(|_| NoHeader::Characters)
    }
}

/// Parses the name of a header.
///
/// # Errors
/// What is wrong with it.
pub fn header_name(name: &str) -> Result<HeaderName, String> {
    let parsed = HeaderName::from_bytes(name.as_bytes());
    parsed
        .map_err(|_| format!("expected the name of a header, such as x-request-id, found `{name}`"))
}

impl fmt::Debug for ResponseHeaders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}
