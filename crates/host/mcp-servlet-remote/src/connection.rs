//! One connection to a server.

use std::sync::{Arc, Mutex};

use mcp_servlet_call::{JsonObject, RemoteFailure, RequestMeta};
use mcp_servlet_client::{
    Era, Error, ErrorKind, Event, LOG_LEVEL, Limits, List, Lists, Options, Session, Target,
    Timeouts,
};
use mcp_servlet_common::lock;
use serde_json::{Value, json};

use crate::options::RemoteOptions;
use crate::relay::Calls;

/// How much of a line of standard error is quoted.
const MAX_QUOTE: usize = 200;

/// The first protocol version without a handshake.
pub(crate) const FIRST_STATELESS: &str = "2026-07-28";

/// The generation of a protocol version.
fn era(version: &str) -> Era {
    if version < FIRST_STATELESS {
        Era::Handshake
    } else {
        Era::Stateless
    }
}

/// Whether a server that this generation did not reach would not answer the other one either.
fn is_outage(error: &Error, era: Era) -> bool {
    match error.kind() {
        ErrorKind::Authentication => true,
        // Some servers of the older one end, or are silent, when they get a request before the handshake.
        ErrorKind::Connectivity | ErrorKind::RequestTimeout => matches!(era, Era::Handshake),
        _ => false,
    }
}

/// One connection to a server, and the calls that run on it.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) session: Session,
    pub(crate) calls: Calls,
    /// The last line that a command has written to standard error.
    last_stderr: Arc<Mutex<String>>,
}

impl Connection {
    /// Connects to `remote`, once.
    pub(crate) async fn open(
        remote: &str,
        target: &Target,
        options: &RemoteOptions,
    ) -> Result<Self, Error> {
        let calls = Calls::new(remote);
        let mut timeouts = Timeouts::default();
        timeouts.connect = options.connect;
        timeouts.request = options.timeout;
        let mut limits = Limits::default();
        limits.message = options.limits.message;
        limits.entries = options.limits.entries;
        limits.lists = options.limits.lists;
        // Pages have entries, so no other limit is needed for them.
        limits.pages = options.limits.entries;
        let remote = remote.to_owned();
        let last_stderr = Arc::<Mutex<String>>::default();
        let last = Arc::clone(&last_stderr);
        let mut client = Options::new()
            .client("mcp-servlet", env!("CARGO_PKG_VERSION"))
            .era(Era::Auto)
            .timeouts(timeouts)
            .limits(limits)
            .answers(calls.clone())
            .on_stderr(move |line| {
                if !line.trim().is_empty() {
                    let shown = &line[..line.floor_char_boundary(MAX_QUOTE)];
                    shown.trim().clone_into(&mut lock(&last));
                }
                tracing::info!(target: "remote", remote, stream = "stderr", "{line}");
            });
        if let Some(oauth) = &options.oauth {
            client = client.oauth(oauth.clone());
        }
        let session = match options.protocol.as_deref().map(era) {
            None => Session::connect_with(target, &client).await?,
            Some(era) => {
                let approved = client.clone().era(era);
                match Session::connect_with(target, &approved).await {
                    // The server may have left that generation of the protocol.
                    Err(error) if !is_outage(&error, era) => {
                        tracing::info!(%error, "the server does not speak the protocol version in `servlet.lock`");
                        Session::connect_with(target, &client).await?
                    }
                    connected => connected?,
                }
            }
        };
        Ok(Self {
            session,
            calls,
            last_stderr,
        })
    }

    /// A failure, with what a command wrote before it ended.
    pub(crate) fn explained(&self, failure: RemoteFailure) -> RemoteFailure {
        let line = lock(&self.last_stderr);
        match failure {
            RemoteFailure::Unreachable { why } if self.session.has_ended() && !line.is_empty() => {
                let why = format!("{why}; it wrote `{line}`");
                RemoteFailure::Unreachable { why }
            }
            failure => failure,
        }
    }

    /// Reads the lists. Returns the errors of those that could not be read, too. The server may refuse all of them.
    ///
    /// # Errors
    /// If the connection fails, or if every list fails and none of the errors is a JSON-RPC error. An example is HTTP status 503 for
    /// every request.
    pub(crate) async fn lists(&self) -> Result<(Lists, Vec<(List, Error)>), Error> {
        let (lists, errors) = self.session.lists_and_errors().await?;
        let have_all_failed = self.session.have_all_failed(&errors);
        let is_any_refused = errors.iter().any(|(_, error)| error.code().is_some());
        match errors.first() {
            Some((_, error)) if have_all_failed && !is_any_refused => Err(error.clone()),
            _ => Ok((lists, errors)),
        }
    }

    /// The `_meta` of a request to the remote, made of the client's `_meta`.
    pub(crate) fn meta(&self, request_meta: &RequestMeta) -> JsonObject {
        let is_stateless = self.session.server().is_stateless();
        let client = request_meta.meta.as_ref();
        let mut meta = JsonObject::new();
        for (key, value) in client.into_iter().flatten() {
            let is_ours = key.starts_with("mcp-servlet/") || key == "progressToken";
            // The client writes what the protocol needs between it and the server.
            let is_protocol = key.starts_with("io.modelcontextprotocol/");
            if !is_ours && !is_protocol {
                meta.insert(key.clone(), value.clone());
            }
        }
        if is_stateless {
            meta.insert(CAPABILITIES.to_owned(), relayed_capabilities(request_meta));
            let level = client.and_then(|client| client.get(LOG_LEVEL));
            meta.extend(level.map(|level| (LOG_LEVEL.to_owned(), level.clone())));
        }
        meta
    }
}

/// Logs what belongs to no call. Returns whether the lists of the server have changed.
pub(crate) fn has_changed(remote: &str, event: Event) -> bool {
    match event {
        Event::ToolsChanged | Event::ResourcesChanged | Event::PromptsChanged => true,
        Event::Log {
            level,
            logger,
            data,
        } => {
            tracing::debug!(remote, level, logger, %data, "log message of a remote");
            false
        }
        _ => false,
    }
}

const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// The capabilities of a client that this host relays.
pub(crate) fn relayed_capabilities(request_meta: &RequestMeta) -> Value {
    let all = request_meta.client_capabilities();
    let mut relayed = json!({});
    for name in ["elicitation", "sampling", "roots"] {
        if !all[name].is_null() {
            relayed[name] = all[name].clone();
        }
    }
    relayed
}
