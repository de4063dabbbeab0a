//! Minimal MCP clients over streamable HTTP.

use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use serde_json::{Value, json};
use ureq::Agent;
use ureq::tls::TlsConfig;

use crate::peer::initialize;
use crate::process::Process;
use crate::stdio::ANSWER_TIMEOUT;

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

    pub(crate) fn port(&self) -> anyhow::Result<u16> {
        let port = self
            .url
            .rsplit([':', '/'])
            .find_map(|part| part.parse().ok());
        port.with_context(|| format!("{} has no port", self.url))
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
        while let Err(error) = Client::open(&server.url).and_then(Client::close) {
            let took = started.elapsed();
            ensure!(
                took < ANSWER_TIMEOUT,
                "`{program}` does not answer: {error:#}"
            );
            thread::sleep(Duration::from_millis(100));
        }
        Ok(server)
    }
}

/// A port that is free now.
pub(crate) fn free_port() -> anyhow::Result<u16> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

/// The protocol version of clients with a session.
const WITH_SESSION: &str = "2025-06-18";
/// The protocol version of clients without one.
pub(crate) const STATELESS: &str = "2026-07-28";

/// The `_meta` of each request of a client without a session.
pub(crate) fn stateless_meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": STATELESS,
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

/// A client, with a session or without.
pub(crate) struct Client {
    agent: Agent,
    url: String,
    version: &'static str,
    id: Option<String>,
    /// The bearer token of the caller.
    pub(crate) token: Option<String>,
    last: u64,
}

/// A response, which may have the status of an error.
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) body: String,
}

impl Response {
    fn into_body(self) -> anyhow::Result<String> {
        let Self { status, body } = self;
        ensure!((200..300).contains(&status), "HTTP status {status}: {body}");
        Ok(body)
    }
}

impl Client {
    fn new(url: &str, version: &'static str) -> Self {
        let agent: Agent = Agent::config_builder()
            .http_status_as_error(false)
            // `timeout_global` makes ureq resolve the address in a new thread for each request.
            .timeout_connect(Some(ANSWER_TIMEOUT))
            .timeout_send_body(Some(ANSWER_TIMEOUT))
            .timeout_recv_response(Some(ANSWER_TIMEOUT))
            .timeout_recv_body(Some(ANSWER_TIMEOUT))
            // Each run makes its own certificate authority.
            .tls_config(TlsConfig::builder().disable_verification(true).build())
            .build()
            .into();
        Self {
            agent,
            url: url.to_owned(),
            version,
            id: None,
            token: None,
            last: 0,
        }
    }

    /// A client of the protocol since 2026-07-28, which has no sessions.
    pub(crate) fn stateless(url: &str) -> Self {
        Self::new(url, STATELESS)
    }

    /// A client of an earlier protocol version. The response to `initialize` gives it a session.
    pub(crate) fn with_session(url: &str) -> Self {
        Self::new(url, WITH_SESSION)
    }

    /// A client in a session.
    pub(crate) fn open(url: &str) -> anyhow::Result<Self> {
        Self::open_with(url, None)
    }

    /// The same, for a caller who is known by a token.
    fn open_with(url: &str, token: Option<String>) -> anyhow::Result<Self> {
        let mut client = Self::with_session(url);
        client.token = token;
        client.request("initialize", &initialize())?;
        let opened = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        client.post(&opened)?.into_body()?;
        Ok(client)
    }

    pub(crate) fn has_session(&self) -> bool {
        self.id.is_some()
    }

    /// The only answer to a request: its result or its error.
    pub(crate) fn request(&mut self, method: &str, params: &Value) -> anyhow::Result<Value> {
        let body = self.send(method, params)?.into_body()?;
        let mut answers: Vec<Value> = body
            .lines()
            .filter_map(|line| {
                let json = line.strip_prefix("data:").unwrap_or(line);
                serde_json::from_str::<Value>(json).ok()
            })
            .filter(|answer| answer["id"] == self.last)
            .collect();
        ensure!(answers.len() == 1, "`{method}` is answered by {body:?}");
        Ok(answers.remove(0))
    }

    /// Sends a request, whatever the status of its response.
    pub(crate) fn send(&mut self, method: &str, params: &Value) -> anyhow::Result<Response> {
        self.last += 1;
        let mut message =
            json!({ "jsonrpc": "2.0", "id": self.last, "method": method, "params": params });
        if self.is_stateless() {
            message["params"]["_meta"] = stateless_meta();
        }
        self.post(&message)
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

    fn is_stateless(&self) -> bool {
        self.version == STATELESS
    }

    fn post(&mut self, message: &Value) -> anyhow::Result<Response> {
        let mut request = self
            .agent
            .post(&self.url)
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", self.version);
        if self.is_stateless() {
            for (name, value) in [
                ("mcp-method", &message["method"]),
                ("mcp-name", &message["params"]["name"]),
            ] {
                if let Some(value) = value.as_str() {
                    request = request.header(name, value);
                }
            }
        }
        if let Some(id) = &self.id {
            request = request.header("mcp-session-id", id);
        }
        if let Some(token) = &self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let mut response = request.send(message.to_string())?;
        if let Some(id) = response.headers().get("mcp-session-id") {
            self.id = Some(id.to_str()?.to_owned());
        }
        Ok(Response {
            status: response.status().as_u16(),
            body: response.body_mut().read_to_string()?,
        })
    }

    /// Ends the session, if there is one, as clients should.
    pub(crate) fn close(self) -> anyhow::Result<()> {
        if let Some(id) = &self.id {
            let mut request = self.agent.delete(&self.url).header("mcp-session-id", id);
            if let Some(token) = &self.token {
                request = request.header("authorization", format!("Bearer {token}"));
            }
            request.call()?;
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
    /// Bearer tokens, which the calls use in turn. With as many tokens as clients, each client always uses the same one. Empty for calls
    /// without a token.
    pub(crate) tokens: Vec<String>,
}

impl Clients<'_> {
    /// Makes all calls, and returns how many there were per second.
    pub(crate) fn run(&self, url: &str) -> anyhow::Result<f64> {
        let mut clients: Vec<Client> = (0..self.clients)
            .map(|client| Client::open_with(url, self.token(client, 0)))
            .collect::<Result<_, _>>()?;
        let start = Instant::now();
        thread::scope(|scope| {
            let threads: Vec<_> = clients
                .iter_mut()
                .enumerate()
                .map(|(number, client)| {
                    let call = move |call| {
                        client.token = self.token(number, call);
                        client.call(self.tool, &self.arguments)
                    };
                    scope.spawn(move || (0..self.calls).try_for_each(call))
                })
                .collect();
            threads
                .into_iter()
                .try_for_each(|thread| thread.join().expect("clients do not panic"))
        })?;
        let rate = (self.clients * self.calls) as f64 / start.elapsed().as_secs_f64();
        clients.into_iter().try_for_each(Client::close)?;
        Ok(rate)
    }

    /// The token with which a client makes a call.
    fn token(&self, client: usize, call: usize) -> Option<String> {
        let turn = client + call * self.clients;
        let token = self.tokens.get(turn % self.tokens.len().max(1));
        token.cloned()
    }
}
