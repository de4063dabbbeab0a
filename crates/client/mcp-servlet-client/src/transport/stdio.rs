//! Messages on a pair of streams, one per line, as over standard input and output.

use std::io;
use std::mem;
use std::sync::Arc;

use rmcp::RoleClient;
use rmcp::model::ServerJsonRpcMessage;
use rmcp::service::TxJsonRpcMessage;
use rmcp::transport::Transport;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{mpsc, oneshot};

use super::child::Child;
use super::http::too_large;
use super::lines::{End, Line, LineReader};
use crate::error::{Error, ErrorKind};
use crate::tap::Tap;
use crate::task::spawn;

/// How many lines are written together.
const LINES_AT_ONCE: usize = 64;

/// Some programs write it before their first line.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// The streams of a server.
pub(crate) struct Stdio {
    reader: LineReader<Box<dyn AsyncRead + Send + Unpin>>,
    /// The largest message in bytes.
    limit: usize,
    /// Lines for the task that writes. None once the transport is closed.
    writer: Option<mpsc::UnboundedSender<QueuedLine>>,
    tap: Arc<Tap>,
    /// The process behind the streams.
    child: Option<Child>,
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
            child: None,
        }
    }

    pub(crate) fn of_child(mut self, child: Child) -> Self {
        self.child = Some(child);
        self
    }

    fn parse(&self, line: &[u8]) -> Option<ServerJsonRpcMessage> {
        let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
        if line.trim_ascii().is_empty() {
            return None;
        }
        let message = self.tap.received(line, None)?.message().ok();
        if message.is_none() {
            self.tap.ignore_line(line);
        }
        message
    }
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
            match self.reader.next().await {
                Ok(Line::Whole(line)) => {
                    if let Some(message) = self.parse(&line) {
                        return Some(message);
                    }
                }
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
