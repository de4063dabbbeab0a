//! Requests to the HTTP server: every answer is HTTP, and none is an internal error.

use std::net::SocketAddr;
use std::sync::LazyLock;
use std::time::Duration;

use mcp_servlet_server::HttpOptions;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::server::{RUNTIME, SERVER};

/// How long a server may take to answer. A stream does not end by itself.
const PATIENCE: Duration = Duration::from_millis(200);

static ADDRESS: LazyLock<SocketAddr> = LazyLock::new(|| {
    // Loading a servlet blocks, so it must not happen in a task.
    let server = &*SERVER;
    let listener = RUNTIME.block_on(TcpListener::bind("127.0.0.1:0"));
    let listener = listener.expect("a port");
    let address = listener.local_addr().expect("an address");
    RUNTIME.spawn(mcp_servlet_server::http(
        server,
        listener,
        HttpOptions::default(),
    ));
    address
});

pub(crate) fn run(bytes: &[u8]) {
    let address = *ADDRESS;
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
