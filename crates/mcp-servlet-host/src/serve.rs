//! MCP for a [`Host`]: every revision from 2024-11-05 to 2026-07-28.

mod exact;
mod handler;

use std::sync::Arc;

use rmcp::{
    RoleServer, ServiceExt as _,
    service::{QuitReason, ServerInitializeError},
    transport::IntoTransport,
};

use crate::Host;
use exact::Exact;
use handler::Handler;

/// Why serving stopped before the client was done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The client and this server could not agree on how to begin.
    #[error("the client did not open the session as MCP wants")]
    Opening {
        /// What happened instead.
        source: Box<ServerInitializeError>,
    },
    /// The task that answers requests died.
    #[error("the server stopped in the middle of its work")]
    Stopped {
        /// How it died.
        source: tokio::task::JoinError,
    },
}

/// Serves on standard input and output until the client closes them.
///
/// # Errors
/// [`ServeError`]. A client that leaves is no error.
pub async fn stdio(host: Arc<Host>) -> Result<(), ServeError> {
    serve(host, rmcp::transport::stdio_pipes()).await
}

/// Serves on any transport of rmcp until the client closes it.
///
/// # Errors
/// [`ServeError`]. A client that leaves is no error.
pub async fn serve<T, E, A>(host: Arc<Host>, transport: T) -> Result<(), ServeError>
where
    T: IntoTransport<RoleServer, E, A>,
    E: std::error::Error + Send + Sync + 'static,
{
    let service = Exact::new(Handler::new(host));
    let running = match service.serve(transport).await {
        Ok(running) => running,
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(source) => {
            return Err(ServeError::Opening {
                source: Box::new(source),
            });
        }
    };
    match running.waiting().await {
        Ok(QuitReason::JoinError(source)) | Err(source) => Err(ServeError::Stopped { source }),
        Ok(_) => Ok(()),
    }
}
