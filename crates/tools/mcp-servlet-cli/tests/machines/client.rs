//! A minimal MCP client that keeps its connections open.

use std::io::{BufRead as _, BufReader};

use puppet::PATIENCE;
use serde_json::{Value, json};
use ureq::{Agent, Body, http::Response};

/// A client of one address.
pub(crate) struct Client {
    agent: Agent,
    /// The URL without a path.
    root: String,
}

/// A response whose status is known.
pub(crate) struct Answer(Response<Body>);

impl Client {
    pub(crate) fn new(address: &str) -> Self {
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(PATIENCE));
        Self {
            agent: agent.build().into(),
            root: format!("http://{address}"),
        }
    }

    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Result<Answer, String> {
        let uri = format!("{}{path}", self.root);
        let request = ureq::http::Request::builder().method(method).uri(uri);
        let request = headers.iter().fold(request, |request, (name, value)| {
            request.header(*name, *value)
        });
        let request = request.body(body.to_owned()).expect("a request");
        let response = self.agent.run(request);
        response.map(Answer).map_err(|error| error.to_string())
    }

    pub(crate) fn post(&self, headers: &[(&str, &str)], message: &Value) -> Result<Answer, String> {
        let own = [
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
        ];
        self.send(
            "POST",
            "/mcp",
            &[&own, headers].concat(),
            &message.to_string(),
        )
    }

    /// The answer to a request since 2026-07-28 of a client with elicitation, and maybe with tasks.
    pub(crate) fn ask(
        &self,
        method: &str,
        mut params: Value,
        tasks: bool,
    ) -> Result<Value, String> {
        let mut capabilities = json!({ "elicitation": {} });
        if tasks {
            capabilities["extensions"] = json!({ "io.modelcontextprotocol/tasks": {} });
        }
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "c", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": capabilities,
        });
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let params = &message["params"];
        let mut headers = vec![
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", method),
        ];
        let name = params["name"].as_str().or(params["taskId"].as_str());
        headers.extend(name.map(|name| ("mcp-name", name)));
        self.post(&headers, &message)?.message()
    }

    /// Opens a session of 2025-11-25, and returns its id.
    pub(crate) fn open(&self) -> Result<String, String> {
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": { "elicitation": {} },
            "clientInfo": { "name": "c", "version": "1" },
        });
        let message =
            json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        let opened = self.post(&[], &message)?;
        let id = opened.0.headers().get("mcp-session-id").cloned();
        let status = opened.status();
        let body = opened.message();
        let id = id.ok_or_else(|| format!("no session: {status} {body:?}"))?;
        let id = id.to_str().expect("ASCII").to_owned();
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        self.post_in(&id, &initialized)?.expect_status(202)?;
        Ok(id)
    }

    pub(crate) fn post_in(&self, session: &str, message: &Value) -> Result<Answer, String> {
        let headers = [
            ("mcp-session-id", session),
            ("mcp-protocol-version", "2025-11-25"),
        ];
        self.post(&headers, message)
    }

    /// Calls `greet` since 2026-07-28.
    pub(crate) fn greet(&self) -> Result<(), String> {
        let answer = self.ask("tools/call", greeting(), false)?;
        is_greeting(&answer)
    }

    /// Calls `greet` in a session.
    pub(crate) fn greet_in(&self, session: &str) -> Result<(), String> {
        let answer = self.post_in(session, &request("tools/call", &greeting()))?;
        is_greeting(&answer.expect_status(200)?.message()?)
    }
}

impl Answer {
    pub(crate) fn status(&self) -> u16 {
        self.0.status().as_u16()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.0.headers().get(name)?.to_str().ok()
    }

    /// Fails with the body unless the status is this one.
    pub(crate) fn expect_status(mut self, status: u16) -> Result<Self, String> {
        if self.status() == status {
            return Ok(self);
        }
        let body = self.0.body_mut().read_to_string();
        Err(format!("{} {body:?}", self.0.status()))
    }

    /// The only message of the body.
    pub(crate) fn message(mut self) -> Result<Value, String> {
        let text = self.0.body_mut().read_to_string();
        let text = text.map_err(|error| error.to_string())?;
        let mut lines = text.lines();
        let data = lines.find_map(|line| line.strip_prefix("data: {"));
        let json = data.map_or_else(|| text.clone(), |rest| format!("{{{rest}"));
        serde_json::from_str(&json).map_err(|error| format!("{} {error}: {text}", self.0.status()))
    }

    /// The messages of a stream of events, when they arrive.
    pub(crate) fn messages(self) -> impl Iterator<Item = Value> {
        let lines = BufReader::new(self.0.into_body().into_reader()).lines();
        lines.map_while(Result::ok).filter_map(|line| {
            let data = line.strip_prefix("data: ")?;
            serde_json::from_str(data).ok()
        })
    }

    /// The lines of a stream, when they arrive.
    pub(crate) fn lines(self) -> impl Iterator<Item = String> {
        let lines = BufReader::new(self.0.into_body().into_reader()).lines();
        lines.map_while(Result::ok)
    }
}

pub(crate) fn request(method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })
}

pub(crate) fn greeting() -> Value {
    json!({ "name": "greet", "arguments": { "name": "Ada" } })
}

fn is_greeting(answer: &Value) -> Result<(), String> {
    match answer["result"]["content"][0]["text"].as_str() {
        Some("Hello, Ada!") => Ok(()),
        _ => Err(answer.to_string()),
    }
}
