//! Options for serving clients.

use std::time::Duration;

use mcp_servlet_access::{quota::Quota, rules::Rules};

use crate::hooks::SessionHooks;

/// Options that apply to every client, on all transports.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ServeOptions {
    /// The name of the endpoint in the configuration. `None` if the options come from the command line.
    pub endpoint: Option<String>,
    /// Maximum number of entries on one page of a list.
    pub page_size: usize,
    /// How long clients may cache a list.
    pub list_ttl: Duration,
    /// How long calls may go on after the server is stopped.
    pub drain: Duration,
    /// When calls become tasks, and limits for tasks.
    pub tasks: TaskOptions,
    /// How long requests wait for the servlets if the service has started [without](crate::Plan::without_servlets) them. Lists wait
    /// eight seconds at most.
    pub startup: Duration,
    /// How long a request may run. With `None`, only the limits of the servlets apply. The time that the client takes to answer an
    /// input request does not count. A call that has become a task may run longer.
    pub timeout: Option<Duration>,
    /// How long a client up to 2025-11-25 may take to answer one input request, and how long a call of a remote up to
    /// 2025-11-25 waits for the answer of any client.
    pub question_time: Duration,
    /// The names of HTTP headers that servlets can read, as `mcp-servlet/headers` in `_meta`.
    pub forward_headers: Vec<String>,
    /// Whether servlets can read the caller, as `mcp-servlet/caller` in `_meta`.
    pub forward_caller: bool,
    /// Whether servlets can read the certificate of the client, as `mcp-servlet/certificate` in `_meta`.
    pub forward_certificate: bool,
    /// Which clients may begin sessions. Only endpoints over HTTP have them.
    pub hooks: SessionHooks,
    /// Which tools, prompts and resources callers may use. Others do not exist for their clients.
    pub rules: Rules,
    /// How much callers may use.
    pub quotas: Vec<Quota>,
}

impl Default for ServeOptions {
    fn default() -> Self {
        Self {
            endpoint: None,
            page_size: 1000,
            list_ttl: Duration::from_mins(1),
            drain: Duration::from_secs(10),
            tasks: TaskOptions::default(),
            startup: Duration::from_mins(10),
            timeout: None,
            // A person may have to read the question.
            question_time: Duration::from_mins(10),
            forward_headers: Vec::new(),
            forward_caller: false,
            forward_certificate: false,
            hooks: SessionHooks::default(),
            rules: Rules::default(),
            quotas: Vec::new(),
        }
    }
}

/// When calls become tasks, how many there may be, and how long they live. Only clients that
/// declare the extension `io.modelcontextprotocol/tasks` get tasks, which exist since 2026-07-28.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TaskOptions {
    /// Maximum number of tasks, including those whose results wait to be fetched. 0 turns tasks off.
    pub max: usize,
    /// Maximum number of tasks of one connection on standard input and output, and of one HTTP+SSE
    /// session. Over streamable HTTP, tasks do not belong to a connection.
    pub max_per_connection: usize,
    /// How long a call runs before it becomes a task. Tools with `"execution": {"taskSupport":
    /// "optional"}` or `"required"` run as tasks from the start; tools with `"forbidden"` never do.
    pub after: Duration,
    /// How long a task lives from its creation. Then a running call is stopped and the result is dropped.
    pub ttl: Duration,
    /// Maximum total size of unfetched results and unanswered input requests, in bytes of JSON.
    /// `None` means no limit. A task whose result exceeds it fails.
    pub results: Option<u64>,
}

impl Default for TaskOptions {
    fn default() -> Self {
        Self {
            max: 1000,
            max_per_connection: 100,
            after: Duration::from_secs(2),
            ttl: Duration::from_mins(30),
            results: Some(64 << 20),
        }
    }
}
