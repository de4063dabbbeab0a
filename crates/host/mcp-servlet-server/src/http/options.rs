//! Options of endpoints over HTTP.

use std::{fmt, time::Duration};

use axum::http::{HeaderMap, HeaderName, HeaderValue, Method};
use mcp_servlet_host::bundle::{NoText, SessionText};

/// Allowed hosts and origins, and limits for clients.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct HttpOptions {
    /// The name of the endpoint in the configuration. `None` if there is no configuration, and the
    /// options come from the command line.
    pub endpoint: Option<String>,
    /// The path that clients connect to.
    pub path: String,
    /// The transport at the path.
    pub transport: HttpTransport,
    /// Headers of successful responses.
    pub headers: ResponseHeaders,
    /// Allowed values of the `Host` header, with or without a port. All others are refused, so that
    /// no website can reach the server under a name of its own (DNS rebinding).
    pub hosts: Vec<String>,
    /// Origins whose pages may send requests, such as `https://app.example:443`, or with `:*` for any port.
    pub origins: Vec<String>,
    /// Maximum size of a request body, in bytes.
    pub body: usize,
    /// Maximum number of open sessions. Streamable HTTP has sessions up to 2025-11-25.
    pub sessions: usize,
    /// How long a session lives without a request. A session of streamable HTTP also lives as long
    /// as the client keeps a stream open.
    pub session_idle: Option<Duration>,
    /// Maximum number of connections. Further ones wait until one of them ends.
    pub connections: usize,
    /// How long a client may take to send the head of a request, and may keep an idle connection. A client of HTTP+SSE has
    /// this time to open its session.
    pub head_time: Option<Duration>,
    /// How long a client may take to send the body of a request, and may leave a response unread.
    pub body_time: Option<Duration>,
}

/// A transport over HTTP.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum HttpTransport {
    /// Streamable HTTP, the transport since 2025-03-26.
    Streamable {
        /// The form of responses.
        response: ResponseForm,
    },
    /// HTTP+SSE, the transport of 2024-11-05: a stream of events at the path of the endpoint, and
    /// messages at another path.
    Sse {
        /// The path for messages.
        messages: String,
        /// Headers of successful responses to messages.
        headers: ResponseHeaders,
    },
}

/// The form of a response of streamable HTTP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResponseForm {
    /// JSON if no other message precedes the response, else an event stream.
    #[default]
    Json,
    /// Always an event stream.
    Sse,
}

/// The headers that an endpoint adds to its successful responses.
#[derive(Debug, Default)]
pub(crate) struct EndpointHeaders {
    all: ResponseHeaders,
    /// Of responses to messages of HTTP+SSE.
    messages: Option<ResponseHeaders>,
}

impl EndpointHeaders {
    pub(crate) fn of(options: &HttpOptions) -> Self {
        let messages = match &options.transport {
            HttpTransport::Sse { headers, .. } => Some(headers.clone()),
            HttpTransport::Streamable { .. } => None,
        };
        Self {
            all: options.headers.clone(),
            messages,
        }
    }

    /// Those of responses to requests with this method.
    pub(super) fn of_method(&self, method: &Method) -> &ResponseHeaders {
        match &self.messages {
            Some(messages) if *method == Method::POST => messages,
            _ => &self.all,
        }
    }
}

impl Default for HttpOptions {
    /// Options for clients on the same machine.
    fn default() -> Self {
        Self {
            endpoint: None,
            path: "/mcp".to_owned(),
            transport: HttpTransport::default(),
            headers: ResponseHeaders::default(),
            hosts: ["localhost", "127.0.0.1", "::1"].map(str::to_owned).into(),
            origins: ["localhost", "127.0.0.1", "[::1]"]
                .iter()
                .flat_map(|host| [format!("http://{host}:*"), format!("https://{host}:*")])
                .collect(),
            body: 4 << 20,
            sessions: 1000,
            session_idle: Some(Duration::from_mins(5)),
            connections: 1024,
            head_time: Some(Duration::from_secs(30)),
            body_time: Some(Duration::from_mins(1)),
        }
    }
}

impl Default for HttpTransport {
    /// Streamable HTTP.
    fn default() -> Self {
        Self::Streamable {
            response: ResponseForm::default(),
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
    /// It has expressions over the session.
    OfSession(SessionText),
}

/// Why a header has no value. The message does not show what its value would be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoHeader {
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
    "mcp-session-id",
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

    /// Adds a header whose value has expressions over the session. Responses for which the value is empty or absent do not
    /// get it.
    ///
    /// # Errors
    /// What is wrong with the name.
    pub fn add_for_session(&mut self, name: &str, value: SessionText) -> Result<(), String> {
        let name = self.new_name(name)?;
        self.0.push((name, HeaderText::OfSession(value)));
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
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }

    /// Whether a value depends on the session.
    pub(super) fn read_session(&self) -> bool {
        let mut values = self.0.iter().map(|(_, value)| value);
        values.any(|value| matches!(value, HeaderText::OfSession(_)))
    }

    /// Adds the headers to a response in the session with this id, which is empty if there is none.
    ///
    /// # Errors
    /// The name of a header that has no valid value, and why.
    pub(super) fn apply(
        &self,
        headers: &mut HeaderMap,
        session: &str,
    ) -> Result<(), (&HeaderName, NoHeader)> {
        for (name, text) in &self.0 {
            let value = text.value(session).map_err(|error| (name, error))?;
            headers.extend(value.map(|value| (name.clone(), value)));
        }
        Ok(())
    }
}

impl HeaderText {
    fn value(&self, session: &str) -> Result<Option<HeaderValue>, NoHeader> {
        let text = match self {
            Self::Constant(value) => return Ok(Some(value.clone())),
            Self::OfSession(text) => text.fill(session).map_err(NoHeader::Expression)?,
        };
        let text = text.filter(|text| !text.is_empty());
        let value = text.map(HeaderValue::try_from).transpose();
        value.map_err(|_| NoHeader::Characters)
    }
}

/// Parses the name of a header.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn header_name(name: &str) -> Result<HeaderName, String> {
    let parsed = HeaderName::from_bytes(name.as_bytes());
    parsed
        .map_err(|_| format!("expected the name of a header, such as x-request-id, found `{name}`"))
}

impl fmt::Debug for ResponseHeaders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}
