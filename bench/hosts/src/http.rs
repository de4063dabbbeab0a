//! Minimal MCP clients over streamable HTTP.

use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use serde_json::{Value, json};
use ureq::Agent;

use crate::peer::initialize;
use crate::process::Process;
use crate::stdio::PATIENCE;

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
        let mut log = String::new();
        let url = loop {
            let Some(line) = lines.next().transpose()? else {
                bail!("the server ended before it listened: {log}");
            };
            if let Some((_, address)) = line.split_once("listening on ") {
                break address.trim().to_owned();
            }
            log.extend([&line, "\n"]);
        };
        // Drains standard error, so that the server never blocks on a full pipe.
        thread::spawn(move || lines.map_while(Result::ok).for_each(drop));
        Ok(Self { process, url })
    }

    /// Starts a server whose MCP endpoint is `/mcp` on this port, and waits until it answers.
    pub(crate) fn start_on(port: u16, command: &mut Command) -> anyhow::Result<Self> {
        let program = command.get_program().to_string_lossy().into_owned();
        let child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot start `{program}`"))?;
        let server = Self {
            process: Process(child),
            url: format!("http://127.0.0.1:{port}/mcp"),
        };
        let started = Instant::now();
        while let Err(error) = Session::open(&server.url).and_then(Session::close) {
            let took = started.elapsed();
            ensure!(took < PATIENCE, "`{program}` does not answer: {error:#}");
            thread::sleep(Duration::from_millis(100));
        }
        Ok(server)
    }
}

/// A port that is free now.
pub(crate) fn free_port() -> anyhow::Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
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
            .timeout_global(Some(PATIENCE))
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

    /// The only response to a request: its result or its error.
    pub(crate) fn request(&mut self, method: &str, params: &Value) -> anyhow::Result<Value> {
        self.last += 1;
        let id = self.last;
        let body =
            self.post(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        let answers = body.lines().filter_map(|line| {
            let json = line.strip_prefix("data:").unwrap_or(line);
            serde_json::from_str::<Value>(json).ok()
        });
        let mut answers: Vec<Value> = answers.filter(|answer| answer["id"] == id).collect();
        ensure!(answers.len() == 1, "`{method}` is answered by {body:?}");
        Ok(answers.remove(0))
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

/// Calls of a tool by several clients. Each client waits for its responses.
pub(crate) struct Clients<'a> {
    pub(crate) tool: &'a str,
    pub(crate) arguments: Value,
    pub(crate) clients: usize,
    /// How many calls each of them makes.
    pub(crate) calls: usize,
}

impl Clients<'_> {
    /// Makes all calls, and returns how many there were per second.
    pub(crate) fn run(&self, url: &str) -> anyhow::Result<f64> {
        let sessions = (0..self.clients).map(|_| Session::open(url));
        let mut sessions: Vec<Session> = sessions.collect::<Result<_, _>>()?;
        let start = Instant::now();
        thread::scope(|scope| {
            let clients: Vec<_> = sessions
                .iter_mut()
                .map(|session| {
                    let call = |_| session.call(self.tool, &self.arguments);
                    scope.spawn(move || (0..self.calls).try_for_each(call))
                })
                .collect();
            clients
                .into_iter()
                .try_for_each(|client| client.join().expect("clients do not panic"))
        })?;
        let rate = (self.clients * self.calls) as f64 / start.elapsed().as_secs_f64();
        sessions.into_iter().try_for_each(Session::close)?;
        Ok(rate)
    }
}
