//! How a host uses another MCP server.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use mcp_servlet_call::JsonObject;
use mcp_servlet_client::{Lists, OAuth};
use mcp_servlet_host::{LockedLists, Shape, bundle::RequestText};

/// How a host uses another MCP server. Start with `RemoteOptions::default()` and set fields.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RemoteOptions {
    /// How long a request may take, not counting the time in which the client answers a request of the remote. Default: 30 s.
    pub timeout: Duration,
    /// How long one attempt to connect may take. A command that must be started twice has that time for each start.
    /// Default: 10 s.
    pub connect: Duration,
    /// The attempts to connect, and to get an answer.
    pub retries: Retries,
    /// Whether clients see the tools of a server that is down.
    pub when_down: WhenDown,
    /// Closes the connection after this time without a request. The next request opens a new one. Default: never.
    pub idle: Option<Duration>,
    /// How long a client may take to answer a question of the server, unless the request has an
    /// [`input_timeout`](mcp_servlet_call::RequestMeta::input_timeout). Default: 10 min.
    pub question_time: Duration,
    /// Which requests share a connection.
    pub sessions: Sessions,
    /// How long requests may go on after another server has [replaced](crate::RemoteServer::retire) this one. Default: 30 s.
    pub drain: Duration,
    /// When the connection opens first.
    pub start: Start,
    /// The tokens of requests to a URL. Default: none.
    pub oauth: Option<OAuth>,
    /// Headers of the HTTP requests for calls of tools, readings of resources, prompts and completions, whose values depend on
    /// the client's request. A header whose value is empty is not sent. If one of them reads the caller, each caller has a connection
    /// of its own.
    pub headers: Vec<(String, RequestText)>,
    /// How much the server may send.
    pub limits: RemoteLimits,
    /// What clients see of single tools instead of what the server says, by the server's names for them.
    pub tools: BTreeMap<String, ToolTexts>,
    /// What the operator has approved of its lists. Everything else is hidden. Default: everything is approved.
    pub locked: Option<Arc<LockedLists>>,
    /// The protocol version that the operator has approved. The client tries its generation of the protocol first.
    /// Default: the newest.
    pub protocol: Option<String>,
}

/// How much a server may send. Start with `RemoteLimits::default()` and set fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RemoteLimits {
    /// Bytes of a message. Default: 16 MiB.
    pub message: usize,
    /// Entries and pages of one list. Default: 10,000.
    pub entries: usize,
    /// Bytes of all lists together. Default: 16 MiB.
    pub lists: usize,
}

impl Default for RemoteLimits {
    fn default() -> Self {
        Self {
            message: 16 << 20,
            entries: 10_000,
            lists: 16 << 20,
        }
    }
}

/// What clients see of a tool and of its results instead of what the server says. Start with `ToolTexts::default()` and set fields.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolTexts {
    /// The title.
    pub title: Option<String>,
    /// The description.
    pub description: Option<String>,
    /// Annotations such as `readOnlyHint`. Those that are not among them stay.
    pub annotations: JsonObject,
    /// What clients get of its results.
    pub shape: Option<Shape>,
}

/// When the connection opens first.
#[derive(Clone, Debug, Default)]
pub enum Start {
    /// At once.
    #[default]
    Now,
    /// With the first request. Until then, the server has these lists, such as those of a stored
    /// [catalog](mcp_servlet_client::Catalog::to_lists).
    AtCall(Arc<Lists>),
}

/// Which requests share a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sessions {
    /// All.
    #[default]
    Shared,
    /// Those of one session of a client, for servers that keep state for each of their clients. Requests without a session
    /// share another one, which the lists and changes of resources come from as well.
    Each {
        /// The maximum number of sessions that have connections. Requests of further ones fail.
        most: usize,
    },
}

/// The attempts to connect, and to get an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Retries {
    /// The pause before the second attempt to connect, or to read lists that failed. Later pauses are twice as long, up to 2 s for a
    /// URL, 30 s for a command and 10 min for lists. Default: 500 ms.
    pub every: Duration,
    /// How many attempts follow the first one. None means no limit, which is the default.
    pub most: Option<u32>,
    /// How often a request that only reads is sent again if the server cannot be reached or does not answer, with the pause
    /// `every`. Each attempt has its own time. Default: 0.
    pub requests: u32,
    /// Whether this applies to calls of tools with the annotation `idempotentHint` or `readOnlyHint` as well. Default: no.
    pub calls: bool,
}

/// Whether clients see the tools of a server that is down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WhenDown {
    /// Its tools, resources and prompts. Requests fail and say why.
    #[default]
    Keep,
    /// Nothing.
    Hide,
}

impl RemoteOptions {
    /// Whether each caller has a connection of its own, because a header contains something about the caller.
    pub(crate) fn is_by_caller(&self) -> bool {
        self.headers.iter().any(|(_, text)| text.reads_caller())
    }
}

impl Default for RemoteOptions {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(30),
            connect: Duration::from_secs(10),
            retries: Retries::default(),
            when_down: WhenDown::default(),
            idle: None,
            question_time: Duration::from_mins(10),
            sessions: Sessions::default(),
            drain: Duration::from_secs(30),
            start: Start::default(),
            oauth: None,
            headers: Vec::new(),
            limits: RemoteLimits::default(),
            tools: BTreeMap::new(),
            locked: None,
            protocol: None,
        }
    }
}

impl Default for Retries {
    fn default() -> Self {
        Self {
            every: Duration::from_millis(500),
            most: None,
            requests: 0,
            calls: false,
        }
    }
}
