//! How clients are served.

use std::time::Duration;

/// What holds for every client, however it is connected.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServeOptions {
    /// How many entries a list has before it goes on in another page.
    pub page_size: usize,
    /// How long a client may take a list for current without asking again.
    pub list_ttl: Duration,
    /// How long calls may go on once the server was told to stop.
    pub drain: Duration,
    /// When calls become tasks, and for how long.
    pub tasks: TaskOptions,
    /// How long requests wait for the servlets of a server that is [`starting`](super::Server::starting).
    pub startup: Duration,
}

impl Default for ServeOptions {
    fn default() -> Self {
        Self {
            page_size: 1000,
            list_ttl: Duration::from_mins(1),
            drain: Duration::from_secs(10),
            tasks: TaskOptions::default(),
            startup: Duration::from_mins(10),
        }
    }
}

/// When calls become tasks, how many there may be, and for how long. Clients have tasks if they declare the extension
/// `io.modelcontextprotocol/tasks`, since 2026-07-28.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TaskOptions {
    /// How many tasks there may be at once, with those whose results wait to be fetched. 0 turns tasks off.
    pub max: usize,
    /// How many of them may belong to one connection on standard input and output. Over HTTP there are no connections to
    /// which a task could belong.
    pub max_per_connection: usize,
    /// How long a call runs before it becomes a task. Tools that say `"execution": {"taskSupport": "optional"}` or
    /// `"required"` run as tasks from the start, and those that say `"forbidden"` never do.
    pub after: Duration,
    /// How long a task lives from its creation. A call that still runs then is stopped, and a result is dropped.
    pub ttl: Duration,
    /// How many bytes of JSON the results that wait to be fetched may have together, with the questions that clients have not
    /// answered; `None` lifts the bound. A task whose result is too large fails.
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
