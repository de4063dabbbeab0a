//! A client on a pipe that reads one message at a time.

use std::time::Duration;

use mcp_servlet_server::Server;
use serde_json::Value;
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};

pub(crate) struct PipeClient {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
}

impl PipeClient {
    pub(crate) fn connect(server: &Server) -> Self {
        let (client, pipe) = tokio::io::duplex(1 << 16);
        let (input, output) = tokio::io::split(pipe);
        let server = server.clone();
        tokio::spawn(async move { mcp_servlet_server::serve_stream(&server, input, output).await });
        let (reader, writer) = tokio::io::split(client);
        let lines = BufReader::new(reader).lines();
        Self { lines, writer }
    }

    pub(crate) async fn send(&mut self, message: &str) {
        let line = format!("{message}\n");
        self.writer
            .write_all(line.as_bytes())
            .await
            .expect("a write");
    }

    /// The next message of the server.
    pub(crate) async fn next(&mut self) -> Value {
        let line = tokio::time::timeout(Duration::from_secs(30), self.lines.next_line());
        let line = line.await.expect("a message").expect("a read");
        serde_json::from_str(&line.expect("a line")).expect("JSON")
    }
}
