//! MCP over standard input and output, or any other pair of streams.

mod batches;
mod transport;

use std::{convert::Infallible, future::pending, time::Duration};

use futures_util::future::BoxFuture;
use mcp_servlet_call::chain;
use rmcp::{
    ServiceExt as _,
    service::{QuitReason, ServerInitializeError},
};
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, duplex, split};

use crate::{handler::service, records::SessionRecord, server::Server, session_id::SessionId};
use transport::{Closed, Lines};

/// How long calls may go on after the client has closed its end of the pipe. Clients kill servers
/// that take longer than two seconds; the rest is for ending the process on a busy machine.
const CALLS_AFTER_CLOSE: Duration = Duration::from_millis(1200);

/// How long a client may take to read the last responses of a service that has been stopped.
const LAST_RESPONSES: Duration = Duration::from_secs(2);

/// The capacity of a pipe in this process, in bytes.
const PIPE: usize = 64 << 10;

/// Why serving stopped before the client disconnected.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The client did not open the session as MCP requires.
    #[error("the client did not open a valid MCP session")]
    Opening {
        /// What happened instead.
        source: Box<ServerInitializeError>,
    },
    /// The task that answers requests panicked or was cancelled.
    #[error("the server stopped unexpectedly")]
    Stopped {
        /// The error of the task.
        source: tokio::task::JoinError,
    },
}

/// Serves on standard input and output until the client closes them or the service is stopped.
pub(crate) async fn stdio(server: &Server) -> Result<(), ServeError> {
    let (reader, writer) = rmcp::transport::stdio_pipes();
    server.serve_stream(reader, writer).await
}

impl Server {
    /// Serves one client on any pair of streams, with one message per line, until the client closes its
    /// stream or the service ends.
    ///
    /// # Errors
    /// [`ServeError`]. A client that disconnects is not an error.
    pub async fn serve_stream<R, W>(&self, reader: R, writer: W) -> Result<(), ServeError>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let transport = Lines::new(self.clone(), Box::new(reader), Box::new(writer));
        let served = self.0.process.transports.run(serve_lines(self, transport));
        served.await.unwrap_or(Ok(()))
    }

    /// Opens a pipe to a client in this process. The client gets one end, and the service serves the other one, as with
    /// [`serve_stream`](Self::serve_stream).
    pub fn open_pipe(&self) -> DuplexStream {
        let (client, own) = duplex(PIPE);
        let (reader, writer) = split(own);
        let server = self.clone();
        self.0.process.transports.spawn(async move {
            if let Err(error) = server.serve_stream(reader, writer).await {
                tracing::error!("client in this process: {}", chain(&error));
            }
        });
        client
    }
}

/// The future is a trait object. Otherwise each crate that awaits it would compile rmcp's code for a connection again.
fn serve_lines(server: &Server, transport: Lines) -> BoxFuture<'_, Result<(), ServeError>> {
    Box::pin(serve_until_closed(server, transport))
}

async fn serve_until_closed(server: &Server, transport: Lines) -> Result<(), ServeError> {
    let closed = transport.closed();
    // Boxed, because the future is large.
    let id = SessionId::random();
    let _recorded = SessionRecord::open(server, id.as_str(), None);
    let opening = Box::pin(service(server, id).serve(transport));
    let Some(opened) = server.0.process.active.unless_stopping(opening).await else {
        return Ok(());
    };
    let running = match opened {
        Ok(running) => running,
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(source) => {
            return Err(ServeError::Opening {
                source: Box::new(source),
            });
        }
    };
    let cancel = running.cancellation_token();
    let end = async {
        tokio::select! {
            () = drained(server) => {}
            () = left(&closed) => {}
        }
        cancel.cancel();
        // A client that reads nothing must not hold up a stop.
        drained(server).await;
        tokio::time::sleep(LAST_RESPONSES).await;
        closed.output.cancel();
        pending::<Infallible>().await
    };
    let ended = tokio::select! {
        ended = running.waiting() => ended,
        never = end => match never {},
    };
    match ended {
        Ok(QuitReason::JoinError(source)) | Err(source) => Err(ServeError::Stopped { source }),
        Ok(_) => Ok(()),
    }
}

/// Returns when the server is stopped and running work has ended or has used up its time.
async fn drained(server: &Server) {
    server.0.process.active.stopping().await;
    server.0.process.active.idle(server.0.options.drain).await;
}

/// Returns when the client reads no more, or when it sends no more and its running calls have had their time.
async fn left(closed: &Closed) {
    let sends_nothing = async {
        closed.input.cancelled().await;
        tokio::time::sleep(CALLS_AFTER_CLOSE).await;
    };
    tokio::select! {
        () = closed.output.cancelled() => {}
        () = sends_nothing => {}
    }
}
