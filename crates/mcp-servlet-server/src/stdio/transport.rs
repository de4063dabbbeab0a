//! Messages as lines, on pipes.
//!
//! rmcp's own transport drops what is no message, and who sent it waits for an answer that never comes. This one says
//! what is wrong, and leaves to rmcp's codec what a line means.

use std::{io, sync::Arc};

use rmcp::{
    RoleServer,
    model::{ClientRequest, GetMeta as _, JsonRpcMessage, ProtocolVersion},
    service::TxJsonRpcMessage,
    transport::Transport,
};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader},
    sync::Mutex,
    task::JoinHandle,
};
use tokio_util::{bytes::BytesMut, sync::CancellationToken};

use crate::{
    message::{self, Incoming, Kind, Refusal},
    passthrough,
    server::Server,
};

/// How many bytes a line may have.
const LIMIT: usize = 16 << 20;

/// Before the first line of some editors.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// How far a client has gone away.
#[derive(Clone, Debug, Default)]
pub(super) struct Closed {
    /// It sends nothing more, but may read answers.
    pub(super) input: CancellationToken,
    /// It reads nothing more.
    pub(super) output: CancellationToken,
}

/// One message per line, on a reader and a writer.
pub(super) struct Lines<R, W> {
    reader: BufReader<R>,
    /// The line that is being read. Here, because reading is given up whenever there is something to send.
    line: BytesMut,
    /// The line is longer than it may be, which was answered; the rest of it is skipped.
    skipping: bool,
    /// None once it is closed.
    writer: Arc<Mutex<Option<W>>>,
    closed: Closed,
    /// The answer to a line that was no message. A task, because half of an answer would spoil the next one.
    refusing: Option<JoinHandle<io::Result<()>>>,
    /// Whether there was a request that decides which era the client is of.
    opened: bool,
    /// Once it stops, there are no new requests.
    server: Server,
}

impl<R, W> Lines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    pub(super) fn new(server: Server, reader: R, writer: W) -> Self {
        Self {
            reader: BufReader::new(reader),
            line: BytesMut::new(),
            skipping: false,
            writer: Arc::new(Mutex::new(Some(writer))),
            closed: Closed::default(),
            refusing: None,
            opened: false,
            server,
        }
    }

    /// What becomes known here of how the client goes away.
    pub(super) fn closed(&self) -> Closed {
        self.closed.clone()
    }

    /// The next whole line with its end, or why there is none. None if the client has gone.
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
                let message = format!("a line may have {LIMIT} bytes");
                return Some(Err(Refusal::invalid(message)));
            }
            if end.is_some() {
                return Some(Ok(self.line.split()));
            }
        }
    }

    /// What stands after the last end of a line: a client may leave its last one without.
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

    /// Writes a line. One that cannot be written was the last one.
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

/// What a line says. None if it says nothing that matters to anyone.
fn parse(mut line: BytesMut, server: &Server) -> Result<Option<Incoming>, Refusal> {
    if line.starts_with(BYTE_ORDER_MARK) {
        let _mark = line.split_to(BYTE_ORDER_MARK.len());
    }
    if line.trim_ascii().is_empty() {
        return Ok(None);
    }
    let kind = match message::check(&line)? {
        Kind::Request(id) if server.is_stopping() => return Err(Refusal::stopping(id)),
        kind => kind,
    };
    message::decode(&mut line).map_err(|refusal| refusal.to(kind.into_id()))
}

/// Whether this is the request by which rmcp knows the era of a client. Until then it would take whatever is no request for a
/// mistake, and end.
fn opens(message: &Incoming) -> bool {
    let JsonRpcMessage::Request(request) = message else {
        return false;
    };
    match &request.request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
        request => {
            let meta = request.get_meta();
            let version = meta.protocol_version();
            let is_known =
                version.is_some_and(|version| ProtocolVersion::KNOWN_VERSIONS.contains(&version));
            let missing = meta.missing_required_keys(&ProtocolVersion::V_2026_07_28);
            is_known && missing.is_empty()
        }
    }
}

async fn write<W: AsyncWrite + Unpin>(
    writer: Arc<Mutex<Option<W>>>,
    line: Vec<u8>,
) -> io::Result<()> {
    let mut writer = writer.lock().await;
    let writer = writer.as_mut().ok_or(io::ErrorKind::NotConnected)?;
    writer.write_all(&line).await?;
    writer.flush().await
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
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
            // A client that sends nonsense and reads no answers waits here.
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
                    self.opened = self.opened || opens(&message);
                    if self.opened || matches!(message, JsonRpcMessage::Request(_)) {
                        return Some(message);
                    }
                    tracing::debug!("nothing has begun yet that this could belong to");
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
