//! Streamable HTTP, for both eras.

use std::sync::Arc;

use axum::{
    body::{Body, Bytes},
    extract::Request,
    http::{Extensions, HeaderMap, HeaderValue, Method, StatusCode, header, request::Parts},
    response::{IntoResponse as _, Response},
};
use futures_util::future::join_all;
use http_body_util::{BodyExt as _, Collected};
use mcp_servlet_access::Owner;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::Value;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{
    HttpOptions, SessionStorage,
    admission::denied,
    body,
    headers::{self, Accepts},
    options::{HttpTransport, ResponseForm},
    peer::{Peer, Refusals, Refused},
    quota,
    sessions::{
        Found, Handshakes, InUse, Manager, Passed, Sessions, TooLong, Turn, in_turn, passing,
    },
    single, stopping, store_away, too_many_sessions,
};
use crate::{
    access,
    handler::{Handler, tasks::Tasks},
    hooks::{CurrentHooks, Newcomer, SessionRefusal},
    message::{self, BATCHES, Kind, Message, Received, Refusal},
    panics::joined,
    server::{Server, active::RequestEnd},
    session_id::SessionId,
    store::Away,
};

/// Answers the requests to one endpoint.
pub(super) struct Streamable {
    server: Server,
    mcp: StreamableHttpService<Handler, Manager>,
    sessions: Arc<Sessions>,
    options: HttpOptions,
    refusals: Refusals,
}

/// Adds what rmcp's service lacks: a limit for sessions, and errors that explain an invalid body.
impl Streamable {
    /// `end` closes all streams.
    pub(super) fn new(server: &Server, options: &HttpOptions, end: CancellationToken) -> Self {
        let sessions = Sessions::new(server, &options.session_storage, options.session_idle);
        let has_sessions = options.session_storage != SessionStorage::None;
        let make = server.clone();
        // Requests are stateless: any of them may ask for a task that another one started.
        let tasks = Tasks::new(server.0.options.tasks.max);
        let handler = move || {
            let handler = Handler::new(make.clone(), tasks.clone(), None);
            Ok(handler.has_sessions(has_sessions))
        };
        // The names of the server, and the size of bodies, are checked before rmcp gets a request.
        let mut config = StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .with_max_request_body_bytes(usize::MAX)
            .with_json_response(configured(options) == ResponseForm::Json)
            .with_legacy_session_mode(has_sessions)
            .with_cancellation_token(end);
        config.session_store = Some(Arc::new(Handshakes));
        let mcp = StreamableHttpService::new(handler, Arc::clone(sessions.manager()), config);
        Self {
            server: server.clone(),
            mcp,
            sessions,
            options: options.clone(),
            refusals: Refusals::new(&server.0.process.metrics.refused),
        }
    }

    /// Ends idle sessions. Never returns.
    pub(super) async fn end_idle(&self) {
        self.sessions.end_idle(self.options.session_idle).await;
    }

    /// Closes a session whose client does not get to know it, and that other processes may know.
    pub(super) async fn close(&self, id: &str) {
        self.discard(id).await;
        // No client has this id.
        let _ = self.sessions.forget(id).await;
    }

    /// Closes a session that only this process knows.
    async fn discard(&self, id: &str) {
        self.sessions.close(id).await;
        // A sweep may have found it before.
        self.sessions.end(id);
    }

    pub(super) async fn answer(&self, mut request: Request) -> Response {
        let _resumed = match self.find_session(&mut request).await {
            Ok(resumed) => resumed,
            Err(refusal) => return refusal,
        };
        let accepts = Accepts::of(request.headers());
        if accepts.events || *request.method() == Method::POST {
            headers::accept_both(request.headers_mut());
        }
        match *request.method() {
            Method::POST => self.post(request, accepts).await,
            Method::DELETE => self.end(request).await,
            // After a lost connection, a client resumes its stream with a GET request.
            _ => {
                let in_use = self.enter(request.headers());
                body::with_raw_results(self.pass(request).await, in_use)
            }
        }
    }

    /// Finds the session that a request names. Keeps one that another process has opened in use until the guard is dropped. If there
    /// is no room for it, returns what the client gets instead.
    async fn find_session(&self, request: &mut Request) -> Result<Option<InUse>, Response> {
        // Requests since 2026-07-28 belong to no session, and without sessions none of them does.
        if !self.has_sessions() || headers::name_modern_version(request.headers()) {
            request.headers_mut().remove(SessionId::HEADER);
        }
        let Some(id) = session(request.headers()).map(str::to_owned) else {
            return Ok(None);
        };
        let owner = access::owner(request.extensions());
        match self
            .sessions
            .find(&id, owner)
            .await
            .map_err(|Away| store_away())?
        {
            Found::Here => Ok(None),
            Found::Elsewhere(handshake) => {
                if *request.method() != Method::DELETE {
                    self.admit(request.extensions().get().copied()).await?;
                }
                let extensions = request.extensions_mut();
                let resumed = self.sessions.resume(&id, extensions, &handshake);
                extensions.insert(Passed::Continues(handshake));
                Ok(Some(resumed))
            }
            Found::Nowhere => {
                // For everyone but its owner, a session is one that does not exist.
                name_no_session(request.headers_mut());
                Ok(None)
            }
        }
    }

    /// Keeps the session of a request in use until the guard is dropped.
    fn enter(&self, headers: &HeaderMap) -> Option<InUse> {
        self.sessions.enter(session(headers)?)
    }

    async fn post(&self, request: Request, accepts: Accepts) -> Response {
        let active = self.server.0.process.active.begin();
        let (parts, body) = request.into_parts();
        let Some(form) = Form::of(accepts, &self.options) else {
            let text = "expected `Accept: application/json, text/event-stream`\n";
            return (StatusCode::NOT_ACCEPTABLE, text).into_response();
        };
        let in_use = self.enter(&parts.headers);
        let takes_batches = in_use.as_ref().is_some_and(InUse::takes_batches);
        match body::read((&parts.headers, body), &self.options, takes_batches).await {
            Ok(Received::One(message)) => {
                let answered = message.answered();
                let mut response = self.message(parts, message, form, active).await;
                response.extensions_mut().insert(answered);
                response
            }
            Ok(Received::Batch(messages)) => self.batch(&parts, messages, form).await,
            Err(refusal) => refusal,
        }
    }

    /// Answers a message. `held` lives until the last message of the response is known.
    async fn message<T: Send + 'static>(
        &self,
        mut parts: Parts,
        mut message: Message,
        form: Form,
        held: T,
    ) -> Response {
        let newcomer = match self.newcomer(&parts, &message) {
            Ok(newcomer) => newcomer,
            Err(refusal) => return refusal.response(message.id()),
        };
        if let Err(refusal) = access::permit_message(&parts.extensions, &self.server, &message) {
            return denied(&refusal, &message);
        }
        if let Some(refusal) = quota::hold(&self.server, &mut parts, &message) {
            return refusal;
        }
        let in_use = self.enter(&parts.headers);
        if in_use.is_none() && parts.extensions.remove::<Passed>().is_some() {
            // The client has ended it while the message was read.
            name_no_session(&mut parts.headers);
        }
        if let Some(response) = self
            .own_response(&mut parts, &mut message, in_use.as_ref())
            .await
        {
            return response;
        }
        let newcomer = match self.admitted(newcomer, &message).await {
            Ok(newcomer) => newcomer,
            Err(refusal) => return refusal.response(message.id()),
        };
        let hang_up = in_use
            .as_ref()
            .map(|in_use| begin_in(in_use, &mut parts, &mut message));
        let id = message.id();
        let opening = Opening::of(&message, &parts);
        let body = message.into_bytes();
        if let Some(opening) = &opening {
            match self.sessions.sealed_id(&body, opening.owner()) {
                Ok(id) => id.map(|id| parts.extensions.insert(Passed::Opens(id))),
                Err(TooLong) => return too_long(id),
            };
        }
        let request = Request::from_parts(parts, body.clone().into());
        let passed = self.pass_message(request, (&body, id), (newcomer, opening));
        let (response, opened) = match passed.await {
            Ok(passed) => passed,
            Err(refusal) => return refusal,
        };
        let end = in_use.as_ref().map(|in_use| in_use.end().clone());
        let held = (held, in_use.or(opened));
        // A client whose session has ended must open another one.
        let ended = || {
            end.filter(CancellationToken::is_cancelled)
                .map(|_| session_ended())
        };
        match form {
            Form::Json => single::as_json(response, false, hang_up, held, ended).await,
            Form::OnlyJson => single::as_json(response, true, hang_up, held, ended).await,
            Form::Events => {
                // The client can resume its stream.
                if let Some(hang_up) = hang_up {
                    hang_up.disarm();
                }
                single::as_event(body::with_raw_results(response, held)).await
            }
        }
    }

    /// Passes a message to rmcp, and registers the session that it opens. Otherwise returns what the client gets instead.
    async fn pass_message(
        &self,
        request: Request,
        (body, id): (&Bytes, Option<Value>),
        (newcomer, opening): (Option<(Arc<CurrentHooks>, Newcomer)>, Option<Opening>),
    ) -> Result<(Response, Option<InUse>), Response> {
        let is_json = headers::is_json(request.headers());
        let response = self.pass(request).await;
        if response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE && is_json {
            return Err(body::refused(
                &message::unreadable(body.clone()).with_id(id),
            ));
        }
        let session = session(response.headers()).map(str::to_owned);
        // A session is in use until it is decided whether it may begin.
        let begins = session.as_deref().zip(opening.as_ref());
        let _held = begins.map(|(id, opening)| self.sessions.hold(id, &opening.request));
        if let Some(refusal) = self.ask(newcomer, session.as_deref()).await {
            return Err(refusal.response(id));
        }
        let opened = self.opened(session.zip(opening), body).await?;
        Ok((response, opened))
    }

    /// The sender of a message that begins a session, or that belongs to none, if the endpoint decides about these. Refuses a sender that
    /// a condition of the endpoint rejects.
    fn newcomer(
        &self,
        parts: &Parts,
        message: &Message,
    ) -> Result<Option<(Arc<CurrentHooks>, Newcomer)>, Box<SessionRefusal>> {
        let hooks = self.server.0.access.hooks();
        let begins = matches!(message.kind(), Kind::Initialize(_));
        // rmcp only serves sessions that were accepted, and says so if there is none with this id.
        let is_in_session = self.has_sessions()
            && session(&parts.headers).is_some()
            && !(begins || message.names_version() || headers::name_modern_version(&parts.headers));
        if hooks.are_none() || is_in_session || !message.is_request() {
            return Ok(None);
        }
        let newcomer = Newcomer::of(parts, message, "");
        hooks.reject(&newcomer)?;
        Ok(Some((hooks, newcomer)))
    }

    /// Asks about the sender of a message that belongs to no session. Returns the sender of one that begins a session: that is decided
    /// when the session has its id.
    async fn admitted(
        &self,
        newcomer: Option<(Arc<CurrentHooks>, Newcomer)>,
        message: &Message,
    ) -> Result<Option<(Arc<CurrentHooks>, Newcomer)>, Box<SessionRefusal>> {
        let begins = matches!(message.kind(), Kind::Initialize(_));
        let Some((hooks, newcomer)) = newcomer else {
            return Ok(None);
        };
        if begins && self.has_sessions() {
            return Ok(Some((hooks, newcomer)));
        }
        hooks.ask_once(&newcomer).await?;
        Ok(None)
    }

    /// Asks whether a session may begin that only the server knows yet. Otherwise it ends.
    async fn ask(
        &self,
        newcomer: Option<(Arc<CurrentHooks>, Newcomer)>,
        session: Option<&str>,
    ) -> Option<Box<SessionRefusal>> {
        let (hooks, mut newcomer) = newcomer?;
        let id = session?;
        id.clone_into(&mut newcomer.session);
        let refusal = hooks.ask(&newcomer).await.err()?;
        self.discard(id).await;
        Some(refusal)
    }

    /// Registers a session that a message has opened. If other processes cannot know it, returns what the client gets instead.
    async fn opened(
        &self,
        opened: Option<(String, Opening)>,
        message: &[u8],
    ) -> Result<Option<InUse>, Response> {
        let Some((id, opening)) = opened else {
            return Ok(None);
        };
        let published = self.sessions.publish(&id, message, opening.owner());
        if let Err(Away) = published.await {
            self.discard(&id).await;
            return Err(store_away());
        }
        let Opening {
            request,
            has_batches,
        } = opening;
        Ok(Some(self.sessions.open(&id, &request, has_batches)))
    }

    /// Answers the messages of an array with one array of responses. Other messages of the server are dropped.
    async fn batch(
        &self,
        parts: &Parts,
        messages: Vec<Result<Message, Refusal>>,
        form: Form,
    ) -> Response {
        // A response with several answers has no status and no challenge for one of them.
        for message in messages.iter().flatten() {
            if let Err(refusal) = access::permit_message(&parts.extensions, &self.server, message) {
                return denied(&refusal, message);
            }
        }
        let answers = messages.into_iter().map(|message| async move {
            let response = match message {
                Ok(message) => {
                    let answer = self.message(parts.clone(), message, Form::OnlyJson, ());
                    Box::pin(answer).await
                }
                Err(refusal) => body::refused(&refusal),
            };
            let (parts, body) = response.into_parts();
            let body = body.collect().await.map(Collected::to_bytes);
            (parts, body.unwrap_or_default())
        });
        let mut all = Vec::new();
        for (parts, body) in join_all(answers).await {
            match &*body {
                [b'{', ..] => all.push(body),
                [] if parts.status.is_success() => {}
                // What is no message concerns the whole request, such as an unknown session.
                _ => return Response::from_parts(parts, body.into()),
            }
        }
        if all.is_empty() {
            return StatusCode::ACCEPTED.into_response();
        }
        let array = [&b"["[..], &all.join(&b','), b"]"].concat();
        let json = [(header::CONTENT_TYPE, "application/json")];
        let response = (json, array).into_response();
        match form {
            Form::Events => single::as_event(response).await,
            Form::Json | Form::OnlyJson => response,
        }
    }

    /// Ends a session.
    async fn end(&self, request: Request) -> Response {
        let id = session(request.headers()).map(str::to_owned);
        let is_elsewhere = request.extensions().get::<Passed>().is_some();
        let is_known = match &id {
            Some(id) => is_elsewhere || self.sessions.has(id).await,
            None => true,
        };
        let mut response = self.pass(request).await;
        if response.status() == StatusCode::ACCEPTED {
            if let Some(id) = id {
                // What is unknown must not displace what was ended.
                let forgotten = if is_known {
                    self.sessions.forget(&id).await
                } else {
                    Ok(())
                };
                // rmcp would let the calls of the session run for another five seconds.
                self.sessions.end(&id);
                if forgotten.is_err() {
                    return store_away();
                }
            }
            // Some clients treat rmcp's `202 Accepted` as a failure:
            // <https://github.com/modelcontextprotocol/python-sdk/issues/3546>.
            *response.status_mut() = if is_known {
                StatusCode::NO_CONTENT
            } else {
                StatusCode::NOT_FOUND
            };
        }
        response
    }

    /// The response to a message that rmcp does not get. The others become what rmcp can read.
    async fn own_response(
        &self,
        parts: &mut Parts,
        message: &mut Message,
        in_use: Option<&InUse>,
    ) -> Option<Response> {
        if message.is_request() && self.server.is_stopping() {
            return Some(stopping());
        }
        if let Some(id) = session(&parts.headers).filter(|_| message.is_request()) {
            self.sessions.requested(id);
        }
        match message.kind() {
            Kind::Initialize(_) => {
                headers::remove_unknown_version(&mut parts.headers);
                if in_use.is_some() {
                    return Some(already_open(message.id()));
                }
                if self.has_sessions() && session(&parts.headers).is_none() {
                    let peer = parts.extensions.get().copied();
                    return self.admit(peer).await.err();
                }
            }
            Kind::Cancelled(id) => {
                let id = id.clone();
                let same = in_use.map(|in_use| in_use.in_flight().find(&id));
                match &*same.unwrap_or_default() {
                    [] => {}
                    [own] => message.set_cancelled(own),
                    [..] => {
                        tracing::warn!(%id, "cancellation ignored, because several requests have this id");
                        return Some(StatusCode::ACCEPTED.into_response());
                    }
                }
            }
            Kind::Request | Kind::Other => {}
        }
        None
    }

    /// Makes room for another session. If there is none, returns what the client gets instead.
    async fn admit(&self, peer: Option<Peer>) -> Result<(), Response> {
        if self.sessions.count().await < self.options.sessions {
            return Ok(());
        }
        if let Some(peer) = peer {
            if self.sessions.make_room(peer).await {
                self.refusals.add(Refused::Evicted, peer);
                return Ok(());
            }
            self.refusals.add(Refused::Session, peer);
        }
        Err(too_many_sessions())
    }

    /// Passes a request to rmcp. While a session of another process is restored, one request of it after the other.
    async fn pass(&self, request: Request) -> Response {
        let id = session(request.headers()).map(str::to_owned);
        let restored = id.as_deref().and_then(|id| self.sessions.restored(id));
        let (Some(id), Some(restored)) = (id, restored) else {
            return self.handle(request).await;
        };
        let Some(turn) = Turn::of(restored).await else {
            return self.handle(request).await;
        };
        // A client that leaves must not leave half a session behind.
        let nursery = &self.server.0.process.nursery;
        let handled = nursery
            .spawn(in_turn(turn.clone(), self.handle(request)))
            .await;
        turn.end(self.sessions.has(&id).await);
        joined(handled).flatten().unwrap_or_else(stopping)
    }

    fn handle(&self, mut request: Request) -> impl Future<Output = Response> + Send + use<> {
        let caller = access::caller(request.extensions());
        let passed = request.extensions_mut().remove();
        let mcp = self.mcp.clone();
        let handle = async move { mcp.handle(request).await };
        let handled = access::on_behalf_of(caller, passing(passed, handle));
        // Boxed, because the future is large and would be moved by every wrapper.
        let handled = Box::pin(handled);
        async move { handled.await.map(Body::new) }
    }

    /// Whether clients up to 2025-11-25 have sessions.
    fn has_sessions(&self) -> bool {
        self.options.session_storage != SessionStorage::None
    }
}

/// Makes a message part of a session. The message ends when the returned guard is dropped.
fn begin_in(in_use: &InUse, parts: &mut Parts, message: &mut Message) -> DropGuard {
    let end = in_use.end().child_token();
    parts.extensions.insert(RequestEnd(end.clone()));
    // Requests since 2026-07-28 share nothing, although they may name a session.
    if let Some(id) = message.request_id()
        && !message.is_modern()
        && let Some(own) = message.set_own_id()
    {
        let running = in_use.in_flight().add(id, own.into());
        parts.extensions.insert(running);
    }
    end.drop_guard()
}

/// The response to a client whose session would have an id that is too long.
fn too_long(id: Option<Value>) -> Response {
    let message = "`clientInfo` and `capabilities` are too long: the id of a session contains them";
    body::refused(&Refusal::invalid(message).with_id(id))
}

/// The response to a request whose session ends before its result is known.
fn session_ended() -> Response {
    (StatusCode::NOT_FOUND, "the session has ended\n").into_response()
}

/// The response to an `initialize` in a session.
fn already_open(id: Option<Value>) -> Response {
    let message =
        "the session is open: send `initialize` without `Mcp-Session-Id` to open another one";
    body::refused(&Refusal::invalid(message).with_id(id))
}

/// A request that opens a session.
struct Opening {
    /// Its extensions.
    request: Extensions,
    /// Whether the protocol version of the session has batches.
    has_batches: bool,
}

impl Opening {
    /// None if the message opens no session.
    fn of(message: &Message, parts: &Parts) -> Option<Self> {
        let Kind::Initialize(version) = message.kind() else {
            return None;
        };
        session(&parts.headers).is_none().then(|| Self {
            request: parts.extensions.clone(),
            has_batches: version == BATCHES,
        })
    }

    fn owner(&self) -> Option<Owner> {
        access::owner(&self.request)
    }
}

/// The form of a response.
#[derive(Clone, Copy)]
enum Form {
    /// JSON if no other message precedes it, else an event stream.
    Json,
    /// JSON without the messages that precede it.
    OnlyJson,
    /// An event stream.
    Events,
}

impl Form {
    /// The form that the client takes, or else that of the endpoint. None if the client takes neither JSON nor events.
    fn of(accepts: Accepts, options: &HttpOptions) -> Option<Self> {
        match (accepts.json, accepts.events) {
            (true, true) => Some(match configured(options) {
                ResponseForm::Json => Self::Json,
                ResponseForm::Sse => Self::Events,
            }),
            (true, false) => Some(Self::OnlyJson),
            (false, true) => Some(Self::Events),
            (false, false) => None,
        }
    }
}

/// The form of the endpoint's responses.
fn configured(options: &HttpOptions) -> ResponseForm {
    match options.transport {
        HttpTransport::Streamable { response } => response,
        HttpTransport::Sse { .. } => ResponseForm::Sse,
    }
}

/// Makes a request name a session that does not exist.
fn name_no_session(headers: &mut HeaderMap) {
    let unknown = HeaderValue::try_from(SessionId::random().as_str());
    headers.insert(
        SessionId::HEADER,
        unknown.expect("a UUID is a valid header"),
    );
}

/// The session id of a request or response.
pub(super) fn session(headers: &HeaderMap) -> Option<&str> {
    headers.get(SessionId::HEADER)?.to_str().ok()
}
