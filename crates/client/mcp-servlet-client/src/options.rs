//! How to connect.

use std::sync::Arc;
use std::time::Duration;

use crate::answers::{Answers, Decline};
use crate::limits::{Limits, Timeouts};
use crate::oauth::OAuth;
use crate::on_stderr::OnStderr;
use crate::retry::Retry;

/// How to connect, and what is the same for every request of a session.
///
/// ```
/// use std::time::Duration;
/// use mcp_servlet_client::{Options, Retry};
///
/// let options = Options::new()
///     .client("my-agent", "1.0")
///     .request_timeout(Duration::from_secs(120))
///     .retry(Retry::times(3, Duration::from_secs(1)));
/// ```
#[derive(Clone, Debug)]
pub struct Options {
    pub(crate) client: (String, String),
    pub(crate) era: Era,
    pub(crate) timeouts: Timeouts,
    pub(crate) limits: Limits,
    pub(crate) retry: Retry,
    pub(crate) answers: Arc<dyn Answers>,
    pub(crate) oauth: Option<OAuth>,
    pub(crate) on_stderr: OnStderr,
}

/// Which generation of the protocol to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Era {
    /// Asks the server with `server/discover`, and does the handshake if it does not know that method. A server that
    /// does not answer at all costs 3 seconds.
    #[default]
    Auto,
    /// The handshake of protocol versions up to 2025-11-25.
    Handshake,
    /// Requests without a session, since 2026-07-28.
    Stateless,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            client: (
                env!("CARGO_PKG_NAME").to_owned(),
                env!("CARGO_PKG_VERSION").to_owned(),
            ),
            era: Era::Auto,
            timeouts: Timeouts::default(),
            limits: Limits::default(),
            retry: Retry::never(),
            answers: Arc::new(Decline),
            oauth: None,
            on_stderr: OnStderr::default(),
        }
    }
}

impl Options {
    /// One attempt, 30 seconds for each request, and no answers to requests of the server.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the name and version that the server sees.
    #[must_use]
    pub fn client(mut self, name: impl Into<String>, version: impl Into<String>) -> Self {
        self.client = (name.into(), version.into());
        self
    }

    /// Sets the generation of the protocol.
    #[must_use]
    pub fn era(mut self, era: Era) -> Self {
        self.era = era;
        self
    }

    /// Sets how long one attempt to connect may take. A command that must be started twice has that time for each start.
    #[must_use]
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.timeouts.connect = timeout;
        self
    }

    /// Sets how long a request may take.
    #[must_use]
    pub fn request_timeout(mut self, timeout: Duration) -> Self {
        self.timeouts.request = timeout;
        self
    }

    /// Sets all times.
    #[must_use]
    pub fn timeouts(mut self, timeouts: Timeouts) -> Self {
        self.timeouts = timeouts;
        self
    }

    /// Sets limits of what the server may send.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets how often to try to connect, and to send a request that may arrive twice.
    #[must_use]
    pub fn retry(mut self, retry: Retry) -> Self {
        self.retry = retry;
        self
    }

    /// Sets who answers requests of the server.
    #[must_use]
    pub fn answers(mut self, answers: impl Answers) -> Self {
        self.answers = Arc::new(answers);
        self
    }

    /// Sends the token of a stored login with each HTTP request, unless the target has an `Authorization` header.
    #[must_use]
    pub fn oauth(mut self, oauth: OAuth) -> Self {
        self.oauth = Some(oauth);
        self
    }

    /// Calls a function with each line that the process of a server writes to its standard error, instead of logging it at
    /// the level `debug`. Lines have no control characters, and at most 64 KiB of them come in a second.
    #[must_use]
    pub fn on_stderr(mut self, line: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.on_stderr = OnStderr(Arc::new(line));
        self
    }
}
