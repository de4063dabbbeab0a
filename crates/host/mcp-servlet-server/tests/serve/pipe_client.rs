//! A client on a pipe that reads one message at a time.

use std::time::Duration;

use mcp_servlet_server::Service;
use serde_json::Value;
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};

pub(crate) struct PipeClient {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
    _service: Service,
}

impl PipeClient {
    pub(crate) fn connect(service: Service) -> Self {
        let (reader, writer) = tokio::io::split(service.server().open_pipe());
        let lines = BufReader::new(reader).lines();
        Self {
            lines,
            writer,
            _service: service,
        }
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
