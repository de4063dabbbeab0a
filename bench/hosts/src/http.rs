//! Minimal MCP clients over streamable HTTP.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Instant;

use anyhow::{Context, bail, ensure};
use serde_json::{Value, json};
use ureq::Agent;

use crate::peer::initialize;
use crate::process::Process;

/// A running server.
pub(crate) struct Listening {
    pub(crate) process: Process,
    pub(crate) url: String,
}

impl Listening {
    /// Starts a server that prints its URL to standard error.
    pub(crate) fn start(command: &mut Command) -> anyhow::Result<Self> {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        let errors = child.stderr.take().context("it is piped")?;
        let process = Process(child);
        let mut lines = BufReader::new(errors).lines();
        let url = loop {
            let line = lines
                .next()
                .context("the server ended before it listened")??;
            if let Some((_, address)) = line.split_once("listening on ") {
                break address.trim().to_owned();
            }
        };
        // Drains standard error, so that the server never blocks on a full pipe.
        thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
        Ok(Self { process, url })
    }
}

/// A client with a session.
pub(crate) struct Session {
    agent: Agent,
    url: String,
    id: Option<String>,
    last: u64,
}

impl Session {
    pub(crate) fn open(url: &str) -> anyhow::Result<Self> {
        let agent: Agent = Agent::config_builder()
            .http_status_as_error(false)
            .build()
            .into();
        let mut session = Self {
            agent,
            url: url.to_owned(),
            id: None,
            last: 0,
        };
        session.request("initialize", &initialize())?;
        session.post(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        Ok(session)
    }

    /// The result of a request, or its error.
    pub(crate) fn request(&mut self, method: &str, params: &Value) -> anyhow::Result<Value> {
        self.last += 1;
        let id = self.last;
        let body =
            self.post(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        let answers = body.lines().filter_map(|line| {
            let json = line.strip_prefix("data:").unwrap_or(line);
            serde_json::from_str::<Value>(json).ok()
        });
        let mut answers = answers.filter(|answer| answer["id"] == id);
        answers
            .next()
            .with_context(|| format!("`{method}` is answered by {body:?}"))
    }

    /// Calls a tool. An error result is an error here.
    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> anyhow::Result<()> {
        let answer = self.request(
            "tools/call",
            &json!({ "name": tool, "arguments": arguments }),
        )?;
        let result = &answer["result"];
        if result.is_null() || result["isError"] == true {
            bail!("a call failed: {answer}");
        }
        Ok(())
    }

    fn post(&mut self, message: &Value) -> anyhow::Result<String> {
        let mut request = self
            .agent
            .post(&self.url)
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", "2025-06-18");
        if let Some(id) = &self.id {
            request = request.header("mcp-session-id", id);
        }
        let mut response = request.send(message.to_string())?;
        if let Some(id) = response.headers().get("mcp-session-id") {
            self.id = Some(id.to_str()?.to_owned());
        }
        let status = response.status();
        let body = response.body_mut().read_to_string()?;
        ensure!(status.is_success(), "HTTP status {status}: {body}");
        Ok(body)
    }

    /// Ends the session, as clients should.
    pub(crate) fn close(self) -> anyhow::Result<()> {
        if let Some(id) = &self.id {
            self.agent
                .delete(&self.url)
                .header("mcp-session-id", id)
                .call()?;
        }
        Ok(())
    }
}

/// The calls per second of several clients. Each client waits for its responses.
pub(crate) fn throughput(
    url: &str,
    tool: &str,
    clients: usize,
    calls: usize,
) -> anyhow::Result<f64> {
    let arguments = json!({ "name": "Ada Lovelace" });
    let mut sessions = Vec::new();
    for _ in 0..clients {
        sessions.push(Session::open(url)?);
    }
    let start = Instant::now();
    thread::scope(|scope| {
        let clients: Vec<_> = sessions
            .iter_mut()
            .map(|session| {
                scope.spawn(|| (0..calls).try_for_each(|_| session.call(tool, &arguments)))
            })
            .collect();
        clients
            .into_iter()
            .try_for_each(|client| client.join().expect("clients do not panic"))
    })?;
    let rate = (clients * calls) as f64 / start.elapsed().as_secs_f64();
    sessions.into_iter().try_for_each(Session::close)?;
    Ok(rate)
}
