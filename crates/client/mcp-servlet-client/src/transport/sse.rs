//! HTTP+SSE, the transport of MCP before 2025-03-26: messages are posted, and everything else arrives as events.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::future::{Either, FutureExt as _};
use mcp_servlet_common::lock;
use reqwest::Method;
use reqwest::header::CONTENT_TYPE;
use rmcp::RoleClient;
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, RequestId, ServerJsonRpcMessage, ServerResult,
};
use rmcp::service::TxJsonRpcMessage;
use rmcp::transport::Transport;
use sse_stream::Sse;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_util::sync::{CancellationToken, DropGuard};
use url::Url;

use super::http::{
    EVENT_STREAM, EventError, EventStream, HttpClient, JSON, content_type, events, is_endpoint,
    is_message,
};
use crate::error::{Error, ErrorKind};
use crate::message::{cancelled_id, is_initialized, request_id};
use crate::retry::Retry;
use crate::tap::{Tap, Waiter};
use crate::target::bare_url;
use crate::task::spawn;

/// The pause before a stream that has ended is opened again, unless the server names one with `retry`.
const RECONNECTION_DELAY: Duration = Duration::from_millis(500);
/// The longest pause that a server may name.
const MAX_RECONNECTION_DELAY: Duration = Duration::from_secs(30);
/// How long one attempt to open a stream again may take.
const REOPEN_TIMEOUT: Duration = Duration::from_secs(30);
/// How many messages of the server wait for rmcp.
const MESSAGE_BUFFER: usize = 16;

/// A session over HTTP+SSE. Tasks of its own read the event stream and post messages.
pub(crate) struct SseSession {
    incoming: mpsc::Receiver<Incoming>,
    queue: mpsc::UnboundedSender<Outgoing>,
    handshake: Arc<Handshake>,
    tap: Arc<Tap>,
    _stop: DropGuard,
}

/// The next message for rmcp. An error means that there are no more.
type Incoming = Result<ServerJsonRpcMessage, Error>;

/// A message to the server, and who waits until it was posted.
type Outgoing = (ClientJsonRpcMessage, Option<oneshot::Sender<()>>);

/// The messages that open a session, for the case that it must be opened again.
#[derive(Debug, Default)]
struct Handshake {
    initialize: Mutex<Option<ClientJsonRpcMessage>>,
    initialized: Mutex<Option<ClientJsonRpcMessage>>,
}

impl Handshake {
    fn keep(&self, message: &ClientJsonRpcMessage) {
        let is_initialize = matches!(
            message,
            ClientJsonRpcMessage::Request(request)
                if matches!(request.request, ClientRequest::InitializeRequest(_))
        );
        let place = match message {
            _ if is_initialize => &self.initialize,
            message if is_initialized(message) => &self.initialized,
            _ => return,
        };
        *lock(place) = Some(message.clone());
    }

    /// Both messages, if the session was opened.
    fn messages(&self) -> Option<(ClientJsonRpcMessage, ClientJsonRpcMessage)> {
        let initialize = lock(&self.initialize).clone();
        initialize.zip(lock(&self.initialized).clone())
    }
}

/// What rmcp gets instead of the answer to a request whose POST has failed.
fn unanswered(waiter: Option<Waiter>, id: Option<&RequestId>, error: Error) -> Option<Incoming> {
    match (waiter, id) {
        // The tap has the error for the caller.
        (Some(Waiter::Caller), Some(id)) => {
            let nothing = ServerResult::empty(());
            Some(Ok(ServerJsonRpcMessage::response(nothing, id.clone())))
        }
        // Without the handshake, there is no session.
        (Some(Waiter::Opening), _) => Some(Err(error)),
        _ => None,
    }
}

/// Reads the event stream, and opens it again when it ends.
struct Reader {
    stream: EventStream,
    /// Where the stream is.
    url: Url,
    client: HttpClient,
    retry: Retry,
    handshake: Arc<Handshake>,
    /// The URL for messages. None while the stream is broken.
    endpoint: watch::Sender<Option<Url>>,
    delay: Duration,
    incoming: mpsc::Sender<Incoming>,
}

/// Posts messages.
#[derive(Clone)]
struct Poster {
    client: HttpClient,
    endpoint: watch::Receiver<Option<Url>>,
    incoming: mpsc::Sender<Incoming>,
}

impl SseSession {
    /// Opens the event stream, and waits for the URL that messages go to.
    pub(crate) async fn open(client: HttpClient, url: &Url, retry: Retry) -> Result<Self, Error> {
        let (stream, endpoint) = open_stream(&client, url).await?;
        let (queue, messages) = mpsc::unbounded_channel();
        let (sender, incoming) = mpsc::channel(MESSAGE_BUFFER);
        let endpoint = watch::Sender::new(Some(endpoint));
        let handshake = Arc::<Handshake>::default();
        let poster = Poster {
            client: client.clone(),
            endpoint: endpoint.subscribe(),
            incoming: sender.clone(),
        };
        let tap = Arc::clone(client.tap());
        let reader = Reader {
            stream,
            url: url.clone(),
            client,
            retry,
            handshake: Arc::clone(&handshake),
            endpoint,
            delay: RECONNECTION_DELAY,
            incoming: sender,
        };
        let stop = CancellationToken::new();
        for task in [reader.read_all().boxed(), poster.post_all(messages).boxed()] {
            spawn(stop.clone().run_until_cancelled_owned(task).map(drop));
        }
        Ok(Self {
            incoming,
            queue,
            handshake,
            tap,
            _stop: stop.drop_guard(),
        })
    }
}

impl Reader {
    /// Passes on what arrives, until the stream has ended and cannot be opened again.
    async fn read_all(mut self) {
        loop {
            let next = self.next().await;
            let is_end = next.is_err();
            // An error means that the connection is gone.
            if self.incoming.send(next).await.is_err() || is_end {
                return;
            }
        }
    }

    async fn next(&mut self) -> Incoming {
        loop {
            match next_event(&mut self.stream).await {
                Ok(event) => {
                    if let Some(milliseconds) = event.retry {
                        let delay = Duration::from_millis(milliseconds);
                        self.delay = delay.min(MAX_RECONNECTION_DELAY);
                    }
                    if let Some(message) = parse(self.client.tap(), &event) {
                        return Ok(message);
                    }
                }
                Err(error) if error.kind() == ErrorKind::Connectivity => {
                    self.open_again(error).await?;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Opens the stream after a pause, with a new session. Requests that wait for an answer fail.
    async fn open_again(&mut self, why: Error) -> Result<(), Error> {
        let Some((initialize, initialized)) = self.handshake.messages() else {
            return Err(why);
        };
        self.endpoint.send_replace(None);
        self.client.tap().lost(&why);
        let mut attempts = 0;
        let mut pause = self.delay;
        loop {
            sleep(pause).await;
            attempts += 1;
            let opening = self.open_once(&initialize, &initialized);
            let opened = timeout(REOPEN_TIMEOUT, opening).await.unwrap_or_else(|_| {
                let message = format!("no session within {REOPEN_TIMEOUT:?}");
                Err(Error::new(ErrorKind::RequestTimeout, message))
            });
            let error = match opened {
                Ok(()) => return Ok(()),
                Err(error) => error,
            };
            tracing::debug!(attempts, %error, "cannot open the event stream again yet");
            if !self.retry.goes_on(attempts) {
                let more = format!(", and cannot be opened again: {}", error.message());
                return Err(why.with_message(&more));
            }
            pause = self.delay.max(self.retry.pause());
        }
    }

    async fn open_once(
        &mut self,
        initialize: &ClientJsonRpcMessage,
        initialized: &ClientJsonRpcMessage,
    ) -> Result<(), Error> {
        let (mut stream, url) = open_stream(&self.client, &self.url).await?;
        let tap = self.client.tap();
        tap.sent(initialize);
        {
            // The server may hold the POST until it has answered.
            let posting = post(&self.client, &url, initialize);
            let answered = answered(&mut stream, tap);
            tokio::pin!(posting, answered);
            tokio::select! {
                posted = &mut posting => {
                    posted?;
                    answered.await?;
                }
                answer = &mut answered => answer?,
            }
        }
        post(&self.client, &url, initialized).await?;
        tap.accepted(initialized);
        self.stream = stream;
        self.endpoint.send_replace(Some(url));
        Ok(())
    }
}

/// Waits for the answer to the handshake, before which nothing else matters.
async fn answered(stream: &mut EventStream, tap: &Tap) -> Result<(), Error> {
    loop {
        match parse(tap, &next_event(stream).await?) {
            Some(ServerJsonRpcMessage::Response(_)) => return Ok(()),
            Some(ServerJsonRpcMessage::Error(error)) => {
                return Err(Error::from_rmcp(&error.error).during("initialize"));
            }
            _ => {}
        }
    }
}

async fn next_event(stream: &mut EventStream) -> Result<Sse, Error> {
    let Some(event) = stream.next().await else {
        let message = "the server has closed the event stream";
        return Err(Error::new(ErrorKind::Connectivity, message));
    };
    event.map_err(ended)
}

/// The message in an event, unless the tap keeps it.
fn parse(tap: &Tap, event: &Sse) -> Option<ServerJsonRpcMessage> {
    let data = event.data.as_deref()?;
    if !is_message(event) {
        return None;
    }
    super::read_message(tap, data.as_bytes())
}

/// Opens an event stream, and waits for the URL that messages go to.
async fn open_stream(client: &HttpClient, url: &Url) -> Result<(EventStream, Url), Error> {
    let request = client.request(Method::GET, url.as_str());
    let response = client.send(request).await?;
    let kind = content_type(&response).unwrap_or_default();
    if !kind.starts_with(EVENT_STREAM) {
        let message = format!("expected `{EVENT_STREAM}`, found `{kind}`");
        return Err(Error::new(ErrorKind::Protocol, message)
            .with_help("check the path of the URL, which is often `/sse`"));
    }
    let mut stream = events(response, client.limit());
    let endpoint = endpoint(&mut stream, url).await?;
    Ok((stream, endpoint))
}

/// The URL in the first event.
async fn endpoint(stream: &mut EventStream, url: &Url) -> Result<Url, Error> {
    while let Some(event) = stream.next().await {
        let event = event.map_err(ended)?;
        if !is_endpoint(&event) {
            continue;
        }
        let data = event.data.unwrap_or_default();
        let endpoint = url.join(data.trim()).map_err(|source| {
            let message = "the server names an invalid URL for messages";
            Error::new(ErrorKind::Protocol, message).with_source(source)
        })?;
        if endpoint.origin() != url.origin() {
            let endpoint = bare_url(&endpoint);
            let message = format!("the server wants messages at another origin, `{endpoint}`");
            return Err(Error::new(ErrorKind::Protocol, message)
                .with_help("use the host and port that the server names in the URL"));
        }
        return Ok(endpoint);
    }
    let message = "the event stream ended before its event `endpoint`";
    Err(Error::new(ErrorKind::Protocol, message))
}

impl Poster {
    /// Posts each message in a task of its own, because servers may hold the response to a POST until the answer was sent.
    /// Only what comes after `notifications/initialized` waits for that one.
    async fn post_all(self, mut messages: mpsc::UnboundedReceiver<Outgoing>) {
        let mut posts = JoinSet::new();
        while let Some((message, posted)) = messages.recv().await {
            let comes_first = is_initialized(&message);
            let posting = self.clone().post_or_report(message, posted);
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
    async fn post_or_report(
        mut self,
        message: ClientJsonRpcMessage,
        posted: Option<oneshot::Sender<()>>,
    ) {
        let url = match self.endpoint.wait_for(Option::is_some).await {
            Ok(url) => url.clone().expect("this was waited for"),
            // The connection is gone.
            Err(_) => return,
        };
        let result = post(&self.client, &url, &message).await;
        drop(posted);
        let Err(error) = result else { return };
        tracing::debug!(%error, "message not sent");
        let waiter = self.client.tap().failed(&message, error.clone());
        if let Some(unanswered) = unanswered(waiter, request_id(&message), error) {
            // An error means that the connection is gone.
            let _ = self.incoming.send(unanswered).await;
        }
    }
}

async fn post(client: &HttpClient, url: &Url, message: &ClientJsonRpcMessage) -> Result<(), Error> {
    let body = super::to_json(message).map_err(|source| {
        let message = "the message cannot be written as JSON";
        Error::new(ErrorKind::ParseError, message).with_source(source)
    })?;
    let request = client
        .post_request(url.as_str(), message)
        .header(CONTENT_TYPE, JSON)
        .body(body);
    client.send(request).await?;
    Ok(())
}

fn ended(error: EventError) -> Error {
    match error {
        EventError::Limit(error) => error,
        EventError::Stream(error) => {
            let message = format!("the event stream broke off: {error}");
            Error::new(ErrorKind::Connectivity, message)
        }
    }
}

impl Transport<RoleClient> for SseSession {
    type Error = io::Error;

    /// Queues a message. Only one that cancels a request is waited for, because the session may be closed next.
    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        self.tap.sent(&message);
        self.handshake.keep(&message);
        let (sender, posted) = oneshot::channel();
        let is_cancelled = cancelled_id(&message).is_some();
        let queued = self.queue.send((message, is_cancelled.then_some(sender)));
        if queued.is_err() {
            return Either::Left(std::future::ready(Err(io::ErrorKind::BrokenPipe.into())));
        }
        // Without a sender, this is ready at once.
        Either::Right(posted.map(|_| Ok(())))
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        let next = self.incoming.recv().await?;
        next.map_err(|error| self.tap.ended(error)).ok()
    }

    async fn close(&mut self) -> io::Result<()> {
        Ok(())
    }
}
