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

/// How long idle connections may take to close.
const CLOSING: Duration = Duration::from_secs(1);

/// The answer on all other paths.
const ELSEWHERE: &str = "this is an MCP server, and its endpoint is /mcp\n";

/// Allowed hosts and origins, and limits for clients.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HttpOptions {
    /// Allowed values of the `Host` header, with or without a port. All others are refused, so that
    /// no website can reach the server under a name of its own (DNS rebinding).
    pub hosts: Vec<String>,
    /// Origins whose pages may send requests, such as `https://app.example:443`, or with `:*` for any port.
    pub origins: Vec<String>,
    /// Maximum size of a request body, in bytes.
    pub body: usize,
    /// Maximum number of open sessions (up to 2025-11-25).
    pub sessions: usize,
    /// How long a session lives without a request or an open stream.
    pub session_idle: Option<Duration>,
    /// Maximum number of connections. Further ones wait until one of them ends.
    pub connections: usize,
    /// How long a client may take to send the head of a request, and may keep an idle connection.
    pub head_time: Option<Duration>,
    /// How long a client may take to send the body of a request.
    pub body_time: Option<Duration>,
}

impl Default for HttpOptions {
    /// Options for clients on the same machine.
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

/// Answers requests to `/mcp`.
struct Endpoint {
    server: Server,
    mcp: StreamableHttpService<Handler, LocalSessionManager>,
    sessions: Arc<Sessions>,
    options: HttpOptions,
}

/// Serves MCP on `/mcp` and a health check on `/health`, until the server is stopped.
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
    // Requests are stateless: any of them may ask for a task that another one started.
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

/// Serves `/metrics` and `/health` for operators, until the server is stopped.
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

/// Answers requests until the server is stopped and running work has ended. Then all streams end.
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
        // While calls finish, clients can still connect to answer input requests. New requests are refused.
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

/// Adds what rmcp's service lacks: a limit for sessions, errors that explain an invalid body, and CORS.
impl Endpoint {
    async fn answer(&self, mut request: Request) -> Response {
        headers::accept_all(request.headers_mut());
        let page = Page::of(&request);
        let sender = Sender::of(request.headers());
        let response = match *request.method() {
            Method::POST => self.post(request).await,
            Method::DELETE => self.end(request).await,
            // After a lost connection, a client resumes its stream with a GET request.
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

    /// Passes a request on. Its session stays in use, and `held` lives, until the last byte of the answer is sent.
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
        // Boxed, because the future is large and would be moved by every wrapper.
        Box::pin(self.mcp.handle(request)).await.map(Body::new)
    }
}

/// Whether the `Content-Type` is JSON.
fn is_json(headers: &HeaderMap) -> bool {
    let content_type = headers.get(header::CONTENT_TYPE);
    let content_type = content_type.and_then(|value| value.to_str().ok());
    let essence = content_type.and_then(|value| value.split(';').next());
    essence.is_some_and(|essence| essence.trim().eq_ignore_ascii_case("application/json"))
}

/// Whether a request, if it is valid, opens a session.
fn opens_session(headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    // Protocol versions are dates, so they compare as strings. Since 2026-07-28 there are no sessions.
    let stateless = text("mcp-protocol-version").is_some_and(|version| version >= "2026-07-28");
    !stateless && session(headers).is_none()
}

/// The session id of a request or response.
fn session(headers: &HeaderMap) -> Option<&str> {
    headers.get("mcp-session-id")?.to_str().ok()
}
