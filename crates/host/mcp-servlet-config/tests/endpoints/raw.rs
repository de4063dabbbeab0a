//! Clients of each transport and protocol version that return messages as the server sent them.

use serde_json::{Value, json};
use wire::{
    Http, Pipe, Sse,
    message::{STATELESS, initialize, initialized, request, stateless},
};

use crate::site::{Site, WAYS, Way};

const LEGACY: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

pub(crate) struct Client {
    pub(crate) version: &'static str,
    /// The transport and the version, for messages of assertions.
    pub(crate) name: String,
    wire: Wire,
}

/// What carries the messages.
enum Wire {
    Pipe(Pipe),
    Sse(Sse),
    Http(Http),
}

impl Client {
    /// A client of each transport and protocol version, at the endpoints `web`, `old` and `pipe`.
    pub(crate) async fn all(site: &Site) -> Vec<Self> {
        let mut all = Vec::new();
        for (way, endpoint) in WAYS {
            let versions: &[_] = match way {
                Way::HttpModern | Way::PipeModern => &[STATELESS],
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
            Way::PipeLegacy | Way::PipeModern => Wire::Pipe(Pipe::new(site.pipe(endpoint))),
            Way::Sse => Wire::Sse(Sse::open(&site.http(endpoint))),
            Way::HttpLegacy | Way::HttpModern => Wire::Http(site.http(endpoint)),
        };
        let name = format!("{way:?} {version}");
        let mut client = Self {
            version,
            name,
            wire,
        };
        if version != STATELESS {
            client.open().await;
        }
        client
    }

    async fn open(&mut self) {
        let opened = self.wire.ask(&initialize(self.version)).await;
        let version = &opened["result"]["protocolVersion"];
        assert_eq!(*version, self.version, "{}: {opened}", self.name);
        self.wire.send(&initialized()).await;
    }

    /// The response to the call of a tool.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        let request = match self.version {
            STATELESS => stateless("tools/call", params),
            _ => request("tools/call", params),
        };
        self.wire.ask(&request).await
    }
}

impl Wire {
    /// Sends a notification.
    async fn send(&mut self, message: &Value) {
        match self {
            Self::Pipe(pipe) => pipe.send(message).await,
            Self::Sse(stream) => assert_eq!(stream.post(message), 202),
            Self::Http(http) => assert_eq!(http.post(message).status(), 202),
        }
    }

    /// Sends a request, and returns the response. The next messages are in the session that it opens.
    async fn ask(&mut self, message: &Value) -> Value {
        match self {
            Self::Pipe(pipe) => pipe.ask(message).await,
            Self::Sse(stream) => {
                assert_eq!(stream.post(message), 202);
                stream.next().expect("a message")
            }
            Self::Http(http) => {
                let answer = http.post(message);
                if message["method"] == "initialize" {
                    *http = http.with("mcp-session-id", &answer.session());
                }
                answer.message()
            }
        }
    }
}
