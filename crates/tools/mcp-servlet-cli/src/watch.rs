//! `servlet watch`: shows what a server reports.

use std::{convert::Infallible, io::Write as _, time::Duration};

use clap::Args;
use mcp_servlet_client::{ErrorKind, Event, Events, Session};
use mcp_servlet_server::ShutdownSignals;
use serde_json::{Value, json};

use crate::{
    failure::{Failure, Kind},
    format::Format,
    session::ServerOptions,
    terminal::{self, note, one_line},
};

/// The interval between two requests that only show whether the server still knows the session.
const PING_INTERVAL: Duration = Duration::from_secs(30);

/// The levels of log messages in MCP.
const LEVELS: [&str; 8] = [
    "debug",
    "info",
    "notice",
    "warning",
    "error",
    "critical",
    "alert",
    "emergency",
];

#[derive(Args, Debug)]
pub(crate) struct Watch {
    /// A `.wasm` file, a folder of them, a `servlet.toml`, a URL, or the name of a server in the configuration of an MCP client
    target: Option<String>,

    /// Report changes of the resource with this URI; may be repeated
    #[arg(long, value_name = "URI")]
    resource: Vec<String>,

    /// The minimum level of log messages, such as debug or warning
    #[arg(long, value_name = "LEVEL", default_value = "info", value_parser = LEVELS)]
    level: String,

    /// `json` prints one object per line
    #[arg(long, value_enum, default_value_t)]
    format: Format,

    #[command(flatten)]
    server: ServerOptions,
}

impl Watch {
    pub(crate) fn run(self) -> Result<(), Failure> {
        let target = self.server.only_target(self.target.as_ref())?;
        self.server
            .with_session(&target, self.format, async |session| {
                let mut signals = ShutdownSignals::listen()?;
                let events = self.subscribe(session).await?;
                tokio::select! {
                    biased;
                    ended = self.show_all(session, events) => ended,
                    never = ask_for_signs_of_life(session) => match never {},
                    () = signals.received() => Ok(()),
                }
            })
    }

    async fn subscribe(&self, session: &Session) -> Result<Events, Failure> {
        let events = session.watch(&self.resource).await?;
        self.set_level(session).await?;
        Ok(events)
    }

    /// Since 2026-07-28, each request says which messages it wants, so there is no level for a connection.
    async fn set_level(&self, session: &Session) -> Result<(), Failure> {
        let server = session.server();
        if server.has("logging") && !server.is_stateless() {
            session.set_log_level(&self.level).await?;
        }
        Ok(())
    }

    async fn show_all(&self, session: &Session, mut events: Events) -> Result<(), Failure> {
        while let Some(event) = events.next().await {
            let event = match event {
                Ok(event) => event,
                // Events are missing, and others follow.
                Err(error) if error.kind() == ErrorKind::Limit => {
                    note(format_args!("warning: {}", one_line(error.message())));
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            if event == Event::SessionRenewed {
                // The subscriptions and the level have ended with the previous session, but not the events.
                self.subscribe(session).await?;
            }
            match self.format {
                Format::Human => writeln!(terminal::out(), "{}", one_line(&event_as_text(&event)))?,
                Format::Json => writeln!(terminal::json(), "{}", json(&event))?,
            }
            if terminal::is_closed() {
                return Ok(());
            }
        }
        let kind = Kind::Server(ErrorKind::Connectivity);
        Err(Failure::new(kind, "the server has closed the connection"))
    }
}

/// A server over HTTP that has restarted shows it only in the answer to a request.
async fn ask_for_signs_of_life(session: &Session) -> Infallible {
    if session.server().is_stateless() {
        return std::future::pending().await;
    }
    loop {
        tokio::time::sleep(PING_INTERVAL).await;
        // An error that matters ends the events.
        let _ = session.ping().await;
    }
}

/// An event in words.
fn event_as_text(event: &Event) -> String {
    match event {
        Event::ToolsChanged => "tools changed".to_owned(),
        Event::ResourcesChanged => "resources changed".to_owned(),
        Event::PromptsChanged => "prompts changed".to_owned(),
        Event::ResourceUpdated { uri } => format!("resource updated: {uri}"),
        Event::SessionRenewed => "session renewed".to_owned(),
        Event::Log {
            level,
            logger,
            data,
        } => {
            let logger = logger.as_ref().map(|name| format!(" {name}"));
            let data = data
                .as_str()
                .map_or_else(|| data.to_string(), str::to_owned);
            format!("log[{level}]{}: {data}", logger.unwrap_or_default())
        }
        Event::Other { method, params } => format!("{method}: {params}"),
        other => format!("{other:?}"),
    }
}

/// An event as an object with its `event`.
fn json(event: &Event) -> Value {
    match event {
        Event::ToolsChanged => json!({ "event": "tools-changed" }),
        Event::ResourcesChanged => json!({ "event": "resources-changed" }),
        Event::PromptsChanged => json!({ "event": "prompts-changed" }),
        Event::ResourceUpdated { uri } => json!({ "event": "resource-updated", "uri": uri }),
        Event::SessionRenewed => json!({ "event": "session-renewed" }),
        Event::Log {
            level,
            logger,
            data,
        } => json!({ "event": "log", "level": level, "logger": logger, "data": data }),
        Event::Other { method, params } => {
            json!({ "event": "other", "method": method, "params": params })
        }
        other => json!({ "event": "other", "text": format!("{other:?}") }),
    }
}
