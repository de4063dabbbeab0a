//! MCP over HTTP: endpoints at the paths of a listener.

mod admission;
mod body;
mod connections;
mod cors;
mod headers;
mod in_flight;
mod names;
mod new_session;
mod options;
mod origin_check;
mod peer;
mod quota;
mod sessions;
mod single;
mod sse;
mod streamable;
mod tls;

use std::{collections::BTreeSet, sync::Arc};

use axum::{
    Json, Router,
    extract::{RawQuery, Request, State},
    http::{HeaderValue, Method, StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use futures_util::future::{BoxFuture, join_all};
use hyper::service::Service as _;
use hyper_util::service::TowerToHyperService;
use mcp_servlet_access::{
    Caller, Certificate,
    audit::{Event, Fields},
    metadata_path,
};
use mcp_servlet_call::JsonObject;
use mcp_servlet_host::{Tool, bundle::Requested};
use serde_json::json;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use url::form_urlencoded;

use crate::{
    access::{self, CurrentGate},
    message::Answered,
    response_headers::{EndpointHeaders, ResponseHeaders},
    server::{Readiness, Server, metrics::Connections},
    session_id::SessionId,
};
use admission::Admitted;
pub(crate) use admission::GateTime;
use connections::Limits;
use cors::Page;
pub use names::{parse_host_header, parse_origin, split_address, split_authority};
pub use options::{HttpOptions, HttpTransport, ResponseForm, SessionStorage};
use origin_check::OriginCheck;
use peer::{Peer, Refusals, Refused};
pub(crate) use quota::{Held, peer_text};
use sse::Sse;
use streamable::Streamable;
use tls::HandshakeFailure;
pub(crate) use tls::Tls;
pub use tls::{ClientCertificates, TlsError, TlsFile, TlsOptions};

/// The method whose response is a stream of changes.
const LISTEN: &str = "subscriptions/listen";

/// The path that says whether the process accepts requests.
pub const HEALTH_PATH: &str = "/health";
/// The path that says whether everything in the configuration is served.
pub const READY_PATH: &str = "/ready";

/// After how many seconds a client may try again if the server stops. Behind a load balancer, another process answers.
const RETRY_STOPPING: u32 = 1;
/// The same if there are too many sessions.
const RETRY_SESSIONS: u32 = 30;
/// The same while a store cannot be reached.
const RETRY_STORE: u32 = 2;
/// The same if something is not served yet.
const RETRY_READY: u32 = 5;

/// Serves endpoints at the paths of one address, and checks on `/health` and `/ready`, until the service is stopped.
///
/// The first endpoint's `connections`, `head_time` and `body_time` apply to the listener. If two endpoints have
/// the same path, the first one answers.
///
/// The future is a trait object, so that crates that start a service do not compile the code of the server again.
pub(crate) fn listen(
    server: Server,
    listener: (TcpListener, Option<Arc<Tls>>),
    endpoints: Vec<(Server, HttpOptions)>,
) -> BoxFuture<'static, ()> {
    Box::pin(async move { serve_endpoints(&server, listener, endpoints).await })
}

async fn serve_endpoints(
    server: &Server,
    listener: (TcpListener, Option<Arc<Tls>>),
    endpoints: Vec<(Server, HttpOptions)>,
) {
    let end = server.0.process.transports.child_token();
    let first = endpoints.first().map(|(_, options)| Limits::of(options));
    let limits = first.unwrap_or_else(|| Limits::of(&HttpOptions::default()));
    let endpoints: Arc<[_]> = endpoints
        .into_iter()
        .map(|(server, options)| Endpoint::new(&server, options, end.clone()))
        .collect();
    let sweeps = Arc::clone(&endpoints);
    let health = TowerToHyperService::new(health(server));
    let answer = move |request: Request| {
        let (endpoints, health) = (Arc::clone(&endpoints), health.clone());
        async move {
            if let Some(refusal) = headers::ambiguous(&request) {
                return refusal;
            }
            match request.uri().path() {
                HEALTH_PATH | READY_PATH => routed(&health, request).await,
                _ => answer(&endpoints, request).await,
            }
        }
    };
    let connections = server.0.process.metrics.connections.clone();
    tokio::select! {
        () = run(server, listener, answer, (limits, connections), end) => {}
        _ = join_all(sweeps.iter().map(Endpoint::end_idle)) => {}
    }
}

/// The answer of one of these routes.
async fn routed(routes: &TowerToHyperService<Router>, request: Request) -> Response {
    let Ok(response) = routes.call(request).await;
    response
}

async fn answer(endpoints: &[Endpoint], request: Request) -> Response {
    let path = request.uri().path();
    if let Some(resource) = metadata_path(path) {
        return public(&request, || metadata(endpoints, resource));
    }
    match endpoints.iter().find(|endpoint| endpoint.has(path)) {
        Some(endpoint) => endpoint.answer(request).await,
        None => (StatusCode::NOT_FOUND, elsewhere(endpoints)).into_response(),
    }
}

/// The response with a document that all pages may read.
fn public(request: &Request, document: impl FnOnce() -> Response) -> Response {
    const METHODS: &str = "GET, HEAD";
    let mut response = match *request.method() {
        Method::GET | Method::HEAD => document(),
        Method::OPTIONS => cors::permission(request.headers(), METHODS),
        _ => (StatusCode::METHOD_NOT_ALLOWED, [(header::ALLOW, METHODS)]).into_response(),
    };
    let any = HeaderValue::from_static("*");
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, any);
    response
}

/// The metadata of the endpoint that clients call at this path, by its `url`. If there is none, the metadata of the endpoint that is
/// served at the path. An empty path then stands for the first endpoint with metadata.
fn metadata(endpoints: &[Endpoint], path: &str) -> Response {
    let called = endpoints.iter().filter(|one| one.is_called_at(path));
    let own = endpoints
        .iter()
        .filter(|one| path.is_empty() || one.has(path));
    // URLs of several hosts can have the same path.
    let both = called.clone().filter(|one| one.has(path));
    let metadata = both.chain(called).chain(own).find_map(Endpoint::metadata);
    metadata.unwrap_or_else(|| StatusCode::NOT_FOUND.into_response())
}

/// Whether a request to `path` is for the endpoint at `own`. A slash at the end does not matter.
fn is_at(path: &str, own: &str) -> bool {
    let rest = path.strip_prefix(own);
    rest.is_some_and(|rest| rest.is_empty() || rest == "/")
}

/// The answer on all other paths.
fn elsewhere(endpoints: &[Endpoint]) -> String {
    let paths: Vec<_> = endpoints
        .iter()
        .map(|endpoint| &*endpoint.options.path)
        .collect();
    match &*paths {
        [path] => format!("this is an MCP server, and its endpoint is {path}\n"),
        paths => format!(
            "this is an MCP server, and its endpoints are {}\n",
            paths.join(", ")
        ),
    }
}

/// Serves `/metrics`, `/health` and `/ready` for operators, until the service is stopped.
pub(crate) async fn operations(server: Server, listener: (TcpListener, Option<Arc<Tls>>)) {
    let metrics = |State(server): State<Server>| async move {
        let format = "application/openmetrics-text; version=1.0.0; charset=utf-8";
        let metrics = server.0.process.encode_metrics();
        ([(header::CONTENT_TYPE, format)], metrics)
    };
    let routes = Router::new()
        .route("/metrics", get(metrics))
        .with_state(server.clone())
        .merge(health(&server));
    let routes = TowerToHyperService::new(routes);
    let answer = move |request| {
        let routes = routes.clone();
        async move { routed(&routes, request).await }
    };
    let limits = Limits::of(&HttpOptions::default());
    // The metrics are about clients.
    let connections = Connections::default();
    let end = server.0.process.transports.child_token();
    run(&server, listener, answer, (limits, connections), end).await;
}

fn health(server: &Server) -> Router {
    let health = |State(server): State<Server>| async move {
        if server.is_stopping() {
            return unavailable(RETRY_STOPPING, Json(json!({ "status": "stopping" })));
        }
        let (servlets, tools) = counts(&server);
        let body = json!({ "status": "ok", "servlets": servlets, "tools": tools });
        Json(body).into_response()
    };
    let ready = |State(server): State<Server>, RawQuery(query): RawQuery| async move {
        ready(
            server.0.process.readiness().await,
            &query.unwrap_or_default(),
        )
    };
    Router::new()
        .route(HEALTH_PATH, get(health))
        .route(READY_PATH, get(ready))
        .with_state(server.clone())
}

/// Whether everything is served, except servlets and remotes that the query excludes, as in `exclude=github`.
fn ready(readiness: Readiness, query: &str) -> Response {
    let excluded: Vec<_> = form_urlencoded::parse(query.as_bytes())
        .filter_map(|(key, name)| (key == "exclude").then_some(name))
        .collect();
    let is_excluded = |name: &str| excluded.iter().any(|one| one == name);
    let Readiness {
        mut servlets,
        mut remotes,
        ..
    } = readiness;
    servlets.retain(|name| !is_excluded(name));
    remotes.retain(|name, _| !is_excluded(name));
    let (seconds, body) = if readiness.is_leaving {
        (RETRY_STOPPING, json!({ "status": "stopping" }))
    } else if readiness.is_starting {
        (RETRY_READY, json!({ "status": "starting" }))
    } else if readiness.lacks_audit {
        (RETRY_READY, json!({ "status": "no audit log" }))
    } else if !readiness.stores.is_empty() {
        let missing = json!({ "stores": readiness.stores });
        (
            RETRY_STORE,
            json!({ "status": "no store", "missing": missing }),
        )
    } else if servlets.is_empty() && remotes.is_empty() {
        return Json(json!({ "status": "ready" })).into_response();
    } else {
        let missing = json!({ "servlets": servlets, "remotes": remotes });
        (
            RETRY_READY,
            json!({ "status": "incomplete", "missing": missing }),
        )
    };
    unavailable(seconds, Json(body))
}

/// A response with status 503, and the time after which another request may have another answer.
fn unavailable(seconds: u32, body: impl IntoResponse) -> Response {
    let retry = [(header::RETRY_AFTER, seconds.to_string())];
    (StatusCode::SERVICE_UNAVAILABLE, retry, body).into_response()
}

/// The response to new requests while the server stops.
fn stopping() -> Response {
    unavailable(RETRY_STOPPING, "the server is stopping")
}

/// The response to a client that cannot open another session.
fn too_many_sessions() -> Response {
    unavailable(RETRY_SESSIONS, "too many sessions")
}

/// The response to a request whose session only a store could know, and to a client whose session cannot be stored.
fn store_away() -> Response {
    unavailable(RETRY_STORE, "the store of sessions cannot be reached")
}

/// How many servlets and tools the endpoints of the process have together.
fn counts(server: &Server) -> (usize, usize) {
    let hosts: Vec<_> = server
        .0
        .process
        .servers()
        .iter()
        .map(Server::host)
        .collect();
    let servlets: BTreeSet<_> = hosts
        .iter()
        .flat_map(|host| host.servlets())
        .map(|one| (one.name(), one.origin()))
        .collect();
    let tools: BTreeSet<_> = hosts
        .iter()
        .flat_map(|host| host.tools().map(Tool::name))
        .collect();
    (servlets.len(), tools.len())
}

/// Answers requests until the server is stopped and running work has ended. Then all streams end.
async fn run<F: Future<Output = Response> + Send + 'static>(
    server: &Server,
    (listener, tls): (TcpListener, Option<Arc<Tls>>),
    answer: impl Fn(Request) -> F + Clone + Send + 'static,
    (limits, counts): (Limits, Connections),
    streams: CancellationToken,
) {
    let idle = CancellationToken::new();
    let stopping = async {
        server.0.process.active.stopping().await;
        // While calls finish, clients can still connect to answer input requests. New requests are refused.
        server.0.process.active.idle(server.0.options.drain).await;
        streams.cancel();
        idle.cancel();
    };
    let refusals = Arc::new(Refusals::new(&server.0.process.metrics.refused));
    let listener = (listener, tls.clone());
    let noted = server.clone();
    let on_refused = move |peer: Peer, failure: Option<HandshakeFailure>| {
        let event = failure.map_or(Event::PlainHttp, |_| Event::Refused);
        noted.note(event, || Fields {
            peer: peer.address().map(|address| address.to_string()),
            reason: failure.map(|failure| failure.name().to_owned()),
            status: failure.is_none().then_some(400),
            ..Fields::default()
        });
    };
    let watch = (refusals, counts, on_refused);
    let serving = async {
        tokio::join!(
            connections::serve(listener, answer, limits, watch, &idle),
            stopping
        );
    };
    match tls {
        Some(tls) => tokio::select! {
            () = serving => {}
            () = tls.follow(&server.0.process.metrics.expiries) => {}
        },
        None => serving.await,
    }
}

/// One endpoint of a listener.
struct Endpoint {
    server: Server,
    transport: Transport,
    options: HttpOptions,
    /// The headers of successful responses, until a reload replaces them.
    headers: Arc<EndpointHeaders>,
    origin_check: OriginCheck,
    refusals: Refusals,
}

/// The mark of a response that lasts as long as the client listens.
#[derive(Clone)]
struct Listens;

enum Transport {
    Streamable(Box<Streamable>),
    Sse(Box<Sse>),
}

/// Adds what all transports over HTTP have in common: CORS, the endpoint's own headers, and the help
/// for a refused host or origin.
impl Endpoint {
    fn new(server: &Server, options: HttpOptions, end: CancellationToken) -> Self {
        let transport = match &options.transport {
            HttpTransport::Streamable { .. } => {
                Transport::Streamable(Box::new(Streamable::new(server, &options, end)))
            }
            HttpTransport::Sse { messages, .. } => {
                Transport::Sse(Box::new(Sse::new(server, &options, messages, end)))
            }
        };
        server.0.access.begin(options.auth.as_ref());
        Self {
            server: server.clone(),
            transport,
            headers: Arc::new(options.endpoint_headers()),
            origin_check: OriginCheck::new(&options),
            refusals: Refusals::new(&server.0.process.metrics.refused),
            options,
        }
    }

    /// Whether the endpoint answers at this path.
    fn has(&self, path: &str) -> bool {
        is_at(path, &self.options.path) || self.messages().is_some_and(|own| is_at(path, own))
    }

    /// The path for messages, if it is not the path of the endpoint.
    fn messages(&self) -> Option<&str> {
        match &self.options.transport {
            HttpTransport::Streamable { .. } => None,
            HttpTransport::Sse { messages, .. } => Some(messages),
        }
    }

    async fn answer(&self, mut request: Request) -> Response {
        let page = Page::of(&request);
        let peer = request.extensions().get().copied();
        if let Some(refused) = self.origin_check.refusal(&request) {
            let endpoint = self.server.name();
            if let Some(peer) = peer {
                let detail = Some(refused.detail(endpoint));
                self.refusals.add_with(Refused::Sender, peer, detail);
            }
            return refused.response(endpoint);
        }
        let CurrentGate { gate, end } = self.server.0.access.gate();
        // A preflight has no credentials, and gets nothing but permission.
        let gate = gate.filter(|_| !page.as_ref().is_some_and(Page::is_preflight));
        let until = match gate {
            None => None,
            Some(gate) => match self.admit(gate, &mut request).await {
                Ok(caller) => caller.until,
                Err(refusal) => {
                    self.note(&refusal, peer, None);
                    return match page {
                        Some(page) => page.share(refusal, std::iter::empty()),
                        None => refusal,
                    };
                }
            },
        };
        let headers = self
            .server
            .headers()
            .unwrap_or_else(|| Arc::clone(&self.headers));
        let headers = headers.of_method(request.method());
        let admitted = Admitted { end, until };
        let caller = access::caller(request.extensions());
        let response = self.pass(request, headers, admitted).await;
        self.note(&response, peer, caller);
        match page {
            Some(page) => page.share(response, headers.names()),
            None => response,
        }
    }

    /// The response of the transport, with the headers of the endpoint.
    async fn pass(
        &self,
        request: Request,
        headers: &ResponseHeaders,
        admitted: Admitted,
    ) -> Response {
        let session = if headers.have_expressions() {
            self.session(&request)
        } else {
            None
        };
        let caller = headers.read_caller().then(|| {
            let (caller, certificate) = (
                access::caller(request.extensions()),
                request.extensions().get::<Arc<Certificate>>().cloned(),
            );
            Caller::to_json_with(caller.as_deref(), certificate.as_deref())
        });
        let is_get = request.method() == Method::GET;
        let is_in_session = streamable::session(request.headers()).is_some();
        let mut response = match &self.transport {
            Transport::Streamable(streamable) => streamable.answer(request).await,
            Transport::Sse(sse) => sse.answer(request).await,
        };
        if !response.status().is_success() {
            return response;
        }
        let listens = is_get || answered(&response).is_some_and(|method| method == LISTEN);
        if listens {
            response = admitted.limit(response);
            response.extensions_mut().insert(Listens);
        }
        if let Some(refusal) = add_headers(&mut response, headers, (session, caller)) {
            let opened = streamable::session(response.headers()).map(str::to_owned);
            if let Some(id) = opened.filter(|_| !is_in_session) {
                self.close(&id).await;
            }
            return refusal;
        }
        response
    }

    /// Closes a session that the client does not get to know. One over HTTP+SSE ends with its stream.
    async fn close(&self, id: &str) {
        if let Transport::Streamable(streamable) = &self.transport {
            streamable.close(id).await;
        }
    }

    /// The id of the session that a request names.
    fn session(&self, request: &Request) -> Option<SessionId> {
        match &self.transport {
            Transport::Streamable(_) => streamable::session(request.headers()).map(Into::into),
            Transport::Sse(_) => sse::session(request.uri()).as_deref().map(Into::into),
        }
    }

    /// Ends idle sessions. Never returns.
    async fn end_idle(&self) {
        match &self.transport {
            Transport::Streamable(streamable) => streamable.end_idle().await,
            Transport::Sse(sse) => sse.end_idle().await,
        }
    }
}

/// The method of the message that a response answers.
fn answered(response: &Response) -> Option<&str> {
    let answered = response.extensions().get::<Answered>()?;
    Some(&answered.method)
}

/// Adds headers to a response in a session. The response that opens a session names it itself. If a header has no valid value,
/// returns what the client gets instead.
fn add_headers(
    response: &mut Response,
    headers: &ResponseHeaders,
    (session, caller): (Option<SessionId>, Option<JsonObject>),
) -> Option<Response> {
    let opened = || match streamable::session(response.headers()) {
        Some(id) => Some(id.into()),
        None => response.extensions().get().cloned(),
    };
    let session = session.or_else(opened);
    let answered: Answered = response.extensions_mut().remove().unwrap_or_default();
    let requested = Requested {
        session: session.as_ref().map_or("", SessionId::as_str),
        id: &answered.id,
        method: &answered.method,
        caller: caller.as_ref(),
    };
    let (name, error) = headers.apply(response.headers_mut(), requested).err()?;
    tracing::error!(header = %name, %error, "response replaced, because a header has no valid value");
    let text = format!("the header `{name}` of the endpoint has no valid value\n");
    Some((StatusCode::INTERNAL_SERVER_ERROR, text).into_response())
}
