//! Requests to the HTTP server: every answer is HTTP, and none is an internal error.

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::server::{RUNTIME, SERVICE};

/// How long a server may take to answer. A stream does not end by itself.
const PATIENCE: Duration = Duration::from_millis(200);

pub(crate) fn run(bytes: &[u8]) {
    // Loading a servlet blocks, so it must not happen in a task.
    let address = SERVICE.listeners()[0].address;
    let answer = RUNTIME.block_on(async {
        let mut stream = TcpStream::connect(address)
            .await
            .expect("the server listens");
        let mut answer = Vec::new();
        let exchange = async {
            stream.write_all(bytes).await?;
            stream.shutdown().await?;
            stream.read_to_end(&mut answer).await
        };
        // The server may close the connection at any time.
        let _ = tokio::time::timeout(PATIENCE, exchange).await;
        answer
    });
    if answer.is_empty() {
        return;
    }
    let head = String::from_utf8_lossy(&answer[..answer.len().min(64)]);
    let status = head
        .strip_prefix("HTTP/1.1 ")
        .or_else(|| head.strip_prefix("HTTP/1.0 "));
    let status = status.unwrap_or_else(|| panic!("not HTTP: {head:?}"));
    assert!(!status.starts_with("500"), "{head:?}");
}
