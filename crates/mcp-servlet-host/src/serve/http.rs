//! MCP over streamable HTTP: one endpoint, `/mcp`, for both eras.

mod body;
mod connections;
mod cors;

use std::{sync::Arc, time::Duration};

use axum::{
    Json, Router,
    body::Body,
    extract::{Request, State},
    http::{HeaderMap, Method, StatusCode, header},
    response::{IntoResponse, Response},
    routing::{any, get},
};
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
};
use serde_json::json;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::{Server, handler::Handler, message::Kind};
use connections::Limits;
use cors::Page;

/// How long connections may take to close once nothing is running on them.
const CLOSING: Duration = Duration::from_secs(1);

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
    /// After how much silence a session is forgotten.
    pub session_idle: Option<Duration>,
    /// How many connections there may be at once. What comes then waits until one of them ends.
    pub connections: usize,
    /// How long a client may take for the head of a request, and keep a connection on which it asks nothing.
    pub head_time: Option<Duration>,
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
        }
    }
}

/// What answers on `/mcp`.
struct Endpoint {
    server: Server,
    mcp: StreamableHttpService<Handler, LocalSessionManager>,
    sessions: Arc<LocalSessionManager>,
    options: HttpOptions,
}

/// Serves MCP on `/mcp`, and `/health`, until the server is stopped.
pub async fn http(server: &Server, listener: TcpListener, options: HttpOptions) {
    let mut sessions = LocalSessionManager::default();
    sessions.session_config.keep_alive = options.session_idle;
    let sessions = Arc::new(sessions);
    let streams = CancellationToken::new();
    let config = StreamableHttpServerConfig::default()
        .with_json_response(true)
        .with_allowed_hosts(&options.hosts)
        .with_allowed_origins(&options.origins)
        .enforce_origin_validation()
        .with_max_request_body_bytes(options.body)
        .with_cancellation_token(streams.clone());
    let make = server.clone();
    let mcp = StreamableHttpService::new(
        move || Ok(Handler::new(make.clone())),
        Arc::clone(&sessions),
        config,
    );
    let limits = Limits::of(&options);
    let endpoint = Arc::new(Endpoint {
        server: server.clone(),
        mcp,
        sessions,
        options,
    });
    let answer = async move |request: Request| endpoint.answer(request).await;
    let routes = Router::new()
        .route("/mcp", any(answer))
        .merge(health(server));
    run(server, listener, routes, limits, streams).await;
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
    async fn answer(&self, request: Request) -> Response {
        let page = Page::of(&request);
        let response = match *request.method() {
            Method::POST => self.post(request).await,
            Method::DELETE => ended(self.pass(request).await),
            _ => self.pass(request).await,
        };
        match page {
            Some(page) => page.share(response),
            None => response,
        }
    }

    async fn post(&self, request: Request) -> Response {
        let active = self.server.0.active.begin();
        if opens_session(request.headers())
            && self.sessions.sessions.read().await.len() >= self.options.sessions
        {
            let retry = [(header::RETRY_AFTER, "30")];
            let status = StatusCode::SERVICE_UNAVAILABLE;
            return (status, retry, "too many sessions").into_response();
        }
        let (request, kind) = match body::checked(request, self.options.body).await {
            Ok(checked) => checked,
            Err(refusal) => return refusal,
        };
        if kind == Kind::Request && self.server.is_stopping() {
            return (StatusCode::SERVICE_UNAVAILABLE, "the server is stopping").into_response();
        }
        body::unloaded(self.pass(request).await, active)
    }

    async fn pass(&self, request: Request) -> Response {
        // In a box, because it is large, and moved whenever something is put around it.
        Box::pin(self.mcp.handle(request)).await.map(Body::new)
    }
}

/// The answer to the end of a session. Clients take rmcp's 202, which promises to end it later, for a failure.
fn ended(mut response: Response) -> Response {
    if response.status() == StatusCode::ACCEPTED {
        *response.status_mut() = StatusCode::NO_CONTENT;
    }
    response
}

/// Whether a request, if it is good, is the first one of a session.
fn opens_session(headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    // Revisions are dates, which compare as text; since 2026-07-28 there are no sessions.
    let stateless = text("mcp-protocol-version").is_some_and(|version| version >= "2026-07-28");
    !stateless && !headers.contains_key("mcp-session-id")
}
