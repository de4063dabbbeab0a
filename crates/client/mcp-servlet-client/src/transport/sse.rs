//! HTTP+SSE, the transport of MCP before 2025-03-26: messages are posted, and everything else arrives as events.

use std::io;

use futures_util::StreamExt as _;
use futures_util::future::FutureExt as _;
use futures_util::stream::BoxStream;
use reqwest::Method;
use reqwest::header::CONTENT_TYPE;
use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, RequestId, ServerJsonRpcMessage, ServerResult};
use rmcp::service::TxJsonRpcMessage;
use rmcp::transport::Transport;
use sse_stream::Sse;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::{CancellationToken, DropGuard};
use url::Url;

use super::http::{BodyError, Client, EVENTS, JSON, content_type, events};
use crate::error::{Error, ErrorKind};
use crate::message::{is_initialized, request_id};
use crate::tap::Waiter;
use crate::target::public_url;
use crate::task::spawn;

/// An event stream, and the URL for messages.
pub(crate) struct Events {
    stream: BoxStream<'static, Result<Sse, BodyError>>,
    client: Client,
    queue: mpsc::UnboundedSender<ClientJsonRpcMessage>,
    unanswered: mpsc::UnboundedReceiver<Unanswered>,
    _stop: DropGuard,
}

/// A request whose POST has failed, so that it gets no answer.
enum Unanswered {
    /// The request of a caller, for whom the tap has the error.
    Request(RequestId),
    /// The handshake, without which there is no session.
    Opening(Error),
}

impl Unanswered {
    /// What rmcp gets instead of the answer.
    fn end(self) -> Result<ServerJsonRpcMessage, Error> {
        match self {
            Self::Request(id) => {
                let nothing = ServerResult::empty(());
                Ok(ServerJsonRpcMessage::response(nothing, id))
            }
            Self::Opening(error) => Err(error),
        }
    }
}

/// The URL to which messages are posted, and how.
#[derive(Clone)]
struct Endpoint {
    client: Client,
    url: Url,
    unanswered: mpsc::UnboundedSender<Unanswered>,
}

impl Events {
    /// Opens the event stream, and waits for the URL that messages go to.
    pub(crate) async fn open(client: Client, url: &Url) -> Result<Self, Error> {
        let request = client.request(Method::GET, url.as_str());
        let response = client.send(request).await?;
        let kind = content_type(&response).unwrap_or_default();
        if !kind.starts_with(EVENTS) {
            let message = format!("expected `{EVENTS}`, found `{kind}`");
            return Err(Error::new(ErrorKind::Protocol, message)
                .with_help("check the path of the URL, which is often `/sse`"));
        }
        let mut stream = events(response, client.limit()).boxed();
        let url = endpoint(&mut stream, url).await?;
        let (queue, messages) = mpsc::unbounded_channel();
        let (sender, unanswered) = mpsc::unbounded_channel();
        let endpoint = Endpoint {
            client: client.clone(),
            url,
            unanswered: sender,
        };
        let stop = CancellationToken::new();
        let posting = endpoint.post_all(messages);
        let stopped = stop.clone().run_until_cancelled_owned(posting);
        spawn(stopped.map(drop));
        Ok(Self {
            stream,
            client,
            queue,
            unanswered,
            _stop: stop.drop_guard(),
        })
    }

    /// The next message for rmcp. An error means that there are no more.
    async fn next(&mut self) -> Result<ServerJsonRpcMessage, Error> {
        loop {
            let event = tokio::select! {
                event = self.stream.next() => event,
                Some(unanswered) = self.unanswered.recv() => return unanswered.end(),
            };
            let Some(event) = event else {
                let message = "the server has closed the event stream";
                return Err(Error::new(ErrorKind::Connectivity, message));
            };
            if let Some(message) = self.parse(&event.map_err(ended)?) {
                return Ok(message);
            }
        }
    }

    fn parse(&self, event: &Sse) -> Option<ServerJsonRpcMessage> {
        let data = event.data.as_deref()?;
        let is_message = event.event.as_deref().is_none_or(|name| name == "message");
        let tap = self.client.tap();
        let message = is_message.then(|| tap.received(data.as_bytes(), None)?.message().ok());
        if message.as_ref().is_some_and(Option::is_none) {
            tap.ignore_line(data.as_bytes());
        }
        message.flatten()
    }
}

/// The URL in the first event.
async fn endpoint(
    stream: &mut BoxStream<'static, Result<Sse, BodyError>>,
    url: &Url,
) -> Result<Url, Error> {
    while let Some(event) = stream.next().await {
        let event = event.map_err(ended)?;
        if event.event.as_deref() != Some("endpoint") {
            continue;
        }
        let data = event.data.unwrap_or_default();
        let endpoint = url.join(data.trim()).map_err(|source| {
            let message = "the server names an invalid URL for messages";
            Error::new(ErrorKind::Protocol, message).with_source(source)
        })?;
        if endpoint.origin() != url.origin() {
            let message = format!(
                "the server wants messages at another origin, `{}`",
                public_url(&endpoint)
            );
            return Err(Error::new(ErrorKind::Protocol, message));
        }
        return Ok(endpoint);
    }
    let message = "the event stream ended before its event `endpoint`";
    Err(Error::new(ErrorKind::Protocol, message))
}

impl Endpoint {
    /// Posts each message in a task of its own, because servers may hold the response to a POST until the answer was sent.
    /// Only what comes after `notifications/initialized` waits for that one.
    async fn post_all(self, mut messages: mpsc::UnboundedReceiver<ClientJsonRpcMessage>) {
        let mut posts = JoinSet::new();
        while let Some(message) = messages.recv().await {
            let comes_first = is_initialized(&message);
            let posting = self.clone().post_or_report(message);
            if comes_first {
                posting.await;
            } else {
                posts.spawn(posting.boxed());
            }
            while posts.try_join_next().is_some() {}
        }
    }

    /// Posts a message. If that fails, a request that still waits for its answer gets none. It may have its answer already: a
    /// proxy that gives up on a long POST does not keep the answer from the event stream.
    async fn post_or_report(self, message: ClientJsonRpcMessage) {
        let Err(error) = self.post(&message).await else {
            return;
        };
        tracing::debug!(%error, "message not sent");
        let waiter = self.client.tap().failed(&message, error.clone());
        let unanswered = match (waiter, request_id(&message)) {
            (Some(Waiter::Caller), Some(id)) => Unanswered::Request(id.clone()),
            (Some(Waiter::Opening), _) => Unanswered::Opening(error),
            _ => return,
        };
        // An error means that the connection is gone.
        let _ = self.unanswered.send(unanswered);
    }

    async fn post(&self, message: &ClientJsonRpcMessage) -> Result<(), Error> {
        let body = super::to_json(message).map_err(|source| {
            Error::new(
                ErrorKind::ParseError,
                "the message cannot be written as JSON",
            )
            .with_source(source)
        })?;
        let request = self.client.request(Method::POST, self.url.as_str());
        let request = request.header(CONTENT_TYPE, JSON).body(body);
        self.client.send(request).await?;
        Ok(())
    }
}

fn ended(error: BodyError) -> Error {
    match error {
        BodyError::Limit(error) => error,
        BodyError::Stream(error) => {
            let message = format!("the event stream broke off: {error}");
            Error::new(ErrorKind::Connectivity, message)
        }
    }
}

impl Transport<RoleClient> for Events {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        self.client.tap().sent(&message);
        let queued = self.queue.send(message);
        std::future::ready(queued.map_err(|_| io::ErrorKind::BrokenPipe.into()))
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        let next = self.next().await;
        next.map_err(|error| self.client.tap().ended(error)).ok()
    }

    async fn close(&mut self) -> io::Result<()> {
        Ok(())
    }
}
