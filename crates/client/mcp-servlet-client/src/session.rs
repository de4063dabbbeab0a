//! A connection to a server.

mod call;
mod complete;
mod connect;
mod failure;
mod forward;
mod handler;
mod input;
mod list;
mod ping;
mod prompt;
mod read;
mod request;
mod retry;
mod watch;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::service::RunningService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;
use tokio_util::task::TaskTracker;

pub use self::call::CallOptions;
pub use self::complete::Completion;
use self::handler::Handler;
pub use self::list::{List, Page};
pub use self::ping::Pong;
use crate::asking::Asking;
use crate::error::Error;
use crate::limits::{Limits, Timeouts};
use crate::options::Options;
use crate::retry::Retry;
use crate::server::Server;
use crate::tap::Tap;
use crate::target::Target;

/// A connection to a server.
///
/// Requests take `&self`, so that several may run at once. Dropping the future of a request cancels it. Dropping the
/// session closes the connection in the background; [`close`](Self::close) waits for that.
pub struct Session {
    service: RunningService<RoleClient, Handler>,
    tap: Arc<Tap>,
    asking: Arc<Asking>,
    server: Server,
    target: String,
    timeouts: Timeouts,
    limits: Limits,
    retry: Retry,
    /// The tasks that tell the server which requests were cancelled.
    cancellations: TaskTracker,
}

/// How long closing a session waits until the server knows which requests were cancelled.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(1);

impl Session {
    /// Connects to a server.
    ///
    /// # Errors
    /// If the server cannot be reached, or speaks no version of MCP that this client knows.
    pub async fn connect(target: &Target) -> Result<Self, Error> {
        Self::connect_with(target, &Options::default()).await
    }

    /// Connects to a server with options.
    ///
    /// # Errors
    /// As [`connect`](Self::connect), after the last of the attempts that the options allow.
    pub async fn connect_with(target: &Target, options: &Options) -> Result<Self, Error> {
        connect::connect(target, options).await
    }

    /// Connects to a server at the other end of two streams, with one message per line.
    ///
    /// # Errors
    /// As [`connect`](Self::connect).
    pub async fn attach<R, W>(reader: R, writer: W, options: &Options) -> Result<Self, Error>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        connect::attach(reader, writer, options).await
    }

    /// What the server said about itself when the connection opened.
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// The name of the server in error messages.
    pub(crate) fn target(&self) -> &str {
        &self.target
    }

    /// Whether the connection has ended, so that requests fail.
    pub fn has_ended(&self) -> bool {
        self.tap.has_ended() || self.service.is_transport_closed()
    }

    /// Whether the server may still send something that belongs to a request that was cancelled.
    ///
    /// Over standard input and output and over HTTP+SSE, this holds until the server answers the request, and for five minutes if
    /// it does not. Over streamable HTTP, the client stops reading the response of a cancelled request. The server can only go on to
    /// send in a stream that belongs to no request; if it has one, this holds for five minutes.
    pub fn has_cancelled(&self) -> bool {
        self.tap.has_cancelled()
    }

    /// Closes the connection, and waits until the process of the server has ended or its session is deleted. Before that, the
    /// server learns which requests were cancelled, for example because their time was over.
    pub async fn close(mut self) {
        self.cancellations.close();
        // A server that does not read is left without.
        let _ = timeout(CANCEL_TIMEOUT, self.cancellations.wait()).await;
        // An error means that the task of the connection has panicked, and with it the connection is closed.
        let _ = self.service.close().await;
    }

    /// The number of requests without a response yet.
    #[doc(hidden)]
    pub fn waiting(&self) -> usize {
        self.tap.waiting()
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("target", &self.target)
            .field("server", &self.server)
            .finish_non_exhaustive()
    }
}
