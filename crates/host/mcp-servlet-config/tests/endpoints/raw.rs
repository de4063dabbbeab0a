//! Clients of each transport and protocol version that return messages as the server sent them.

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};
use ureq::{Body, http::Response};

use crate::{
    http::{header, post, post_stateless, stateless},
    site::{Site, WAYS, Way},
    sse::Stream,
};

pub(crate) const MODERN: &str = "2026-07-28";
const LEGACY: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

pub(crate) struct Client {
    pub(crate) version: &'static str,
    /// The transport and the version, for messages of assertions.
    pub(crate) name: String,
    wire: Wire,
}

/// What carries the messages.
enum Wire {
    Pipe(BufReader<DuplexStream>),
    Sse(Box<Stream>),
    /// The URL, and the id of the session once it is open.
    Session(String, Option<String>),
    Stateless(String),
}

impl Client {
    /// A client of each transport and protocol version, at the endpoints `web`, `old` and `pipe`.
    pub(crate) async fn all(site: &Site) -> Vec<Self> {
        let mut all = Vec::new();
        for (way, endpoint) in WAYS {
            let versions: &[_] = match way {
                Way::HttpModern | Way::PipeModern => &[MODERN],
                Way::HttpLegacy | Way::Sse | Way::PipeLegacy => &LEGACY,
            };
            for &version in versions {
                all.push(Self::connect(site, way, endpoint, version).await);
            }
        }
        all
    }

    async fn connect(site: &Site, way: Way, endpoint: &str, version: &'static str) -> Self {
        let wire = match way {
            Way::PipeLegacy | Way::PipeModern => Wire::Pipe(BufReader::new(site.pipe(endpoint))),
            Way::Sse => Wire::Sse(Box::new(Stream::open(site))),
            Way::HttpLegacy => Wire::Session(site.url(endpoint).to_owned(), None),
            Way::HttpModern => Wire::Stateless(site.url(endpoint).to_owned()),
        };
        let name = format!("{way:?} {version}");
        let mut client = Self {
            version,
            name,
            wire,
        };
        if version != MODERN {
            client.open().await;
        }
        client
    }

    async fn open(&mut self) {
        let info = json!({ "name": "c", "version": "1" });
        let params =
            json!({ "protocolVersion": self.version, "capabilities": {}, "clientInfo": info });
        let opened = self.ask("initialize", params).await;
        let version = &opened["result"]["protocolVersion"];
        assert_eq!(*version, self.version, "{}: {opened}", self.name);
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        self.wire.send(&initialized).await;
    }

    /// The response to the call of a tool.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        self.ask("tools/call", params).await
    }

    async fn ask(&mut self, method: &str, params: Value) -> Value {
        let request = match self.version {
            MODERN => stateless(method, params),
            _ => json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }),
        };
        let response = self.wire.send(&request).await;
        response.expect("a response to a request")
    }
}

impl Wire {
    /// Sends a message, and returns the response if it is a request.
    async fn send(&mut self, message: &Value) -> Option<Value> {
        let is_request = message.get("id").is_some();
        match self {
            Self::Pipe(pipe) => {
                let line = format!("{message}\n");
                let written = pipe.write_all(line.as_bytes()).await;
                written.expect("the server reads");
                if !is_request {
                    return None;
                }
                let mut line = String::new();
                pipe.read_line(&mut line).await.expect("a line");
                Some(serde_json::from_str(&line).expect("JSON"))
            }
            Self::Sse(stream) => {
                assert_eq!(stream.post(&message.to_string()), 202);
                is_request.then(|| stream.next().expect("a message"))
            }
            Self::Session(url, id) => {
                let headers = id.as_deref().map(|id| ("mcp-session-id", id));
                let response = post(url, headers.as_slice(), &message.to_string());
                if id.is_none() {
                    *id = header(&response, "mcp-session-id").map(str::to_owned);
                }
                is_request.then(|| body(response))
            }
            Self::Stateless(url) => Some(body(post_stateless(url, message))),
        }
    }
}

fn body(mut response: Response<Body>) -> Value {
    let text = response.body_mut().read_to_string().expect("text");
    serde_json::from_str(&text).expect("JSON")
}
