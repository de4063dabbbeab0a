//! Messages as lines.
//!
//! rmcp's own transport drops invalid messages, so that the sender waits for an answer that never
//! comes (<https://github.com/modelcontextprotocol/rust-sdk/issues/938>). This one answers with an
//! error, and leaves the parsing of lines to rmcp's codec.

use std::{io, sync::Arc};

use rmcp::{RoleServer, service::TxJsonRpcMessage, transport::Transport};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader},
    sync::Mutex,
    task::JoinHandle,
};
use tokio_util::{bytes::BytesMut, sync::CancellationToken};

use crate::{
    message::{self, Incoming, Kind, Refusal},
    opening::Opening,
    passthrough,
    server::Server,
};

/// Maximum length of a line, in bytes.
const LIMIT: usize = 16 << 20;

/// Some editors write it before the first line.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Which directions of the connection the client has closed.
#[derive(Clone, Debug, Default)]
pub(super) struct Closed {
    /// The client sends no more, but may still read answers.
    pub(super) input: CancellationToken,
    /// The client reads no more.
    pub(super) output: CancellationToken,
}

// Trait objects, so that rmcp's large code for a transport is compiled once for all streams.
type Reader = Box<dyn AsyncRead + Send + Unpin>;
type Writer = Box<dyn AsyncWrite + Send + Unpin>;

/// One message per line, on a reader and a writer.
pub(super) struct Lines {
    reader: BufReader<Reader>,
    /// The line that is being read. It is kept here because sending a message cancels the read.
    line: BytesMut,
    /// The line exceeds the limit. The error was sent, and the rest of the line is skipped.
    skipping: bool,
    /// None once it is closed.
    writer: Arc<Mutex<Option<Writer>>>,
    closed: Closed,
    /// The error for an invalid line. It is written by a task of its own, because a write that is
    /// cancelled halfway would corrupt the next message.
    refusing: Option<JoinHandle<io::Result<()>>>,
    opening: Opening,
    /// Once the server is stopped, new requests are refused.
    server: Server,
}

impl Lines {
    pub(super) fn new(server: Server, reader: Reader, writer: Writer) -> Self {
        Self {
            reader: BufReader::new(reader),
            line: BytesMut::new(),
            skipping: false,
            writer: Arc::new(Mutex::new(Some(writer))),
            closed: Closed::default(),
            refusing: None,
            opening: Opening::default(),
            server,
        }
    }

    /// A handle that shows which directions the client has closed.
    pub(super) fn closed(&self) -> Closed {
        self.closed.clone()
    }

    /// The next complete line with its line break, or why it is invalid. None if the client has disconnected.
    async fn next_line(&mut self) -> Option<Result<BytesMut, Refusal>> {
        loop {
            let available = self.reader.fill_buf().await.inspect_err(|error| {
                tracing::error!(%error, "cannot read from the client");
            });
            let available = available.ok()?;
            if available.is_empty() {
                return self.last_line().map(Ok);
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let length = end.map_or(available.len(), |at| at + 1);
            if !self.skipping {
                self.line.extend_from_slice(&available[..length]);
            }
            self.reader.consume(length);
            let was_skipping = self.skipping;
            self.skipping = end.is_none() && (was_skipping || self.line.len() > LIMIT);
            if was_skipping {
                continue;
            }
            if self.line.len() > LIMIT {
                self.line.clear();
                let message = format!("the line is longer than {LIMIT} bytes");
                return Some(Err(Refusal::invalid(message)));
            }
            if end.is_some() {
                return Some(Ok(self.line.split()));
            }
        }
    }

    /// The text after the last line break: the last line of a client may lack one.
    fn last_line(&mut self) -> Option<BytesMut> {
        let mut line = self.line.split();
        (!line.is_empty()).then(|| {
            line.extend_from_slice(b"\n");
            line
        })
    }

    fn refuse(&mut self, refusal: &Refusal) {
        let answer = format!("{}\n", refusal.to_json());
        self.refusing = Some(tokio::spawn(self.write(answer)));
    }

    /// Writes a line. The transport is closed if that fails.
    fn write(&self, line: String) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let (writer, output) = (Arc::clone(&self.writer), self.closed.output.clone());
        async move {
            let written = write(writer, line.into()).await;
            written.inspect_err(|error| {
                tracing::debug!(%error, "cannot write to the client");
                output.cancel();
            })
        }
    }
}

/// Parses a line. None if the message can be ignored.
fn parse(mut line: BytesMut, server: &Server) -> Result<Option<Incoming>, Refusal> {
    if line.starts_with(BYTE_ORDER_MARK) {
        let _mark = line.split_to(BYTE_ORDER_MARK.len());
    }
    if line.trim_ascii().is_empty() {
        return Ok(None);
    }
    let kind = match message::check(&line)? {
        Kind::Initialize(id) | Kind::Request(id) if server.is_stopping() => {
            return Err(Refusal::stopping(id));
        }
        kind => kind,
    };
    message::decode(&mut line).map_err(|refusal| refusal.to(kind.into_id()))
}

async fn write(writer: Arc<Mutex<Option<Writer>>>, line: Vec<u8>) -> io::Result<()> {
    let mut writer = writer.lock().await;
    let writer = writer.as_mut().ok_or(io::ErrorKind::NotConnected)?;
    writer.write_all(&line).await?;
    writer.flush().await
}

impl Transport<RoleServer> for Lines {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let line = serde_json::to_string(&message).map(|line| {
            let mut line = passthrough::unload(&line).unwrap_or(line);
            line.push('\n');
            self.write(line)
        });
        async move { line?.await }
    }

    async fn receive(&mut self) -> Option<Incoming> {
        loop {
            // A client that sends invalid lines and reads no answers has to wait here.
            if let Some(refusing) = &mut self.refusing {
                let refused = refusing.await;
                self.refusing = None;
                refused.ok()?.ok()?;
            }
            let output = self.closed.output.clone();
            let line = output.run_until_cancelled(self.next_line()).await;
            let Some(line) = line.flatten() else {
                self.closed.input.cancel();
                return None;
            };
            let message = line.and_then(|line| parse(line, &self.server));
            match message {
                Ok(Some(message)) => {
                    if self.opening.admits(&message) {
                        return Some(message);
                    }
                }
                Ok(None) => {}
                Err(refusal) => self.refuse(&refusal),
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        drop(self.writer.lock().await.take());
        Ok(())
    }
}
