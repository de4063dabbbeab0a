//! HTTP+SSE, the transport of MCP 2024-11-05: a GET request opens a stream of events, whose first
//! one names the URL for messages. The client posts its messages there; the answers are events.
//!
//! <https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse>

mod sessions;
mod transport;

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{
    body::Body,
    extract::Request,
    http::{Method, StatusCode, Uri, header, request::Parts},
    response::{IntoResponse as _, Response},
};
use futures_util::stream::unfold;
use rmcp::ServiceExt as _;
use tokio::sync::mpsc;
use tokio_util::sync::{CancellationToken, DropGuard};
use url::form_urlencoded;

use super::{
    HttpOptions,
    admission::denied,
    body,
    headers::{Accepts, is_json},
    is_at,
    peer::Refusals,
    stopping, too_many_sessions,
};
use crate::{
    access,
    handler::service,
    hooks::{Newcomer, SessionRefusal},
    message::{self, Kind, Message, Received},
    records::SessionRecord,
    server::{Server, metrics::OneOf},
    session_id::SessionId,
};
use sessions::{Registered, SseSession, SseSessions};
use transport::{Connection, Events};

/// How often an idle stream gets a comment, so that proxies keep it open and a lost client is noticed.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// The parameter with the session in the URL for messages.
const SESSION: &str = "sessionId";

/// Answers the requests to one endpoint.
pub(super) struct Sse {
    server: Server,
    options: HttpOptions,
    /// The path for messages.
    messages: String,
    sessions: Arc<SseSessions>,
    refusals: Refusals,
    end: CancellationToken,
}

impl Sse {
    /// `end` ends all sessions.
    pub(super) fn new(
        server: &Server,
        options: &HttpOptions,
        messages: &str,
        end: CancellationToken,
    ) -> Self {
        Self {
            server: server.clone(),
            options: options.clone(),
            messages: messages.to_owned(),
            sessions: Arc::default(),
            refusals: Refusals::new(&server.0.process.metrics.refused),
            end,
        }
    }

    /// Ends idle sessions. Never returns.
    pub(super) async fn end_idle(&self) {
        self.sessions.end_idle(self.options.session_idle).await;
    }

    pub(super) async fn answer(&self, request: Request) -> Response {
        let is_stream = is_at(request.uri().path(), &self.options.path);
        match *request.method() {
            Method::GET if is_stream => self.open(&request),
            Method::POST if !is_stream => self.post(request).await,
            _ => {
                let allow = if is_stream { "GET" } else { "POST" };
                (StatusCode::METHOD_NOT_ALLOWED, [(header::ALLOW, allow)]).into_response()
            }
        }
    }

    /// Opens a session, which lasts as long as the stream of events.
    fn open(&self, request: &Request) -> Response {
        if !Accepts::of(request.headers()).events {
            let text = "expected `Accept: text/event-stream`";
            return (StatusCode::NOT_ACCEPTABLE, text).into_response();
        }
        if self.server.is_stopping() {
            return stopping();
        }
        let end = self.end.child_token();
        let id = SessionId::random();
        let (queue, messages) = mpsc::channel(transport::MAX_SESSION_QUEUE);
        let client = (
            request.extensions().get().copied(),
            access::owner(request.extensions()),
        );
        let session = SseSession::new(queue, end.clone(), client);
        let most = self.options.sessions;
        let Some(registered) = self.sessions.add(&id, session, most, &self.refusals) else {
            return too_many_sessions();
        };
        let url = format!("{}?{SESSION}={}", self.messages, id.as_str());
        let nursery = &self.server.0.process.nursery;
        let (connection, events) = Connection::new(messages, end.clone(), nursery.clone());
        let opening = self.options.head_time.unwrap_or(Duration::MAX);
        let counted = (self.server.0.process.metrics).session(self.server.name());
        let opened = Opened {
            _recorded: SessionRecord::open(&self.server, id.as_str(), Some(request.extensions())),
            id: id.clone(),
            _counted: counted,
            connection,
            registered,
        };
        nursery.spawn(serve(self.server.clone(), opened, opening));
        let mut response = stream(&url, events, end.drop_guard());
        response.extensions_mut().insert(id);
        response
    }

    /// Decides whether a message may begin a session.
    async fn admit(&self, parts: &Parts, message: &Message) -> Result<(), Box<SessionRefusal>> {
        let hooks = self.server.0.access.hooks();
        let begins = matches!(message.kind(), Kind::Initialize(_));
        if hooks.are_none() || !(begins || message.names_version()) {
            return Ok(());
        }
        let id = session(&parts.uri).unwrap_or_default();
        let newcomer = Newcomer::of(parts, message, &id);
        hooks.reject(&newcomer)?;
        if begins {
            hooks.ask(&newcomer).await
        } else {
            hooks.ask_once(&newcomer).await
        }
    }

    /// Takes a message for a session.
    async fn post(&self, request: Request) -> Response {
        let (parts, body) = request.into_parts();
        if !is_json(&parts.headers) {
            let text = "expected `Content-Type: application/json`";
            return (StatusCode::UNSUPPORTED_MEDIA_TYPE, text).into_response();
        }
        let message = match body::read((&parts.headers, body), &self.options, false).await {
            Ok(Received::One(message)) => message,
            Ok(Received::Batch(_)) => return StatusCode::BAD_REQUEST.into_response(),
            Err(refusal) => return refusal,
        };
        if message.is_request() && self.server.is_stopping() {
            return stopping();
        }
        let owner = access::owner(&parts.extensions);
        let session = session(&parts.uri);
        let Some(session) = session.and_then(|id| self.sessions.find(&id, owner)) else {
            return (StatusCode::NOT_FOUND, "unknown session").into_response();
        };
        if let Err(refusal) = self.admit(&parts, &message).await {
            if let Kind::Initialize(_) = message.kind() {
                session.end();
            }
            return refusal.response(message.id());
        }
        if let Err(refusal) = access::permit_message(&parts.extensions, &self.server, &message) {
            return denied(&refusal, &message);
        }
        if *message.kind() == Kind::Request {
            session.requested();
        }
        let (id, answered) = (message.id(), message.answered());
        match message::decode(message.into_bytes()) {
            Err(refusal) => return body::refused(&refusal.with_id(id)),
            Ok(None) => {}
            Ok(Some(mut message)) => {
                // Servlets may read some of its headers.
                message.insert_extension(parts);
                message.insert_extension(session.in_use());
                if !session.send(message).await {
                    return (StatusCode::NOT_FOUND, "unknown session").into_response();
                }
            }
        }
        let mut response = (StatusCode::ACCEPTED, "Accepted").into_response();
        response.extensions_mut().insert(answered);
        response
    }
}

/// The id of the session that the URL of a request names.
pub(super) fn session(uri: &Uri) -> Option<String> {
    let query = uri.query().unwrap_or_default();
    let mut pairs = form_urlencoded::parse(query.as_bytes());
    let (_, id) = pairs.find(|(name, _)| name == SESSION)?;
    Some(id.into_owned())
}

/// A session whose stream is open.
struct Opened {
    id: SessionId,
    connection: Connection,
    registered: Registered,
    _counted: OneOf,
    _recorded: Option<SessionRecord>,
}

/// Answers the messages of one session until it ends. The client has to begin it within `limit`.
async fn serve(server: Server, opened: Opened, limit: Duration) {
    let Opened {
        id,
        connection,
        registered,
        _counted,
        _recorded,
    } = opened;
    let end = registered.end();
    // Boxed, because the future is large.
    let opening = Box::pin(service(&server, id).serve(connection));
    let opening = tokio::time::timeout(limit, opening);
    let running = match end.run_until_cancelled(opening).await {
        Some(Ok(Ok(running))) => running,
        Some(Ok(Err(error))) => return tracing::debug!(%error, "the session did not begin"),
        Some(Err(_)) => {
            return tracing::debug!("session ended, because its client sent no request");
        }
        None => return,
    };
    let cancel = running.cancellation_token();
    let mut waiting = std::pin::pin!(running.waiting());
    let ended = tokio::select! {
        ended = &mut waiting => ended,
        () = end.cancelled() => {
            cancel.cancel();
            waiting.await
        }
    };
    if let Err(error) = ended {
        tracing::error!(%error, "a session stopped unexpectedly");
    }
}

/// The response with the events of a session. `session` ends it when the client has disconnected.
fn stream(url: &str, events: Events, session: DropGuard) -> Response {
    let first = Some(format!("event: endpoint\ndata: {url}\n\n"));
    let body = unfold(
        (first, events, session),
        |(first, mut events, session)| async {
            let event = match first {
                Some(first) => first,
                None => match tokio::time::timeout(KEEP_ALIVE, events.recv()).await {
                    Ok(event) => event?,
                    Err(_) => ":\n\n".to_owned(),
                },
            };
            Some((Ok::<_, Infallible>(event), (None, events, session)))
        },
    );
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-store, no-transform"),
        // Stops nginx from collecting events before it forwards them.
        (header::HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    (headers, Body::from_stream(body)).into_response()
}
