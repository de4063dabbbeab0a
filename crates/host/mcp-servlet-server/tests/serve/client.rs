//! A server on a port of its own, and a plain HTTP client.

use std::{
    io::{BufRead as _, BufReader, Read},
    sync::Arc,
    thread::JoinHandle,
};

use mcp_servlet_host::Host;
use mcp_servlet_server::{HttpOptions, Plan, ServeOptions, Server, Service};
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use ureq::{Body, http::Response};

/// A server on a port of its own, and a client.
pub(crate) struct Served {
    pub(crate) service: Arc<Service>,
    pub(crate) server: Server,
    pub(crate) address: String,
    thread: Option<JoinHandle<()>>,
}

/// A response.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) session: Option<String>,
    /// `Access-Control-Allow-Origin`.
    pub(crate) origin: Option<String>,
    pub(crate) content_type: Option<String>,
    pub(crate) retry_after: Option<String>,
    pub(crate) body: String,
}

impl Answer {
    /// The message in the body, or the last one of a stream.
    pub(crate) fn message(&self) -> Value {
        self.messages().pop().unwrap_or_default()
    }

    pub(crate) fn messages(&self) -> Vec<Value> {
        if self.body.starts_with('{') {
            return vec![serde_json::from_str(&self.body).expect("JSON")];
        }
        let events = self
            .body
            .lines()
            .filter_map(|line| line.strip_prefix("data:"));
        let events = events.filter(|data| !data.trim().is_empty());
        events
            .map(|data| serde_json::from_str(data).expect("JSON"))
            .collect()
    }

    pub(crate) fn code(&self) -> (u16, i64) {
        let message = self.message();
        let code = message["error"]["code"].as_i64();
        (self.status, code.unwrap_or_else(|| panic!("{self:?}")))
    }
}

impl Served {
    pub(crate) fn start(host: Host) -> Self {
        Self::start_with(host, ServeOptions::default(), HttpOptions::default())
    }

    pub(crate) fn start_with(host: Host, options: ServeOptions, http: HttpOptions) -> Self {
        let mut plan = Plan::from_host(host);
        plan.options = options;
        Self::start_plan(plan, http)
    }

    /// Serves a plan over HTTP.
    pub(crate) fn start_plan(mut plan: Plan, http: HttpOptions) -> Self {
        plan.transports.http = Some(("127.0.0.1:0".to_owned(), http));
        let runtime = Runtime::new().expect("a runtime");
        let service = runtime.block_on(Service::start(plan));
        let service = Arc::new(service.unwrap_or_else(|error| panic!("{error}")));
        let serving = Arc::clone(&service);
        let thread = std::thread::spawn(move || {
            runtime.block_on(serving.run()).expect("no error");
        });
        Self {
            server: service.server().clone(),
            address: service.listeners()[0].address.to_string(),
            service,
            thread: Some(thread),
        }
    }

    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Answer {
        let request = ureq::http::Request::builder()
            .method(method)
            .uri(format!("http://{}{path}", self.address));
        let request = headers.iter().fold(request, |request, (name, value)| {
            request.header(*name, *value)
        });
        let agent: ureq::Agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .allow_non_standard_methods(true)
            .build()
            .into();
        let request = request.body(body.to_owned()).expect("a request");
        let mut response = agent.run(request).expect("an answer");
        let session = response.headers().get("mcp-session-id");
        let origin = response.headers().get("access-control-allow-origin");
        let content_type = response.headers().get("content-type");
        let retry_after = response.headers().get("retry-after");
        Answer {
            retry_after: retry_after.map(|value| value.to_str().expect("text").to_owned()),
            content_type: content_type.map(|value| value.to_str().expect("text").to_owned()),
            origin: origin.map(|origin| origin.to_str().expect("text").to_owned()),
            status: response.status().as_u16(),
            session: session.map(|id| id.to_str().expect("text").to_owned()),
            body: response.body_mut().read_to_string().expect("text"),
        }
    }

    pub(crate) fn post(&self, headers: &[(&str, &str)], body: &str) -> Answer {
        let mut all = vec![
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
        ];
        all.extend(headers);
        self.send("POST", "/mcp", &all, body)
    }

    /// Sends a request since 2026-07-28.
    pub(crate) fn ask(&self, method: &str, params: Value) -> Answer {
        self.ask_with(&[], method, params)
    }

    pub(crate) fn ask_with(&self, more: &[(&str, &str)], method: &str, params: Value) -> Answer {
        let name = params["name"].as_str().or(params["uri"].as_str());
        let name = name.unwrap_or_default().to_owned();
        let mut headers = vec![
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", method),
        ];
        if !name.is_empty() {
            headers.push(("mcp-name", &name));
        }
        headers.extend(more);
        self.post(&headers, &stateless(method, params))
    }

    /// Opens a session and returns its id.
    pub(crate) fn open(&self) -> String {
        self.open_with(&json!({}))
    }

    /// Opens a session as a client with these capabilities.
    pub(crate) fn open_with(&self, capabilities: &Value) -> String {
        let opened = self.post(&[], &initialize(capabilities));
        let session = opened.session.clone();
        let session = session.unwrap_or_else(|| panic!("{opened:?}"));
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(self.in_session(&session, &ready).status, 202);
        session
    }

    /// Sends a request in a session. Each request from the server gets a result, until the response arrives.
    pub(crate) fn converse(
        &self,
        session: &str,
        message: &Value,
        answer: impl FnMut(&Value) -> Value,
    ) -> Value {
        self.converse_on(self.begin(session, message), session, answer)
    }

    /// The same, on a stream that is already open.
    pub(crate) fn converse_on(
        &self,
        mut response: Response<Body>,
        session: &str,
        mut answer: impl FnMut(&Value) -> Value,
    ) -> Value {
        for heard in messages(&mut response) {
            if heard.get("method").is_none() {
                return heard;
            }
            let result = answer(&heard);
            let reply = json!({"jsonrpc": "2.0", "id": heard["id"], "result": result});
            assert_eq!(self.in_session(session, &reply).status, 202);
        }
        panic!("the stream ended without a response");
    }

    /// The first messages on the stream of a session that belong to no request, after `act` has run.
    pub(crate) fn notifications<const N: usize>(
        &self,
        session: &str,
        act: impl FnOnce(),
    ) -> [Value; N] {
        let mut stream = self.listen(session, None);
        act();
        let mut messages = messages(&mut stream);
        std::array::from_fn(|_| messages.next().expect("a message"))
    }

    /// Sends a request, drops the stream as soon as it has begun, and resumes it.
    pub(crate) fn lose_and_resume(&self, session: &str, message: &Value) -> Response<Body> {
        let mut begun = self.begin(session, message);
        let lines = BufReader::new(begun.body_mut().as_reader()).lines();
        let mut lines = lines.map(|line| line.expect("a line"));
        let last = lines.find_map(|line| Some(line.strip_prefix("id:")?.trim().to_owned()));
        assert!(last.is_some(), "the stream says how to resume it");
        drop(lines);
        drop(begun);
        self.listen(session, last)
    }

    fn begin(&self, session: &str, message: &Value) -> Response<Body> {
        ureq::post(format!("http://{}/mcp", self.address))
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-session-id", session)
            .send(message.to_string())
            .expect("an answer")
    }

    /// Opens the stream of a session.
    pub(crate) fn listen(&self, session: &str, from: Option<String>) -> Response<Body> {
        let mut request = ureq::get(format!("http://{}/mcp", self.address))
            .header("accept", "text/event-stream")
            .header("mcp-session-id", session);
        if let Some(last) = from {
            request = request.header("last-event-id", last);
        }
        request.call().expect("a stream")
    }

    pub(crate) fn in_session(&self, session: &str, message: &Value) -> Answer {
        let headers = [
            ("mcp-session-id", session),
            ("mcp-protocol-version", "2025-11-25"),
        ];
        self.post(&headers, &message.to_string())
    }
}

/// The messages of a stream.
fn messages(stream: &mut Response<Body>) -> impl Iterator<Item = Value> {
    messages_of(stream.body_mut().as_reader())
}

/// The messages in an event stream.
pub(crate) fn messages_of<R: Read>(stream: R) -> impl Iterator<Item = Value> {
    let lines = BufReader::new(stream).lines();
    lines.filter_map(|line| {
        let line = line.expect("a line");
        let data = line
            .strip_prefix("data:")
            .filter(|data| data.contains('{'))?;
        Some(serde_json::from_str(data).expect("JSON"))
    })
}

impl Drop for Served {
    fn drop(&mut self) {
        self.service.begin_stop();
        let ended = self.thread.take().expect("a thread").join();
        assert!(ended.is_ok() || std::thread::panicking());
    }
}

pub(crate) fn initialize(capabilities: &Value) -> String {
    json!({
        "jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": {"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": {"name": "c", "version": "1"}},
    })
    .to_string()
}

/// A request since 2026-07-28. The client has no capabilities unless the parameters name some.
pub(crate) fn stateless(method: &str, mut params: Value) -> String {
    let meta = &mut params["_meta"];
    meta["io.modelcontextprotocol/protocolVersion"] = "2026-07-28".into();
    meta["io.modelcontextprotocol/clientInfo"] = json!({"name": "c", "version": "1"});
    let capabilities = &mut meta["io.modelcontextprotocol/clientCapabilities"];
    if capabilities.is_null() {
        *capabilities = json!({});
    }
    request(method, params).to_string()
}

pub(crate) fn request(method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

/// A service without listeners.
pub(crate) async fn start(host: Host, options: ServeOptions) -> Service {
    let mut plan = Plan::from_host(host);
    plan.options = options;
    let started = Service::start(plan).await;
    started.unwrap_or_else(|error| panic!("{error}"))
}
