//! A server with the endpoints of a configuration, and clients for each transport.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use mcp_servlet_call::Change;
use mcp_servlet_client::{Era, Event, Events, Http, HttpTransport, Options, Session, Target};
use mcp_servlet_config::Config;
use mcp_servlet_server::{Listening, Plan, Service};
use puppet::PATIENCE;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{DuplexStream, split},
    time::timeout,
};

/// The endpoints of a configuration, on ports of their own.
pub(crate) struct Site {
    pub(crate) service: Service,
    /// The URL of each endpoint over HTTP.
    urls: BTreeMap<String, String>,
    folder: TempDir,
}

/// How a client connects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    HttpLegacy,
    HttpModern,
    Sse,
    PipeLegacy,
    PipeModern,
}

impl Way {
    /// Whether the protocol version is up to 2025-11-25.
    pub(crate) fn is_legacy(self) -> bool {
        !matches!(self, Self::HttpModern | Self::PipeModern)
    }
}

/// All ways to connect to the endpoints `web`, `old` and `pipe`.
pub(crate) const WAYS: [(Way, &str); 5] = [
    (Way::HttpLegacy, "web"),
    (Way::HttpModern, "web"),
    (Way::Sse, "old"),
    (Way::PipeLegacy, "pipe"),
    (Way::PipeModern, "pipe"),
];

/// One endpoint for each transport. Keys can be added after each table.
pub(crate) const WEB: &str = "[listener.local]\naddress = \"127.0.0.1:0\"\n[endpoint.web]\nkind = \"http\"\nlistener = \"local\"\n";
pub(crate) const OLD: &str = "[endpoint.old]\nkind = \"sse\"\nlistener = \"local\"\n";
pub(crate) const PIPE: &str = "[endpoint.pipe]\nkind = \"stdio\"\n";

impl Site {
    /// Serves a configuration with these files next to it.
    pub(crate) async fn start(config: &str, files: &[(&str, &[u8])]) -> Self {
        Self::start_with(config, files, |_| {}).await
    }

    /// The same, with a folder that is prepared before.
    pub(crate) async fn start_with(
        config: &str,
        files: &[(&str, &[u8])],
        prepare: impl FnOnce(&Path),
    ) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        prepare(folder.path());
        for (name, contents) in files {
            fs::write(folder.path().join(name), contents).expect("a file");
        }
        let path = folder.path().join("servlet.toml");
        fs::write(&path, config).expect("a file");
        let config = Config::read(&path).unwrap_or_else(|error| panic!("{error}"));
        let started = Service::start(Plan::from_config(config)).await;
        let service = started.unwrap_or_else(|error| panic!("{error}"));
        let mut urls = BTreeMap::new();
        for Listening { address, paths, .. } in service.listeners() {
            let url = |path| format!("http://{address}{path}");
            urls.extend(paths.iter().map(|(name, path)| (name.clone(), url(path))));
        }
        Self {
            service,
            urls,
            folder,
        }
    }

    /// Stops, and writes what waits.
    pub(crate) async fn stop(&self) {
        self.service.stop().await.expect("no transport failed");
    }

    pub(crate) fn url(&self, endpoint: &str) -> &str {
        &self.urls[endpoint]
    }

    /// A client that shows the responses of an endpoint over HTTP.
    pub(crate) fn http(&self, endpoint: &str) -> wire::Http {
        wire::Http::new(self.url(endpoint))
    }

    /// The path of a file of the configuration's folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file of the configuration's folder.
    pub(crate) fn write(&self, name: &str, contents: impl AsRef<[u8]>) {
        fs::write(self.path(name), contents).expect("a file");
    }

    /// Connects a client of its own.
    pub(crate) async fn connect(&self, way: Way, endpoint: &str) -> Session {
        self.connect_with(way, endpoint, Options::new()).await
    }

    /// The same, with options.
    pub(crate) async fn connect_with(&self, way: Way, endpoint: &str, options: Options) -> Session {
        let era = if way.is_legacy() {
            Era::Handshake
        } else {
            Era::Stateless
        };
        let options = options.era(era);
        let connected = match way {
            Way::PipeLegacy | Way::PipeModern => self.attach(endpoint, &options).await,
            Way::Sse => self.visit(endpoint, HttpTransport::Sse, &options).await,
            _ => {
                self.visit(endpoint, HttpTransport::Streamable, &options)
                    .await
            }
        };
        connected.unwrap_or_else(|error| panic!("{way:?}: {error}"))
    }

    async fn visit(
        &self,
        endpoint: &str,
        transport: HttpTransport,
        options: &Options,
    ) -> Result<Session, mcp_servlet_client::Error> {
        let http = Http::new(self.url(endpoint)).expect("a URL");
        let http = http.transport(transport).header("x-request-id", "r-1");
        let target = Target::Http(Box::new(http.expect("a header")));
        Session::connect_with(&target, options).await
    }

    async fn attach(
        &self,
        endpoint: &str,
        options: &Options,
    ) -> Result<Session, mcp_servlet_client::Error> {
        let (reader, writer) = split(self.pipe(endpoint));
        Session::attach(reader, writer, options).await
    }

    /// Checks that a client of an endpoint has had no event before one that comes now. The client uses a version before 2026-07-28.
    pub(crate) async fn has_sent_nothing(&self, endpoint: &str, events: &mut Events) {
        let server = self.service.server_of(endpoint).expect("an endpoint");
        server.notify(Change::Prompts);
        assert_eq!(next_event(events).await, Event::PromptsChanged);
    }

    /// The client's end of a pipe to an endpoint.
    pub(crate) fn pipe(&self, endpoint: &str) -> DuplexStream {
        let server = self.service.server_of(endpoint);
        server.expect("an endpoint").open_pipe()
    }
}

/// The next event of a client.
pub(crate) async fn next_event(events: &mut Events) -> Event {
    let next = timeout(PATIENCE, events.next()).await;
    let event = next.expect("an event in time").expect("an event");
    event.expect("an event")
}

/// The tools that a client sees.
pub(crate) async fn definitions(session: &Session) -> Vec<Value> {
    let lists = session.lists().await.expect("lists");
    let tools = lists.tools.expect("tools");
    tools.iter().map(|tool| json!(tool)).collect()
}

/// Their names.
pub(crate) async fn tools(session: &Session) -> Vec<String> {
    let name = |tool: Value| tool["name"].as_str().expect("a name").to_owned();
    definitions(session).await.into_iter().map(name).collect()
}
