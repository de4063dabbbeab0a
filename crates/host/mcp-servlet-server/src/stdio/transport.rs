//! Messages as lines.
//!
//! rmcp's own transport drops invalid messages, so that the sender waits for an answer that never
//! comes (<https://github.com/modelcontextprotocol/rust-sdk/issues/938>). This one answers with an
//! error, and leaves the parsing of lines to rmcp's codec.

use std::{collections::VecDeque, io, sync::Arc};

use rmcp::{RoleServer, service::TxJsonRpcMessage, transport::Transport};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader},
    sync::Mutex,
    task::JoinHandle,
};
use tokio_util::{bytes::BytesMut, sync::CancellationToken};

use super::batches::{Batch, Batches};
use crate::{
    exchange::Exchange,
    message::{self, BATCHES, Incoming, Kind, Message, Received, Refusal},
    passthrough,
    server::Server,
};

/// Maximum length of a line, in bytes.
const MAX_LINE: usize = 16 << 20;

/// Which directions of the connection the client has closed.
#[derive(Clone, Debug, Default)]
pub(super) struct Closed {
    /// The client sends no more, but may still read answers.
    pub(super) input: CancellationToken,
    /// The client reads no more. No line is written then.
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
    /// The error for an invalid line, or another line that rmcp does not send. It is written by a task of its own, because a
    /// write that is cancelled halfway would corrupt the next message.
    writing: Option<JoinHandle<Option<io::Result<()>>>>,
    exchange: Exchange,
    /// Whether the protocol version of the session has batches.
    takes_batches: bool,
    batches: Batches,
    /// Messages of an array that rmcp does not have yet.
    queue: VecDeque<Incoming>,
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
            writing: None,
            exchange: Exchange::default(),
            takes_batches: false,
            batches: Batches::default(),
            queue: VecDeque::new(),
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
            let available = self
                .reader
                .fill_buf()
                .await
                .inspect_err(|error| {
                    tracing::error!(%error, "cannot read from the client");
                })
                .ok()?;
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
            self.skipping = end.is_none() && (was_skipping || self.line.len() > MAX_LINE);
            if was_skipping {
                continue;
            }
            if self.line.len() > MAX_LINE {
                self.line.clear();
                let message = format!("the line is longer than {MAX_LINE} bytes");
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

    /// Reads a line. Returns the message, if it is one for rmcp.
    fn take(&mut self, line: BytesMut) -> Option<Incoming> {
        let answer = match self.read(line) {
            Ok(Some(Received::One(message))) => match self.admit(message) {
                Ok(message) => return message,
                Err(answer) => Some(answer),
            },
            Ok(Some(Received::Batch(messages))) => self.batch(messages),
            Ok(None) => None,
            Err(refusal) => Some(refusal.to_json().to_string()),
        };
        self.answer(answer);
        None
    }

    fn read(&self, line: BytesMut) -> Result<Option<Received>, Refusal> {
        if line.trim_ascii().is_empty() {
            return Ok(None);
        }
        message::read(line.freeze(), self.takes_batches).map(Some)
    }

    /// The message, if rmcp may get it. An error is the answer to another one.
    fn admit(&mut self, message: Message) -> Result<Option<Incoming>, String> {
        let refused = |refusal: Refusal| refusal.to_json().to_string();
        let id = message.id();
        match (message.kind(), &id) {
            (_, Some(id)) if self.server.is_stopping() => {
                return Err(refused(Refusal::stopping(id.clone())));
            }
            (Kind::Initialize(version), _) => self.takes_batches = version == BATCHES,
            (Kind::Cancelled(id), _) => {
                let complete = self.batches.cancel(id);
                self.answer(complete);
            }
            _ => {}
        }
        let message = message::decode(message.into_bytes())
            .map_err(|refusal| refused(refusal.with_id(id)))?;
        let admitted = message.map(|message| self.exchange.admit(message));
        Ok(admitted.transpose().map_err(refused)?.flatten())
    }

    /// Queues the messages of an array. Returns the responses, if they are already known.
    fn batch(&mut self, messages: Vec<Result<Message, Refusal>>) -> Option<String> {
        let mut batch = Batch::default();
        for message in messages {
            let admitted = message
                .map_err(|refusal| refusal.to_json().to_string())
                .and_then(|message| Ok((message.request_id(), self.admit(message)?)));
            match admitted {
                Ok((id, Some(message))) => {
                    batch.waiting.extend(id);
                    self.queue.push_back(message);
                }
                Ok((_, None)) => {}
                Err(answer) => batch.responses.push(answer),
            }
        }
        self.batches.add(batch)
    }

    /// Writes a line that rmcp does not send.
    fn answer(&mut self, line: Option<String>) {
        if let Some(line) = line {
            let nursery = &self.server.0.process.nursery;
            self.writing = Some(nursery.spawn(self.write(line)));
        }
    }

    /// Writes a line. The transport is closed if that fails.
    fn write(&self, mut line: String) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let (writer, output) = (Arc::clone(&self.writer), self.closed.output.clone());
        line.push('\n');
        async move {
            let written = output
                .run_until_cancelled(write(writer, line.into()))
                .await
                .unwrap_or_else(|| Err(io::ErrorKind::BrokenPipe.into()));
            written.inspect_err(|error| {
                tracing::debug!(%error, "cannot write to the client");
                output.cancel();
            })
        }
    }
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
        let id = self.exchange.sent(&message);
        let line = serde_json::to_string(&message).map(|line| {
            let line = passthrough::outgoing(&line).unwrap_or(line);
            match id {
                Some(id) => self.batches.answer(&id, line),
                None => Some(line),
            }
        });
        let written = line.map(|line| line.map(|line| self.write(line)));
        async move {
            match written? {
                Some(written) => written.await,
                None => Ok(()),
            }
        }
    }

    async fn receive(&mut self) -> Option<Incoming> {
        loop {
            // A client that sends invalid lines and reads no answers has to wait here.
            if let Some(writing) = &mut self.writing {
                let written = writing.await;
                self.writing = None;
                written.ok()??.ok()?;
            }
            if let Some(message) = self.queue.pop_front() {
                return Some(message);
            }
            let output = self.closed.output.clone();
            let line = output.run_until_cancelled(self.next_line()).await;
            let Some(line) = line.flatten() else {
                self.closed.input.cancel();
                return None;
            };
            match line {
                Ok(line) => {
                    if let Some(message) = self.take(line) {
                        return Some(message);
                    }
                }
                Err(refusal) => self.answer(Some(refusal.to_json().to_string())),
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        drop(self.writer.lock().await.take());
        Ok(())
    }
}
