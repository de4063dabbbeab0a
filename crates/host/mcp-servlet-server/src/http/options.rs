//! Options of endpoints over HTTP.

use std::time::Duration;

use ipnet::IpNet;
use mcp_servlet_access::AuthOptions;

use crate::{
    StoreOptions,
    response_headers::{EndpointHeaders, ResponseHeaders},
};

/// Allowed hosts and origins, and limits for clients.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct HttpOptions {
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
    /// Which processes know the sessions of streamable HTTP.
    pub session_storage: SessionStorage,
    /// Maximum number of connections. Further ones wait until one of them ends. As many again may be open that only have a
    /// stream of events.
    pub connections: usize,
    /// Addresses of proxies, which name their clients in `X-Forwarded-For`. If `connections` or `sessions` is reached, the
    /// address that holds most makes room for another one. A proxy has no such share, but its clients have.
    pub trusted_proxies: Vec<IpNet>,
    /// How long a client may take to send the head of a request, and may keep an idle connection. A client of HTTP+SSE has
    /// this time to open its session.
    pub head_time: Option<Duration>,
    /// How long a client may take to send the body of a request, and may leave a response unread.
    pub body_time: Option<Duration>,
    /// How long requests are still served between [`Service::leave`](crate::Service::leave) and
    /// [`Service::stop`](crate::Service::stop). The caller of both keeps this time.
    pub leave: Duration,
    /// Who may call the endpoint. `None` means everyone who can connect.
    pub auth: Option<AuthOptions>,
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

/// Which processes know a session. Sessions exist up to 2025-11-25.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum SessionStorage {
    /// The one that has opened it.
    #[default]
    Memory,
    /// All with the same [`Plan::state_keys`](crate::Plan::state_keys): its id contains the handshake.
    Sealed {
        /// How long an id is valid.
        life: Duration,
    },
    /// All that use the store, and have the same [`Plan::state_keys`](crate::Plan::state_keys).
    Store(Box<StoreOptions>),
    /// There are no sessions: each request is answered alone.
    None,
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

impl Default for HttpOptions {
    /// Options for clients on the same machine.
    fn default() -> Self {
        Self {
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
            session_storage: SessionStorage::default(),
            connections: 1024,
            trusted_proxies: Vec::new(),
            head_time: Some(Duration::from_secs(30)),
            body_time: Some(Duration::from_mins(1)),
            leave: Duration::ZERO,
            auth: None,
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

impl HttpOptions {
    /// The headers that a reload can replace.
    pub(crate) fn endpoint_headers(&self) -> EndpointHeaders {
        let messages = match &self.transport {
            HttpTransport::Sse { headers, .. } => Some(headers.clone()),
            HttpTransport::Streamable { .. } => None,
        };
        EndpointHeaders {
            all: self.headers.clone(),
            messages,
        }
    }
}
