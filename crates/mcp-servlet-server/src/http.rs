//! MCP over streamable HTTP: one endpoint, `/mcp`, for both eras.

mod body;
mod connections;
mod cors;
mod headers;
mod sessions;
mod single;

use std::{sync::Arc, time::Duration};

use axum::{
    Json, Router,
    body::{Body, Bytes},
    extract::{Request, State},
    http::{HeaderMap, Method, StatusCode, header, request::Parts},
    response::{IntoResponse, Response},
    routing::{any, get},
};
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
};
use serde_json::json;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::{
    handler::{Handler, tasks::Tasks},
    message::{self, Kind},
    server::Server,
};
use connections::Limits;
use cors::Page;
use headers::Sender;
use sessions::Sessions;

/// How long connections may take to close once nothing is running on them.
const CLOSING: Duration = Duration::from_secs(1);

/// What other paths answer.
const ELSEWHERE: &str = "this is an MCP server, and its endpoint is /mcp\n";

/// Who may connect, and how much they may ask for.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HttpOptions {
    /// Names, with or without a port, that the `Host` header may give. Anything else is refused, so that no website
    /// can reach the server under a name of its own.
    pub hosts: Vec<String>,
    /// Origins, such as `https://app.example:443` or with `:*` for any port, whose pages may send requests.
    pub origins: Vec<String>,
    /// How many bytes a request may have.
    pub body: usize,
    /// How many sessions of the handshake era there may be at once.
    pub sessions: usize,
    /// After how much time without a request or an open stream a session is forgotten.
    pub session_idle: Option<Duration>,
    /// How many connections there may be at once. What comes then waits until one of them ends.
    pub connections: usize,
    /// How long a client may take for the head of a request, and keep a connection on which it asks nothing.
    pub head_time: Option<Duration>,
    /// How long it may take for the body.
    pub body_time: Option<Duration>,
}

impl Default for HttpOptions {
    /// For clients on the same machine.
    fn default() -> Self {
        Self {
            hosts: ["localhost", "127.0.0.1", "::1"].map(str::to_owned).into(),
            origins: ["localhost", "127.0.0.1", "[::1]"]
                .iter()
                .flat_map(|host| [format!("http://{host}:*"), format!("https://{host}:*")])
                .collect(),
            body: 4 << 20,
            sessions: 1000,
            session_idle: Some(Duration::from_mins(5)),
            connections: 1024,
            head_time: Some(Duration::from_secs(30)),
            body_time: Some(Duration::from_mins(1)),
        }
    }
}

/// What answers on `/mcp`.
struct Endpoint {
    server: Server,
    mcp: StreamableHttpService<Handler, LocalSessionManager>,
    sessions: Arc<Sessions>,
    options: HttpOptions,
}

/// Serves MCP on `/mcp`, and `/health`, until the server is stopped.
pub async fn http(server: &Server, listener: TcpListener, options: HttpOptions) {
    let sessions = Sessions::new();
    let streams = CancellationToken::new();
    let config = StreamableHttpServerConfig::default()
        .with_json_response(true)
        .with_allowed_hosts(&options.hosts)
        .with_allowed_origins(&options.origins)
        .enforce_origin_validation()
        .with_max_request_body_bytes(options.body)
        .with_cancellation_token(streams.clone());
    let make = server.clone();
    // Requests stand alone: whichever comes next may ask for a task that another one began.
    let tasks = Tasks::new(server.0.options.tasks.max);
    let mcp = StreamableHttpService::new(
        move || Ok(Handler::new(make.clone(), tasks.clone())),
        Arc::clone(sessions.manager()),
        config,
    );
    let limits = Limits::of(&options);
    let (ending, idle) = (Arc::clone(&sessions), options.session_idle);
    let endpoint = Arc::new(Endpoint {
        server: server.clone(),
        mcp,
        sessions,
        options,
    });
    let answer = async move |request: Request| endpoint.answer(request).await;
    let routes = Router::new()
        .route("/mcp", any(answer.clone()))
        .route("/mcp/", any(answer))
        .fallback((StatusCode::NOT_FOUND, ELSEWHERE))
        .merge(health(server));
    tokio::select! {
        () = run(server, listener, routes, limits, streams) => {}
        () = ending.end_idle(idle) => {}
    }
}

/// Serves `/metrics` and `/health` for those who operate the server, until it is stopped.
pub async fn operations(server: &Server, listener: TcpListener) {
    let metrics = |State(server): State<Server>| async move {
        let format = "application/openmetrics-text; version=1.0.0; charset=utf-8";
        ([(header::CONTENT_TYPE, format)], server.metrics())
    };
    let routes = Router::new()
        .route("/metrics", get(metrics))
        .with_state(server.clone())
        .merge(health(server));
    let limits = Limits::of(&HttpOptions::default());
    run(server, listener, routes, limits, CancellationToken::new()).await;
}

fn health(server: &Server) -> Router {
    let health = |State(server): State<Server>| async move {
        if server.is_stopping() {
            let body = Json(json!({ "status": "stopping" }));
            return (StatusCode::SERVICE_UNAVAILABLE, body);
        }
        let host = server.host();
        let counts = (host.servlets().len(), host.tools().count());
        let body = json!({ "status": "ok", "servlets": counts.0, "tools": counts.1 });
        (StatusCode::OK, Json(body))
    };
    Router::new()
        .route("/health", get(health))
        .with_state(server.clone())
}

/// Answers requests until the server is stopped and what was running has ended; then ends all streams.
async fn run(
    server: &Server,
    listener: TcpListener,
    routes: Router,
    limits: Limits,
    streams: CancellationToken,
) {
    let idle = CancellationToken::new();
    let stopping = async {
        server.0.active.stopping().await;
        // Until then clients can connect, to answer questions and to hear that nothing new is taken.
        server.0.active.idle(server.0.options.drain).await;
        streams.cancel();
        idle.cancel();
        tokio::time::sleep(CLOSING).await;
    };
    tokio::select! {
        () = connections::serve(listener, routes, limits, &idle) => {}
        () = stopping => {}
    }
}

/// What rmcp's service leaves open: it counts no sessions, cannot say what is wrong with a body, and tells browsers nothing.
impl Endpoint {
    async fn answer(&self, mut request: Request) -> Response {
        headers::accept_all(request.headers_mut());
        let page = Page::of(&request);
        let sender = Sender::of(request.headers());
        let response = match *request.method() {
            Method::POST => self.post(request).await,
            Method::DELETE => self.end(request).await,
            // What a client missed of an answer comes here again.
            _ => self.pass_with(request, ()).await,
        };
        if response.status() == StatusCode::FORBIDDEN {
            return sender.refused(response).await;
        }
        match page {
            Some(page) => page.share(response),
            None => response,
        }
    }

    async fn post(&self, request: Request) -> Response {
        let active = self.server.0.active.begin();
        let (parts, body) = request.into_parts();
        match self.check(&parts.headers, body).await {
            Ok((body, kind)) => {
                let is_json = is_json(&parts.headers);
                let request = Request::from_parts(parts, Body::from(body.clone()));
                let response = self.pass_with(request, active).await;
                if response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE && is_json {
                    return body::refused(&message::unreadable(&body).to(kind.into_id()));
                }
                single::single(response).await
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
            // rmcp would let its calls go on for five seconds.
            if let Some(id) = id {
                self.sessions.end(&id);
            }
            // Clients take rmcp's 202, which promises to end it later, for a failure.
            *response.status_mut() = if is_known {
                StatusCode::NO_CONTENT
            } else {
                StatusCode::NOT_FOUND
            };
        }
        response
    }

    /// The body of a request that is taken, or the answer to one that is not.
    async fn check(&self, headers: &HeaderMap, body: Body) -> Result<(Bytes, Kind), Response> {
        if opens_session(headers) && self.sessions.count().await >= self.options.sessions {
            let retry = [(header::RETRY_AFTER, "30")];
            let status = StatusCode::SERVICE_UNAVAILABLE;
            return Err((status, retry, "too many sessions").into_response());
        }
        let (body, kind) = body::checked(body, &self.options).await?;
        if matches!(kind, Kind::Request(_)) && self.server.is_stopping() {
            let refusal = (StatusCode::SERVICE_UNAVAILABLE, "the server is stopping");
            return Err(refusal.into_response());
        }
        Ok((body, kind))
    }

    /// The refusal, for those who may send requests; who may not is told that instead, by the service.
    async fn refuse(&self, parts: Parts, refusal: Response) -> Response {
        let mut question = Request::from_parts(parts, Body::empty());
        *question.method_mut() = Method::OPTIONS;
        let answer = self.pass(question).await;
        if answer.status() == StatusCode::FORBIDDEN {
            return answer;
        }
        refusal
    }

    /// Passes a request on. Its session is in use, and `held` lives, until the last byte of the answer is on its way.
    async fn pass_with<T: Send + 'static>(&self, mut request: Request, held: T) -> Response {
        let in_use = session(request.headers()).map(|id| self.sessions.enter(id));
        if let Some(Some(in_use)) = &in_use {
            request.extensions_mut().insert(in_use.end.clone());
        }
        let response = self.pass(request).await;
        let in_use = match in_use {
            Some(in_use) => in_use,
            None => session(response.headers()).map(|id| self.sessions.open(id)),
        };
        body::unloaded(response, (held, in_use))
    }

    async fn pass(&self, request: Request) -> Response {
        // In a box, because it is large, and moved whenever something is put around it.
        Box::pin(self.mcp.handle(request)).await.map(Body::new)
    }
}

/// Whether the body says that it is JSON.
fn is_json(headers: &HeaderMap) -> bool {
    let content_type = headers.get(header::CONTENT_TYPE);
    let content_type = content_type.and_then(|value| value.to_str().ok());
    let essence = content_type.and_then(|value| value.split(';').next());
    essence.is_some_and(|essence| essence.trim().eq_ignore_ascii_case("application/json"))
}

/// Whether a request, if it is good, is the first one of a session.
fn opens_session(headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    // Revisions are dates, which compare as text; since 2026-07-28 there are no sessions.
    let stateless = text("mcp-protocol-version").is_some_and(|version| version >= "2026-07-28");
    !stateless && session(headers).is_none()
}

/// The session that a request or an answer belongs to.
fn session(headers: &HeaderMap) -> Option<&str> {
    headers.get("mcp-session-id")?.to_str().ok()
}
