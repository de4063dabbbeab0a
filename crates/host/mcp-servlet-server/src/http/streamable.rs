//! Streamable HTTP, for both eras.

use std::sync::Arc;

use axum::{
    body::{Body, Bytes},
    extract::Request,
    http::{HeaderMap, Method, StatusCode, header, request::Parts},
    response::{IntoResponse as _, Response},
};
use rmcp::transport::streamable_http_server::{
    StreamableHttpService, session::local::LocalSessionManager,
};
use tokio_util::sync::CancellationToken;

use super::{
    HttpOptions, body, gate, headers,
    options::{HttpTransport, ResponseForm},
    peer::{Peer, Refusals, Refused},
    sessions::{InUse, Sessions},
    single,
};
use crate::{
    handler::{Handler, tasks::Tasks},
    message::{self, Kind},
    server::Server,
};

/// Answers the requests to one endpoint.
pub(super) struct Streamable {
    server: Server,
    mcp: StreamableHttpService<Handler, LocalSessionManager>,
    sessions: Arc<Sessions>,
    options: HttpOptions,
    refusals: Refusals,
}

/// Adds what rmcp's service lacks: a limit for sessions, and errors that explain an invalid body.
impl Streamable {
    /// `end` closes all streams.
    pub(super) fn new(server: &Server, options: &HttpOptions, end: CancellationToken) -> Self {
        let sessions = Sessions::new();
        let make = server.clone();
        // Requests are stateless: any of them may ask for a task that another one started.
        let tasks = Tasks::new(server.0.options.tasks.max);
        let mcp = StreamableHttpService::new(
            move || Ok(Handler::new(make.clone(), tasks.clone(), None)),
            Arc::clone(sessions.manager()),
            gate::config(options)
                .with_json_response(form(options) == ResponseForm::Json)
                .with_cancellation_token(end),
        );
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

    /// Closes a session.
    pub(super) async fn close(&self, id: &str) {
        self.sessions.close(id).await;
    }

    pub(super) async fn answer(&self, mut request: Request) -> Response {
        headers::accept_all(request.headers_mut());
        match *request.method() {
            Method::POST => self.post(request).await,
            Method::DELETE => self.end(request).await,
            // After a lost connection, a client resumes its stream with a GET request.
            _ => {
                let (response, in_use) = self.pass_in_session(request).await;
                body::unloaded(response, in_use)
            }
        }
    }

    async fn post(&self, request: Request) -> Response {
        let active = self.server.0.process.active.begin();
        let (parts, body) = request.into_parts();
        match self.check(&parts, body).await {
            Ok((body, kind)) => {
                let is_json = headers::is_json(&parts.headers);
                let request = Request::from_parts(parts, Body::from(body.clone()));
                let (response, in_use) = self.pass_in_session(request).await;
                if response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE && is_json {
                    return body::refused(&message::unreadable(&body).to(kind.into_id()));
                }
                // The session stays in use until the last message of the response is known.
                let held = (active, in_use);
                match form(&self.options) {
                    ResponseForm::Json => single::single(response, held).await,
                    ResponseForm::Sse => body::unloaded(response, held),
                }
            }
            Err(refusal) => self.refuse(parts, refusal).await,
        }
    }

    /// Ends a session.
    async fn end(&self, request: Request) -> Response {
        let id = session(request.headers()).map(str::to_owned);
        let is_known = match &id {
            Some(id) => self.sessions.has(id).await,
            None => true,
        };
        let mut response = self.pass(request).await;
        if response.status() == StatusCode::ACCEPTED {
            // rmcp would let the calls of the session run for another five seconds.
            if let Some(id) = id {
                self.sessions.end(&id);
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

    /// The body of an accepted request, or the response to a refused one.
    async fn check(&self, parts: &Parts, body: Body) -> Result<(Bytes, Kind), Response> {
        let (body, kind) = body::checked(body, &self.options).await?;
        if kind.is_request() && self.server.is_stopping() {
            let refusal = (StatusCode::SERVICE_UNAVAILABLE, "the server is stopping");
            return Err(refusal.into_response());
        }
        match session(&parts.headers) {
            Some(id) if kind.is_request() => self.sessions.requested(id),
            None if matches!(kind, Kind::Initialize(_)) => {
                self.admit(parts.extensions.get().copied()).await?;
            }
            _ => {}
        }
        Ok((body, kind))
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
        let retry = [(header::RETRY_AFTER, "30")];
        let status = StatusCode::SERVICE_UNAVAILABLE;
        Err((status, retry, "too many sessions").into_response())
    }

    /// Refuses a request. If rmcp's service refuses the sender as well, that response comes first.
    async fn refuse(&self, parts: Parts, refusal: Response) -> Response {
        let mut probe = Request::from_parts(parts, Body::empty());
        *probe.method_mut() = Method::OPTIONS;
        let answer = self.pass(probe).await;
        if answer.status() == StatusCode::FORBIDDEN {
            return answer;
        }
        refusal
    }

    /// Passes a request on. The guard keeps its session in use.
    async fn pass_in_session(&self, mut request: Request) -> (Response, Option<InUse>) {
        let peer = request.extensions().get().copied();
        let in_use = session(request.headers()).map(|id| self.sessions.enter(id));
        if let Some(Some(in_use)) = &in_use {
            request.extensions_mut().insert(in_use.end());
        }
        let response = self.pass(request).await;
        let in_use = match in_use {
            Some(in_use) => in_use,
            None => session(response.headers()).map(|id| self.sessions.open(id, peer)),
        };
        (response, in_use)
    }

    async fn pass(&self, request: Request) -> Response {
        // Boxed, because the future is large and would be moved by every wrapper.
        Box::pin(self.mcp.handle(request)).await.map(Body::new)
    }
}

/// The form of the endpoint's responses.
fn form(options: &HttpOptions) -> ResponseForm {
    match options.transport {
        HttpTransport::Streamable { response } => response,
        HttpTransport::Sse { .. } => ResponseForm::Sse,
    }
}

/// The session id of a request or response.
pub(super) fn session(headers: &HeaderMap) -> Option<&str> {
    headers.get("mcp-session-id")?.to_str().ok()
}
