//! Streamable HTTP: rmcp's transport, on an HTTP client that passes responses through the tap.

mod beginning;
mod body;
mod cause;
mod events;
mod lost;
mod response;
mod streamable;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, Once};
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use mcp_servlet_common::lock;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, RequestBuilder, Response, StatusCode, redirect};
use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorData, RequestId, ServerJsonRpcMessage,
};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, SseError, StreamableHttpClient, StreamableHttpError,
    StreamableHttpPostResponse,
};
use sse_stream::Sse;
use tokio::time::timeout;

use super::lines::response_id;
use crate::bearer::{Bearer, Secret};
use crate::error::{Error, ErrorKind};
use crate::incoming;
use crate::message::{is_initialized, own_headers, probe_id, request_id};
use crate::tap::{Origin, Received, Tap};
use crate::target::{Http, TargetError};

pub(super) use self::body::body;
pub(crate) use self::body::too_large;
pub(super) use self::events::{EventError, EventStream, events, is_endpoint, is_message};
pub(super) use self::response::not_json;
use self::response::{SentCredentials, refused};
pub(crate) use self::response::{bearer_challenge, not_sent};
pub(crate) use self::streamable::Streamable;

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");
pub(super) const JSON: &str = "application/json";
pub(super) const EVENT_STREAM: &str = "text/event-stream";
/// How many redirects are followed.
const MAX_REDIRECTS: usize = 10;

/// How many idle connections are kept for each host.
const MAX_IDLE_CONNECTIONS: usize = 32;
/// How long an idle connection is kept. Common servers close one after five seconds or more. A server that closes a
/// connection just when a request is sent on it makes that request fail.
const IDLE_CONNECTION_TIMEOUT: Duration = Duration::from_secs(4);
/// When a connection of HTTP/2 with open requests is checked. All requests share it, so that one that is dead without
/// notice would make all of them wait.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(20);
const KEEP_ALIVE_TIMEOUT: Duration = Duration::from_secs(10);

type Failure = StreamableHttpError<Reported>;

/// An error that the tap already has, unless nothing waits in it for the response.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub(crate) struct Reported(pub(crate) Error);

/// The connector for all attempts and requests, which keeps connections. For `https`, it offers HTTP/2, and making it is slow,
/// because it reads the certificates of the system.
pub(crate) fn connector(target: &Http, connect: Duration) -> Result<reqwest::Client, TargetError> {
    use_ring();
    let builder = reqwest::Client::builder()
        .redirect(redirect_policy())
        .connect_timeout(connect)
        .pool_max_idle_per_host(MAX_IDLE_CONNECTIONS)
        .pool_idle_timeout(IDLE_CONNECTION_TIMEOUT)
        .http2_keep_alive_interval(KEEP_ALIVE_INTERVAL)
        .http2_keep_alive_timeout(KEEP_ALIVE_TIMEOUT);
    let builder = match target.url().scheme() {
        // Redirects keep the scheme, so certificates are not needed.
        "http" => builder.tls_certs_only([]),
        _ => target.tls_options().apply(&target.label(), builder)?,
    };
    builder.build().map_err(|error| TargetError::Tls {
        reason: cause::cause(&error),
    })
}

/// An HTTP client with the headers of a target.
#[derive(Clone, Debug)]
pub(crate) struct HttpClient {
    http: reqwest::Client,
    headers: HeaderMap,
    /// What messages call the server.
    label: String,
    /// What gives requests their tokens.
    bearer: Option<Arc<dyn Bearer>>,
    /// The most bytes of a message.
    limit: usize,
    tap: Arc<Tap>,
    /// How long the server may take to answer `server/discover`, before the handshake is tried.
    probe_timeout: Option<Duration>,
    /// The requests that rmcp sends again in a new session.
    sent_again: Arc<Mutex<HashSet<RequestId>>>,
}

impl HttpClient {
    pub(crate) fn new(http: reqwest::Client, target: &Http, limit: usize, tap: Arc<Tap>) -> Self {
        Self {
            http,
            headers: target.headers().clone(),
            label: target.label(),
            bearer: None,
            limit,
            tap,
            probe_timeout: None,
            sent_again: Arc::default(),
        }
    }

    /// Whether rmcp may send a message again, in a new session. It may do so once.
    fn may_send_again(&self, message: &ClientJsonRpcMessage) -> bool {
        request_id(message).is_none_or(|id| lock(&self.sent_again).insert(id.clone()))
    }

    /// Notes that rmcp does not send a message again.
    fn done_with(&self, message: &ClientJsonRpcMessage) {
        if let Some(id) = request_id(message) {
            lock(&self.sent_again).remove(id);
        }
    }

    pub(crate) fn with_bearer(mut self, bearer: Option<Arc<dyn Bearer>>) -> Self {
        self.bearer = bearer;
        self
    }

    pub(crate) fn with_probe_timeout(mut self, timeout: Option<Duration>) -> Self {
        self.probe_timeout = timeout;
        self
    }

    /// A request with the headers of the target.
    pub(super) fn request(&self, method: Method, url: &str) -> RequestBuilder {
        let accept = HeaderValue::from_static("application/json, text/event-stream");
        let request = self.http.request(method, url);
        request.headers(self.headers.clone()).header(ACCEPT, accept)
    }

    /// A request for a message, with the headers of both.
    pub(super) fn post_request(&self, url: &str, message: &ClientJsonRpcMessage) -> RequestBuilder {
        let request = self.request(Method::POST, url);
        match own_headers(message) {
            Some(headers) => request.headers(headers.clone()),
            None => request,
        }
    }

    pub(super) fn tap(&self) -> &Arc<Tap> {
        &self.tap
    }

    pub(super) fn limit(&self) -> usize {
        self.limit
    }

    /// Sends a message, and returns the response unless it is an error.
    pub(super) async fn send(&self, request: RequestBuilder) -> Result<Response, Error> {
        let (response, has_token) = self.send_with_token(request).await?;
        if response.status().is_success() {
            return Ok(response);
        }
        let of_login = has_token.then_some(SentCredentials::Token);
        let sent = of_login.or_else(|| SentCredentials::in_headers(&self.headers));
        Err(refused(response, sent, &self.label).await)
    }

    /// Sends a message with the token of a login, if there is one. If the server refuses the token, the message is sent once more with
    /// a new one. Returns whether the message had a token, too.
    async fn send_with_token(&self, request: RequestBuilder) -> Result<(Response, bool), Error> {
        let Some(bearer) = &self.bearer else {
            return Ok((send(request, None).await?, false));
        };
        let again = request.try_clone();
        let token = bearer.token(None).await?;
        let response = send(request, token.as_ref()).await?;
        let has_token = token.is_some();
        let response = match (again, token) {
            (Some(again), Some(token)) if response.status() == StatusCode::UNAUTHORIZED => {
                match bearer.token(Some(&token)).await? {
                    Some(token) => send(again, Some(&token)).await?,
                    None => response,
                }
            }
            _ => response,
        };
        Ok((response, has_token))
    }

    /// Posts a message. `has_session` says whether it belongs to a session that the server could have lost.
    async fn post(
        &self,
        request: RequestBuilder,
        message: &ClientJsonRpcMessage,
        has_session: bool,
    ) -> Result<StreamableHttpPostResponse, Error> {
        let response = self.send(request).await?;
        let session = session_id(&response);
        let id = request_id(message).cloned();
        if matches!(
            response.status(),
            StatusCode::ACCEPTED | StatusCode::NO_CONTENT
        ) {
            return if opens_session(message) {
                Err(response::nothing())
            } else {
                Ok(StreamableHttpPostResponse::Accepted)
            };
        }
        match content_type(&response) {
            // Only requests have a response. Some servers hold an event stream open for any message.
            Some(kind) if kind.starts_with(EVENT_STREAM) && id.is_none() => {
                Ok(StreamableHttpPostResponse::Accepted)
            }
            Some(kind) if kind.starts_with(EVENT_STREAM) => {
                let events = events(response, self.limit);
                let events = if opens_session(message) {
                    beginning::of_opening(events).await?
                } else if has_session {
                    beginning::of_session(events).await?
                } else {
                    events
                };
                let events = self.tapped(events, id);
                Ok(StreamableHttpPostResponse::Sse(events, session))
            }
            Some(kind) if kind.starts_with(JSON) => {
                let body = body(response, self.limit).await?;
                if has_session && let Some(error) = lost::error_of(&body) {
                    return Err(error);
                }
                let Some(id) = id else {
                    // Notifications have no response.
                    return Ok(StreamableHttpPostResponse::Accepted);
                };
                if let Some(messages) = incoming::batch(&body) {
                    let events = self.tapped(events::of_batch(messages), Some(id));
                    return Ok(StreamableHttpPostResponse::Sse(events, session));
                }
                let received = self.tap.received(&body, Origin::Body(&id));
                let is_nothing = matches!(received, Received::Nothing);
                match received.message() {
                    Some(message) => Ok(StreamableHttpPostResponse::Json(message, session)),
                    // rmcp has given the request up.
                    None if is_nothing => Ok(StreamableHttpPostResponse::Accepted),
                    None => Err(response::no_message(&body)),
                }
            }
            _ if id.is_none() => Ok(StreamableHttpPostResponse::Accepted),
            kind => Err(response::wrong_type(kind.as_deref())),
        }
    }

    /// The events of a response. A message that is too large ends the request that it answers.
    fn tapped(
        &self,
        events: EventStream,
        id: Option<RequestId>,
    ) -> BoxStream<'static, Result<Sse, SseError>> {
        let tap = Arc::clone(&self.tap);
        let events = events.map(move |event| match event {
            Ok(mut event) => {
                let data = event.data.take().filter(|_| is_message(&event));
                event.data = data.and_then(|data| read_event(&tap, &data, id.as_ref()));
                Ok(event)
            }
            Err(EventError::Limit(error)) => {
                if let Some(id) = &id {
                    tap.stop_reading(id, error.clone());
                }
                Err(SseError::Body(Box::new(error)))
            }
            Err(EventError::Stream(error)) => Err(error),
        });
        events.boxed()
    }

    /// Tells the tap why a message has failed.
    fn report(&self, message: &ClientJsonRpcMessage, error: Error) -> Failure {
        self.done_with(message);
        self.tap.failed(message, error.clone());
        if is_initialized(message) {
            self.tap.not_accepted(error.clone());
        }
        StreamableHttpError::Client(Reported(error))
    }
}

impl StreamableHttpClient for HttpClient {
    type Error = Reported;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        self.tap.sent(&message);
        let request = self.post_request(&uri, &message);
        let request = with_session(request, session.as_deref(), token, headers);
        let body = super::to_json(&message)?;
        let request = request.header(CONTENT_TYPE, JSON).body(body);
        let posting = self.post(request, &message, session.is_some());
        let posted = match self.probe_timeout.filter(|_| probe_id(&message).is_some()) {
            None => posting.await,
            Some(limit) => timeout(limit, posting).await.unwrap_or_else(|_| {
                self.tap.probe_unanswered();
                Err(response::no_answer(limit))
            }),
        };
        match posted {
            Ok(response) => {
                self.tap.accepted(&message);
                self.done_with(&message);
                Ok(response)
            }
            Err(error)
                if session.is_some()
                    && (lost::is_status(&error)
                        || lost::is_lost(&error) && self.may_send_again(&message)) =>
            {
                tracing::debug!(%error, "the server has lost the session");
                Err(StreamableHttpError::SessionExpired)
            }
            Err(error) => match legacy_answer(&message, &error) {
                Some(answer) => Ok(StreamableHttpPostResponse::Json(answer, None)),
                None => Err(self.report(&message, error)),
            },
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Failure> {
        let request = self.request(Method::DELETE, &uri);
        let request = with_session(request, Some(&session), token, headers);
        match self.send(request).await {
            Ok(_) => Ok(()),
            Err(error) if error.http_status() == Some(405) => Ok(()),
            Err(error) => {
                tracing::debug!(%error, "cannot end the session");
                Err(StreamableHttpError::Client(Reported(error)))
            }
        }
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failure> {
        let request = self.request(Method::GET, &uri);
        let mut request = with_session(request, session.as_deref(), token, headers);
        let is_common = last_event.is_none();
        if let Some(last_event) = last_event {
            request = request.header(LAST_EVENT, last_event);
        }
        let response = match self.send(request).await {
            Ok(response) => response,
            Err(error) => {
                tracing::debug!(%error, "cannot open an event stream");
                return Err(match error.http_status() {
                    Some(405) => StreamableHttpError::ServerDoesNotSupportSse,
                    Some(401) => {
                        StreamableHttpError::AuthRequired(AuthRequiredError::new(String::new()))
                    }
                    _ => StreamableHttpError::Client(Reported(error)),
                });
            }
        };
        match content_type(&response) {
            Some(kind) if kind.starts_with(EVENT_STREAM) => {
                if is_common {
                    self.tap.common_stream_opened();
                }
                Ok(self.tapped(events(response, self.limit), None))
            }
            kind => Err(StreamableHttpError::UnexpectedContentType(kind)),
        }
    }
}

/// What rmcp shall read of the data of an event, in the stream that answers this request.
fn read_event(tap: &Tap, data: &str, id: Option<&RequestId>) -> Option<String> {
    let origin = id.map_or(Origin::Common, Origin::Stream);
    let received = tap.received(data.as_bytes(), origin);
    if let (Received::NoMessage, Some(id)) = (&received, id)
        && let Some(error) = not_json(data.as_bytes())
    {
        if response_id(data.as_bytes()).as_ref() == Some(id) {
            tap.stop_reading(id, error);
        } else {
            tap.note_instead(id, error);
        }
    }
    received.into_text()
}

async fn send(request: RequestBuilder, token: Option<&Secret>) -> Result<Response, Error> {
    let request = match token {
        // The header is marked as sensitive.
        Some(token) => request.bearer_auth(token.expose()),
        None => request,
    };
    request.send().await.map_err(|error| not_sent(&error))
}

/// Adds what rmcp adds to a request.
fn with_session(
    request: RequestBuilder,
    session: Option<&str>,
    token: Option<String>,
    headers: HashMap<HeaderName, HeaderValue>,
) -> RequestBuilder {
    let mut request = request.headers(headers.into_iter().collect());
    if let Some(session) = session {
        request = request.header(SESSION, session);
    }
    match token {
        Some(token) => request.bearer_auth(token),
        None => request,
    }
}

/// The id of the session that a response opens or belongs to.
fn session_id(response: &Response) -> Option<String> {
    let id = response.headers().get(SESSION)?.to_str().ok()?;
    Some(id.to_owned())
}

/// Whether a message asks whether there is a server. Its answer must come at once.
fn opens_session(message: &ClientJsonRpcMessage) -> bool {
    let ClientJsonRpcMessage::Request(request) = message else {
        return false;
    };
    matches!(
        request.request,
        ClientRequest::DiscoverRequest(_) | ClientRequest::InitializeRequest(_)
    )
}

/// What a server that refuses `server/discover` means: it is older than 2026-07-28. Such servers answer with any status of
/// 4xx, with 500 or 501, or with something that is not a message, and cannot name the request.
fn legacy_answer(message: &ClientJsonRpcMessage, error: &Error) -> Option<ServerJsonRpcMessage> {
    let id = probe_id(message)?;
    let is_refusal = match error.http_status() {
        Some(status) => matches!(status, 400..=501),
        None => matches!(error.kind(), ErrorKind::ParseError | ErrorKind::Protocol),
    };
    let is_legacy =
        is_refusal && error.kind() != ErrorKind::Authentication && !error.is_of_http_sse();
    is_legacy.then(|| {
        let code = error.code().and_then(|code| i32::try_from(code).ok());
        let code = rmcp::model::ErrorCode(code.unwrap_or(-32600));
        let data = ErrorData::new(code, error.message().to_owned(), error.data().cloned());
        ServerJsonRpcMessage::error(data, Some(id.clone()))
    })
}

pub(super) fn content_type(response: &Response) -> Option<String> {
    let kind = response.headers().get(CONTENT_TYPE)?.to_str().ok()?;
    Some(kind.to_ascii_lowercase())
}

/// Follows redirects that keep method, body and origin. Any other would lose the message, or give credentials away.
fn redirect_policy() -> redirect::Policy {
    redirect::Policy::custom(|attempt| {
        let keeps_body = matches!(
            attempt.status(),
            StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT
        );
        let first = attempt.previous().first();
        let keeps_origin = first.is_some_and(|url| url.origin() == attempt.url().origin());
        if keeps_body && keeps_origin && attempt.previous().len() <= MAX_REDIRECTS {
            attempt.follow()
        } else {
            attempt.stop()
        }
    })
}

/// Chooses the cryptography of TLS, unless the program has chosen.
pub(crate) fn use_ring() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // An error means that the program has chosen.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
}
