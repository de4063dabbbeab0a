//! HTTP+SSE, the transport of MCP before 2025-03-26: messages are posted, and everything else arrives as events.

use std::io;

use futures_util::StreamExt as _;
use futures_util::future::FutureExt as _;
use futures_util::stream::BoxStream;
use reqwest::Method;
use reqwest::header::CONTENT_TYPE;
use rmcp::RoleClient;
use rmcp::model::{ClientJsonRpcMessage, ClientNotification, ServerJsonRpcMessage};
use rmcp::service::TxJsonRpcMessage;
use rmcp::transport::Transport;
use sse_stream::Sse;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::{CancellationToken, DropGuard};
use url::Url;

use super::http::{BodyError, Client, EVENTS, JSON, content_type, events};
use crate::error::{Error, ErrorKind};
use crate::target::public_url;
use crate::task::spawn;

/// An event stream, and the URL for messages.
pub(crate) struct Events {
    stream: BoxStream<'static, Result<Sse, BodyError>>,
    client: Client,
    queue: mpsc::UnboundedSender<ClientJsonRpcMessage>,
    /// Cancelled when the connection cannot be opened.
    broken: CancellationToken,
    _stop: DropGuard,
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
        let endpoint = endpoint(&mut stream, url).await?;
        let (queue, messages) = mpsc::unbounded_channel();
        let (stop, broken) = (CancellationToken::new(), CancellationToken::new());
        let posting = post_messages(client.clone(), endpoint, messages, broken.clone());
        let stopped = stop.clone().run_until_cancelled_owned(posting);
        spawn(stopped.map(drop));
        Ok(Self {
            stream,
            client,
            queue,
            broken,
            _stop: stop.drop_guard(),
        })
    }

    fn parse(&self, event: &Sse) -> Option<ServerJsonRpcMessage> {
        let data = event.data.as_deref()?;
        let is_message = event.event.as_deref().is_none_or(|name| name == "message");
        let tap = self.client.tap();
        let message = is_message.then(|| tap.received(data)?.message().ok());
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

/// Posts each message in a task of its own, because servers may hold the response to a POST until the answer was sent.
/// Only what comes after `notifications/initialized` waits for that one.
async fn post_messages(
    client: Client,
    endpoint: Url,
    mut messages: mpsc::UnboundedReceiver<ClientJsonRpcMessage>,
    broken: CancellationToken,
) {
    let mut posts = JoinSet::new();
    while let Some(message) = messages.recv().await {
        let comes_first = is_initialized(&message);
        let posting = post_or_report(client.clone(), endpoint.clone(), message, broken.clone());
        if comes_first {
            posting.await;
        } else {
            posts.spawn(posting.boxed());
        }
        while posts.try_join_next().is_some() {}
    }
}

fn is_initialized(message: &ClientJsonRpcMessage) -> bool {
    let ClientJsonRpcMessage::Notification(notification) = message else {
        return false;
    };
    matches!(
        notification.notification,
        ClientNotification::InitializedNotification(_)
    )
}

async fn post_or_report(
    client: Client,
    endpoint: Url,
    message: ClientJsonRpcMessage,
    broken: CancellationToken,
) {
    if let Err(error) = post(&client, &endpoint, &message).await {
        tracing::debug!(%error, "message not sent");
        let is_request = matches!(message, ClientJsonRpcMessage::Request(_));
        if !client.tap().failed(&message, error) && is_request {
            broken.cancel();
        }
    }
}

async fn post(
    client: &Client,
    endpoint: &Url,
    message: &ClientJsonRpcMessage,
) -> Result<(), Error> {
    let body = super::to_json(message).map_err(|source| {
        Error::new(
            ErrorKind::ParseError,
            "the message cannot be written as JSON",
        )
        .with_source(source)
    })?;
    let request = client.request(Method::POST, endpoint.as_str());
    let request = request.header(CONTENT_TYPE, JSON).body(body);
    client.send(request).await?;
    Ok(())
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
        loop {
            let event = tokio::select! {
                event = self.stream.next() => event,
                () = self.broken.cancelled() => return None,
            };
            let error = match event {
                Some(Ok(event)) => match self.parse(&event) {
                    Some(message) => return Some(message),
                    None => continue,
                },
                Some(Err(error)) => ended(error),
                None => Error::new(
                    ErrorKind::Connectivity,
                    "the server has closed the event stream",
                ),
            };
            self.client.tap().ended(error);
            return None;
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        Ok(())
    }
}
