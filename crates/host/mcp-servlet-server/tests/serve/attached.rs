//! A client on a pipe.

use mcp_servlet_server::{ServeError, Service};
use tokio::task::JoinHandle;
use wire::Pipe;

/// A client of the service, and the end of its connection.
pub(crate) fn attach(service: &Service) -> (Pipe, JoinHandle<Result<(), ServeError>>) {
    let (client, pipe) = tokio::io::duplex(1 << 20);
    let (reader, writer) = tokio::io::split(pipe);
    let server = service.server().clone();
    let serving = tokio::spawn(async move { server.serve_stream(reader, writer).await });
    (Pipe::new(client), serving)
}
