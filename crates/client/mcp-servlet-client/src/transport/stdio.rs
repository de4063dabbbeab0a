//! Messages on a pair of streams, one per line, as over standard input and output.

use std::collections::VecDeque;
use std::io;
use std::mem;
use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{ErrorCode, ErrorData, RequestId, ServerJsonRpcMessage};
use rmcp::service::TxJsonRpcMessage;
use rmcp::transport::Transport;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, timeout_at};

use super::child::Child;
use super::http::too_large;
use super::lines::{End, Line, LineReader};
use crate::error::{Error, ErrorKind};
use crate::incoming::{self, BYTE_ORDER_MARK};
use crate::message::probe_id;
use crate::tap::Tap;
use crate::task::spawn;

/// How many lines are written together.
const LINES_AT_ONCE: usize = 64;

/// The streams of a server.
pub(crate) struct Stdio {
    reader: LineReader<Box<dyn AsyncRead + Send + Unpin>>,
    /// The largest message in bytes.
    limit: usize,
    /// Lines for the task that writes. None once the transport is closed.
    writer: Option<mpsc::UnboundedSender<QueuedLine>>,
    tap: Arc<Tap>,
    /// Messages of a batch that rmcp has not got yet.
    ready: VecDeque<ServerJsonRpcMessage>,
    /// The process behind the streams.
    child: Option<Child>,
    /// How long the server may take to answer `server/discover`, before the handshake is tried.
    probe_timeout: Option<Duration>,
    /// The probe that has no answer yet, and when it is given up.
    probe: Option<(RequestId, Instant)>,
}

/// A line, and who waits until it is written.
type QueuedLine = (Vec<u8>, oneshot::Sender<io::Result<()>>);

impl Stdio {
    pub(crate) fn new<R, W>(reader: R, writer: W, limit: usize, tap: Arc<Tap>) -> Self
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let (sender, lines) = mpsc::unbounded_channel();
        spawn(write_lines(writer, lines));
        Self {
            reader: LineReader::new(Box::new(reader), limit),
            limit,
            writer: Some(sender),
            tap,
            ready: VecDeque::new(),
            child: None,
            probe_timeout: None,
            probe: None,
        }
    }

    pub(crate) fn of_child(mut self, child: Child) -> Self {
        self.child = Some(child);
        self
    }

    pub(crate) fn with_probe_timeout(mut self, timeout: Option<Duration>) -> Self {
        self.probe_timeout = timeout;
        self
    }

    /// The next line. None if the probe has had no answer in time.
    async fn next_line(&mut self) -> Option<Result<Line, End>> {
        match &self.probe {
            None => Some(self.reader.next().await),
            // A read that is cancelled loses nothing.
            Some((_, end)) => timeout_at(*end, self.reader.next()).await.ok(),
        }
    }

    /// What rmcp gets instead of the answer to the probe, so that it tries the handshake.
    fn give_up(&mut self) -> Option<ServerJsonRpcMessage> {
        let (id, _) = self.probe.take()?;
        let error = ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "no response in time", None);
        Some(ServerJsonRpcMessage::error(error, Some(id)))
    }

    /// Reads a line, which has one message or a batch.
    fn read(&mut self, line: &[u8]) {
        let messages: Vec<_> = match incoming::batch(line) {
            Some(batch) => {
                let texts = batch.iter().map(|one| one.get().as_bytes());
                texts.filter_map(|text| self.parse(text)).collect()
            }
            None => self.parse(line).into_iter().collect(),
        };
        if messages.iter().any(is_response) {
            self.probe = None;
        }
        self.ready.extend(messages);
    }

    fn parse(&self, line: &[u8]) -> Option<ServerJsonRpcMessage> {
        let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
        if line.trim_ascii().is_empty() {
            return None;
        }
        super::read_message(&self.tap, line)
    }
}

fn is_response(message: &ServerJsonRpcMessage) -> bool {
    matches!(
        message,
        ServerJsonRpcMessage::Response(_) | ServerJsonRpcMessage::Error(_)
    )
}

/// What the end of the lines means.
async fn error(end: End, child: Option<&Child>, limit: usize) -> Error {
    match (end, child) {
        (End::Endless, _) => too_large(limit),
        (End::Failed(source), _) => {
            let message = format!("cannot read from the server: {source}");
            Error::new(ErrorKind::Connectivity, message).with_source(source)
        }
        (End::Closed, Some(child)) => child.ended().await,
        (End::Closed, None) => {
            let message = "the server has closed the connection";
            Error::new(ErrorKind::Connectivity, message)
        }
    }
}

/// Writes lines in the order in which they are sent, and closes the stream after the last one.
///
/// Lines that wait are written together, so that the server wakes up once for all of them.
async fn write_lines<W: AsyncWrite + Unpin>(
    mut writer: W,
    mut queue: mpsc::UnboundedReceiver<QueuedLine>,
) {
    let mut lines = Vec::new();
    while queue.recv_many(&mut lines, LINES_AT_ONCE).await > 0 {
        let (mut texts, senders): (Vec<_>, Vec<_>) = lines.drain(..).unzip();
        // One line, which may be large, needs no copy.
        let text = match &mut *texts {
            [text] => mem::take(text),
            texts => texts.concat(),
        };
        let written = write(&mut writer, &text).await;
        for sender in senders {
            let result = match &written {
                Ok(()) => Ok(()),
                Err(error) => Err(io::Error::new(error.kind(), error.to_string())),
            };
            // The sender may have given up.
            let _ = sender.send(result);
        }
    }
    let _ = writer.shutdown().await;
}

async fn write<W: AsyncWrite + Unpin>(writer: &mut W, text: &[u8]) -> io::Result<()> {
    let result = async {
        writer.write_all(text).await?;
        writer.flush().await
    };
    match result.await {
        // The server has ended. Its output ends, too, and there the reason is known.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

impl Transport<RoleClient> for Stdio {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        self.tap.sent(&message);
        if let (Some(limit), Some(id)) = (self.probe_timeout, probe_id(&message)) {
            self.probe = Some((id.clone(), Instant::now() + limit));
        }
        let (sender, written) = oneshot::channel();
        let queued = super::to_json(&message).map(|mut line| {
            line.push(b'\n');
            let queue = self.writer.as_ref();
            queue.is_some_and(|queue| queue.send((line, sender)).is_ok())
        });
        async move {
            if queued? {
                written
                    .await
                    .unwrap_or(Err(io::ErrorKind::BrokenPipe.into()))
            } else {
                Err(io::ErrorKind::BrokenPipe.into())
            }
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        loop {
            if let Some(message) = self.ready.pop_front() {
                return Some(message);
            }
            let Some(line) = self.next_line().await else {
                return self.give_up();
            };
            match line {
                Ok(Line::Whole(line)) => self.read(&line),
                Ok(Line::TooLong(ends)) => {
                    let error = too_large(self.limit);
                    match self.tap.skipped(ends.id(), error) {
                        Ok(response) => return Some(response),
                        Err(error) => {
                            self.tap.ended(error);
                            return None;
                        }
                    }
                }
                Err(end) => {
                    let error = error(end, self.child.as_ref(), self.limit).await;
                    self.tap.ended(error);
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.writer = None;
        if let Some(child) = self.child.take() {
            child.stop().await;
        }
        Ok(())
    }
}
