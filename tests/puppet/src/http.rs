//! Plays over streamable HTTP at `/mcp`, and over HTTP+SSE at `/sse`.

use std::collections::HashMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get, post};
use futures_util::{Stream, StreamExt as _, stream};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::mpsc::{self, UnboundedReceiver};

use crate::Puppet;
use crate::player::{Act, Stage, pause};
use crate::script::{FailingPosts, Reply};

const SESSION: &str = "mcp-session-id";

/// A server with its sessions.
#[derive(Clone)]
struct Server {
    puppet: Puppet,
    /// How many messages each session has had.
    sessions: Arc<Mutex<HashMap<String, usize>>>,
    /// The event streams of HTTP+SSE.
    streams: Arc<Mutex<HashMap<String, Stage>>>,
}

impl Puppet {
    /// Starts an HTTP server on a free port of this machine.
    ///
    /// # Panics
    /// If no port is free.
    pub async fn http(&self) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await;
        let listener = listener.expect("a free port");
        let address = listener.local_addr().expect("a port");
        let app = self.app();
        tokio::spawn(async move { axum::serve(listener, app).await });
        address
    }

    /// The routes of the server.
    pub fn app(&self) -> Router {
        let server = Server {
            puppet: self.clone(),
            sessions: Arc::default(),
            streams: Arc::default(),
        };
        Router::new()
            .route("/mcp", post(message).delete(end).get(common_stream))
            .route("/sse", get(open_sse))
            .route("/messages/{session}", post(sse_message))
            .route("/mcp/moved", any(message))
            .with_state(server)
    }
}

/// A POST of streamable HTTP.
async fn message(State(server): State<Server>, headers: HeaderMap, body: Bytes) -> Response {
    let message: Value = serde_json::from_slice(&body).unwrap_or_default();
    let mut session = headers.get(SESSION).and_then(|id| id.to_str().ok());
    if session.is_some_and(|id| server.is_expired(id)) {
        server.log(json!({ "http": "404" }));
        let lost = server.puppet.player().script.lost_session.clone();
        return lost.map_or_else(
            || StatusCode::NOT_FOUND.into_response(),
            |reply| status(&reply),
        );
    }
    server.log(json!({ "headers": described(&headers) }));
    let started = (message["method"] == "initialize").then(|| server.start_session());
    session = started.as_deref().or(session);
    let is_request = message.get("id").is_some() && message.get("method").is_some();
    let (stage, mut acts) = mpsc::unbounded_channel();
    let closed = (message["method"] == "subscriptions/listen").then(|| Closed(server.clone()));
    server.puppet.player().play(message, stage);
    let mut response = if is_request {
        match respond(&mut acts).await {
            Some(response) => response,
            None => stream_of(acts, closed),
        }
    } else {
        StatusCode::ACCEPTED.into_response()
    };
    if let Some(id) = session.and_then(|id| id.parse().ok()) {
        response.headers_mut().insert(SESSION, id);
    }
    response
}

/// The response, unless it is an event stream.
async fn respond(acts: &mut UnboundedReceiver<Act>) -> Option<Response> {
    while let Some(act) = acts.recv().await {
        match act {
            Act::Stream => return None,
            Act::Wait(time) => pause(time).await,
            Act::Message(text) => {
                let kind = [(header::CONTENT_TYPE, "application/json")];
                return Some((kind, text).into_response());
            }
            Act::Status(reply) => return Some(status(&reply)),
            Act::Checkpoint(..) | Act::Stderr(_) | Act::Exit(_) | Act::End => {}
        }
    }
    // The script has no answer.
    std::future::pending().await
}

fn status(reply: &Reply) -> Response {
    let code = reply
        .status
        .and_then(|code| StatusCode::from_u16(code).ok());
    let mut response = Response::new(Body::from(reply.body.clone()));
    *response.status_mut() = code.unwrap_or_default();
    for (name, value) in &reply.headers {
        let name: header::HeaderName = name.parse().expect("a name of a header");
        let value = value.parse().expect("a value of a header");
        response.headers_mut().insert(name, value);
    }
    response
}

/// Logs the end of the stream of a subscription: over HTTP, a client ends a subscription by closing its stream.
struct Closed(Server);

impl Drop for Closed {
    fn drop(&mut self) {
        self.0.log(json!({ "http": "closed" }));
    }
}

/// An event stream that ends with the last act.
fn stream_of(acts: UnboundedReceiver<Act>, closed: Option<Closed>) -> Response {
    let events = events(acts, |act| matches!(act, Act::End));
    // The stream has it, so that both end at the same time.
    event_stream(events.inspect(move |_| _ = &closed))
}

/// The messages of a script as events, until an act that ends them.
fn events(acts: UnboundedReceiver<Act>, ends: fn(&Act) -> bool) -> impl Stream<Item = String> {
    stream::unfold(acts, move |mut acts| async move {
        loop {
            match acts.recv().await? {
                act if ends(&act) => return None,
                Act::Message(text) => return Some((event("message", &text), acts)),
                Act::Checkpoint(id, retry) => {
                    return Some((format!("id: {id}\nretry: {retry}\ndata:\n\n"), acts));
                }
                Act::Wait(time) => pause(time).await,
                _ => {}
            }
        }
    })
}

fn event_stream<S>(events: S) -> Response
where
    S: Stream<Item = String> + Send + 'static,
{
    let body = Body::from_stream(events.map(Ok::<_, Infallible>));
    ([(header::CONTENT_TYPE, "text/event-stream")], body).into_response()
}

fn event(name: &str, data: &str) -> String {
    format!("event: {name}\ndata: {data}\n\n")
}

/// A GET of streamable HTTP.
async fn common_stream(State(server): State<Server>, headers: HeaderMap) -> Response {
    if let Some(event) = headers.get("last-event-id") {
        let event = String::from_utf8_lossy(event.as_bytes());
        server.log(json!({ "http": "GET", "after": event }));
        let (stage, acts) = mpsc::unbounded_channel();
        if server.puppet.player().go_on_after(&event, &stage) {
            return stream_of(acts, None);
        }
    } else {
        server.log(json!({ "http": "GET" }));
    }
    let script = server.puppet.player().script.clone();
    if script.hangs_on_get {
        std::future::pending::<()>().await;
    }
    if script.has_common_stream {
        return event_stream(stream::pending());
    }
    StatusCode::METHOD_NOT_ALLOWED.into_response()
}

async fn end(State(server): State<Server>, headers: HeaderMap) -> StatusCode {
    let session = headers.get(SESSION).and_then(|id| id.to_str().ok());
    server.log(json!({ "http": "DELETE", "session": session }));
    StatusCode::OK
}

/// The event stream of HTTP+SSE.
async fn open_sse(State(server): State<Server>, headers: HeaderMap) -> Response {
    server.log(json!({ "headers": described(&headers) }));
    let (stage, acts) = mpsc::unbounded_channel();
    let mut streams = server
        .streams
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    let id = format!("{}", streams.len() + 1);
    streams.insert(id.clone(), stage);
    drop(streams);
    let script = server.puppet.player().script.clone();
    let endpoint = script.endpoint;
    let endpoint = endpoint.unwrap_or_else(|| format!("/messages/{id}"));
    let first = stream::once(async move { event("endpoint", &endpoint) });
    let rest = events(acts, |act| matches!(act, Act::Exit(_)));
    event_stream(first.chain(rest))
}

/// A message of HTTP+SSE. Its answer is an event.
async fn sse_message(
    State(server): State<Server>,
    Path(session): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> StatusCode {
    server.log(json!({ "headers": described(&headers) }));
    let Some(stage) = server.stage(&session) else {
        return StatusCode::NOT_FOUND;
    };
    let message: Value = serde_json::from_slice(&body).unwrap_or_default();
    let script = server.puppet.player().script.clone();
    let hangs = script.hangs_on_post;
    let hangs = hangs.is_some_and(|method| message["method"] == *method);
    let fails = script.fails_on_post;
    let fails = fails.filter(|posts| message["method"] == *posts.method);
    server.puppet.player().play(message, stage);
    if hangs {
        std::future::pending::<()>().await;
    }
    match fails {
        Some(posts) => server.fail(&posts).await,
        None => StatusCode::ACCEPTED,
    }
}

impl Server {
    /// The event stream of a session of HTTP+SSE.
    fn stage(&self, session: &str) -> Option<Stage> {
        let streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        streams.get(session).cloned()
    }

    /// The status of a POST that fails.
    async fn fail(&self, posts: &FailingPosts) -> StatusCode {
        pause(Duration::from_millis(posts.wait_ms)).await;
        self.log(json!({ "http": posts.status.to_string() }));
        StatusCode::from_u16(posts.status).unwrap_or_default()
    }

    fn log(&self, entry: Value) {
        self.puppet.player().log.push(entry);
    }

    fn start_session(&self) -> String {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let id = format!("session-{}", sessions.len() + 1);
        sessions.insert(id.clone(), 0);
        id
    }

    /// Counts a message of a session, and returns whether the session is too old for it.
    fn is_expired(&self, id: &str) -> bool {
        let Some(rules) = self.puppet.player().script.sessions else {
            return false;
        };
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let lasts = match id {
            "session-1" => rules.first_lasts,
            _ => rules.others_last,
        };
        let Some(messages) = sessions.get_mut(id) else {
            return true;
        };
        *messages += 1;
        lasts.is_some_and(|lasts| *messages > lasts)
    }
}

/// Headers as an object, for the log.
fn described(headers: &HeaderMap) -> Value {
    let headers = headers.iter();
    headers
        .map(|(name, value)| {
            let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
            (name.to_string(), Value::from(value))
        })
        .collect()
}
