//! Requests and responses over HTTP.

use std::{
    cell::{OnceCell, RefCell},
    fmt,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
};

use puppet::PATIENCE;
use serde_json::{Value, json};
use ureq::{
    Agent, Body, Error,
    http::{HeaderMap, Request, Response, response::Parts},
};

use crate::message::{
    HANDSHAKE, able, event, initialize, initialized, messages, request, stateless,
};

/// A client of one URL. Each request has a connection of its own.
#[derive(Clone, Debug)]
pub struct Http {
    agent: Agent,
    url: String,
    headers: Vec<(String, String)>,
}

impl Http {
    /// A client that sends no headers of its own.
    pub fn new(url: impl Into<String>) -> Self {
        Self::with_connections(url.into(), 0)
    }

    /// The same, but it uses its connections again.
    pub fn keeping_connections(url: impl Into<String>) -> Self {
        Self::with_connections(url.into(), 10)
    }

    fn with_connections(url: String, idle: usize) -> Self {
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            .allow_non_standard_methods(true)
            .max_idle_connections(idle)
            .timeout_global(Some(PATIENCE));
        Self {
            agent: agent.build().into(),
            url,
            headers: Vec::new(),
        }
    }

    /// Its URL.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The host and port of the URL.
    pub fn address(&self) -> &str {
        let (_, rest) = self.url.split_once("://").expect("a scheme");
        rest.split('/').next().expect("a part")
    }

    /// The path of the URL, with its query.
    pub fn path(&self) -> &str {
        let (_, path) = self.url.split_once(self.address()).expect("its address");
        path
    }

    /// A client of another path of the same server.
    #[must_use]
    pub fn at(&self, path: &str) -> Self {
        let url = format!("http://{}{path}", self.address());
        Self {
            url,
            ..self.clone()
        }
    }

    /// A client that also sends this header. It replaces the one that a message would get.
    #[must_use]
    pub fn with(&self, name: &str, value: &str) -> Self {
        self.with_all(&[(name, value)])
    }

    /// The same with several headers.
    #[must_use]
    pub fn with_all(&self, headers: &[(&str, &str)]) -> Self {
        let mut client = self.clone();
        let headers = headers.iter();
        let headers = headers.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        client.headers.extend(headers);
        client
    }

    /// A client in a session that is open.
    #[must_use]
    pub fn in_session(&self, id: &str) -> Self {
        self.with_all(&[("mcp-session-id", id), ("mcp-protocol-version", HANDSHAKE)])
    }

    /// Posts the request that opens a session of 2025-11-25.
    pub fn initialize(&self) -> Answer {
        self.post(&initialize(HANDSHAKE))
    }

    /// Opens a session of 2025-11-25, and returns the client in it.
    #[must_use]
    pub fn open(&self) -> Self {
        self.open_with(json!({}))
    }

    /// The same for a client with these capabilities.
    #[must_use]
    pub fn open_with(&self, capabilities: Value) -> Self {
        let opened = self.post(&able(initialize(HANDSHAKE), capabilities));
        let session = self.in_session(&opened.session());
        assert_eq!(session.post(&initialized()).status(), 202);
        session
    }

    /// The id of the session in which this client is.
    pub fn session(&self) -> &str {
        self.header("mcp-session-id").expect("a session")
    }

    fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let (_, value) = headers.find(|(one, _)| one.eq_ignore_ascii_case(name))?;
        Some(value)
    }

    /// Sends a request: in the session of this client, or else one since 2026-07-28.
    pub fn ask(&self, method: &str, params: Value) -> Answer {
        answered(self.try_ask(method, params))
    }

    /// The same, if there may be no response.
    pub fn try_ask(&self, method: &str, params: Value) -> Result<Answer, Error> {
        match self.header("mcp-session-id") {
            Some(_) => self.try_post(&request(method, params)),
            None => self.try_post(&stateless(method, params)),
        }
    }

    /// Posts a message. If it is a [`stateless`] request, the headers repeat what they must.
    pub fn post(&self, message: &Value) -> Answer {
        answered(self.try_post(message))
    }

    /// The same, if there may be no response.
    pub fn try_post(&self, message: &Value) -> Result<Answer, Error> {
        self.for_message(message)
            .try_send("POST", &message.to_string())
    }

    /// Posts this text, whatever it is.
    pub fn post_text(&self, body: &str) -> Answer {
        self.for_message(&Value::Null).send("POST", body)
    }

    /// Opens the event stream of a session.
    pub fn listen(&self) -> Answer {
        self.with("accept", "text/event-stream").get()
    }

    /// Sends a `GET` request.
    pub fn get(&self) -> Answer {
        self.send("GET", "")
    }

    /// Sends a `DELETE` request, which ends a session.
    pub fn delete(&self) -> Answer {
        self.send("DELETE", "")
    }

    /// Sends a request with the headers of the client and no others.
    pub fn send(&self, method: &str, body: &str) -> Answer {
        answered(self.try_send(method, body))
    }

    /// The same, if there may be no response.
    pub fn try_send(&self, method: &str, body: &str) -> Result<Answer, Error> {
        let request = Request::builder().method(method).uri(&self.url);
        let headers = self.headers.iter();
        let request = headers.fold(request, |request, (name, value)| {
            request.header(name, value)
        });
        let request = request.body(body.to_owned()).expect("a request");
        self.agent.run(request).map(Answer::new)
    }

    /// Writes a message, and does not wait for its response. The end of the stream is the end of the client.
    pub fn begin(&self, message: &Value) -> TcpStream {
        let mut stream = TcpStream::connect(self.address()).expect("a connection");
        stream.set_read_timeout(Some(PATIENCE)).expect("a limit");
        let request = self.posted(message);
        stream.write_all(request.as_bytes()).expect("a request");
        stream
    }

    /// The bytes of the request that posts a message. The response ends the connection, unless the client has another header for that.
    pub fn posted(&self, message: &Value) -> String {
        let (path, address) = (self.path(), self.address());
        let body = message.to_string();
        let client = self.for_message(message);
        let client = client.with_default(&[("connection", "close")]);
        let headers = client.headers.iter();
        let headers = headers.map(|(name, value)| format!("{name}: {value}\r\n"));
        format!(
            "POST {path} HTTP/1.1\r\nhost: {address}\r\n{}content-length: {}\r\n\r\n{body}",
            headers.collect::<String>(),
            body.len()
        )
    }

    /// The client with the headers that a message needs.
    fn for_message(&self, message: &Value) -> Self {
        let params = &message["params"];
        let mut needed = vec![
            ("content-type", "application/json"),
            ("accept", "application/json, text/event-stream"),
        ];
        let version = params["_meta"]["io.modelcontextprotocol/protocolVersion"].as_str();
        if let (Some(version), Some(method)) = (version, message["method"].as_str()) {
            needed.extend([("mcp-protocol-version", version), ("mcp-method", method)]);
            let names = ["name", "uri", "taskId"].map(|key| params[key].as_str());
            let name = names.into_iter().flatten().next();
            needed.extend(name.map(|name| ("mcp-name", name)));
        }
        self.with_default(&needed)
    }

    /// The client with those of these headers that it does not have.
    fn with_default(&self, headers: &[(&str, &str)]) -> Self {
        let mut missing = headers.to_vec();
        missing.retain(|(name, _)| self.header(name).is_none());
        self.with_all(&missing)
    }
}

fn answered(response: Result<Answer, Error>) -> Answer {
    response.unwrap_or_else(|error| panic!("no response: {error}"))
}

/// The rest of what a server sends to a client that [began](Http::begin) a request: the whole response, if nothing was read.
pub fn rest(mut stream: TcpStream) -> String {
    stream.set_read_timeout(Some(PATIENCE)).expect("a limit");
    let mut response = Vec::new();
    stream.read_to_end(&mut response).expect("a response");
    String::from_utf8(response).expect("UTF-8")
}

/// A response, whose body may still be arriving.
pub struct Answer {
    head: Parts,
    /// None once it is read.
    body: RefCell<Option<Body>>,
    text: OnceCell<String>,
}

impl Answer {
    fn new(response: Response<Body>) -> Self {
        let (head, body) = response.into_parts();
        Self {
            head,
            body: RefCell::new(Some(body)),
            text: OnceCell::new(),
        }
    }

    /// Its status.
    pub fn status(&self) -> u16 {
        self.head.status.as_u16()
    }

    /// Its headers.
    pub fn headers(&self) -> &HeaderMap {
        &self.head.headers
    }

    /// The first header with this name.
    pub fn header(&self, name: &str) -> Option<&str> {
        Some(self.headers().get(name)?.to_str().expect("text"))
    }

    /// The id of the session that it opens.
    pub fn session(&self) -> String {
        let id = self.header("mcp-session-id");
        id.unwrap_or_else(|| panic!("no session: {self:?}"))
            .to_owned()
    }

    /// The whole body.
    pub fn text(&self) -> &str {
        self.try_text().expect("the end of the body")
    }

    /// The same, if the connection may end before it.
    pub fn try_text(&self) -> Result<&str, Error> {
        if let Some(mut body) = self.body.take() {
            let text = body.read_to_string()?;
            self.text.set(text).expect("the body is read once");
        }
        Ok(self.text.get().expect("the body has arrived"))
    }

    /// All messages of the body.
    pub fn messages(&self) -> Vec<Value> {
        messages(self.text())
    }

    /// The only message of the body.
    pub fn message(&self) -> Value {
        let mut all = self.messages();
        assert_eq!(all.len(), 1, "messages of {self:?}");
        all.remove(0)
    }

    /// The status, and the code of the error.
    pub fn code(&self) -> (u16, i64) {
        let code = self.message()["error"]["code"].as_i64();
        let code = code.unwrap_or_else(|| panic!("no error: {self:?}"));
        (self.status(), code)
    }

    /// The messages of an event stream, when they arrive.
    pub fn into_events(self) -> impl Iterator<Item = Value> {
        self.into_lines().filter_map(|line| event(&line))
    }

    /// The lines of the body, when they arrive.
    pub fn into_lines(self) -> impl Iterator<Item = String> {
        let body = self.body.into_inner().expect("the text is not read");
        let lines = BufReader::new(body.into_reader()).lines();
        lines.map_while(|line| {
            line.map_err(|error| assert!(!is_late(&error), "{error}"))
                .ok()
        })
    }
}

/// Whether the time is over, which is not the end of a stream.
fn is_late(error: &std::io::Error) -> bool {
    let inner = error.get_ref();
    let inner = inner.and_then(|error| error.downcast_ref::<Error>());
    matches!(inner, Some(Error::Timeout(_)))
}

impl fmt::Debug for Answer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {:?}", self.head.status, self.try_text())
    }
}
