//! Opens sessions.

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::BoxFuture;
use mcp_servlet_common::lock;
use rmcp::model::ProtocolVersion;
use rmcp::service::{ClientInitializeError, ClientLifecycleMode, ClientServiceExt as _};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{sleep, timeout};
use tokio_util::task::TaskTracker;

use super::{Handler, Session};
use crate::asking::Asking;
use crate::bearer::Bearer;
use crate::error::{Error, ErrorKind};
use crate::incoming::no_common_version;
use crate::options::{Era, Options};
use crate::server::Server;
use crate::tap::Tap;
use crate::target::{Command, Http, HttpTransport, Target};
use crate::transport::AnyTransport;
use crate::transport::child::Child;
use crate::transport::http::{HttpClient, Streamable, connector};
use crate::transport::sse;
use crate::transport::stderr::Tail;
use crate::transport::stdio::Stdio;

/// After how long without an answer the log names a way around the probe.
const PROBE_HINT_DELAY: Duration = Duration::from_secs(2);

/// What messages call a server at the other end of two streams.
const ATTACHED: &str = "attached streams";

/// A future that opens a session.
type Connecting<'a> = BoxFuture<'a, Result<Session, Error>>;

/// A target with what all attempts share.
enum Prepared<'a> {
    Command(&'a Command),
    Http(Connector<'a>),
}

/// What all connections to a URL share.
struct Connector<'a> {
    http: &'a Http,
    client: reqwest::Client,
    bearer: Option<Arc<dyn Bearer>>,
}

impl<'a> Prepared<'a> {
    fn new(target: &'a Target, options: &Options) -> Result<Self, Error> {
        match target {
            Target::Command(command) => Ok(Self::Command(command)),
            Target::Http(http) => {
                let client = connector(http, options.timeouts.connect).map_err(|source| {
                    let error = Error::new(ErrorKind::Connectivity, source.to_string());
                    error.with_source(source)
                })?;
                let oauth = options.oauth.as_ref();
                let bearer = oauth.map(|oauth| oauth.bearer(http)).transpose()?.flatten();
                Ok(Self::Http(Connector {
                    http,
                    client,
                    bearer,
                }))
            }
        }
    }
}

/// Connects as often as the options say.
///
/// The future is a trait object. Otherwise each crate that awaits it would compile rmcp's code for a connection again.
pub(super) fn connect<'a>(target: &'a Target, options: &'a Options) -> Connecting<'a> {
    Box::pin(connect_with_retries(target, options))
}

async fn connect_with_retries(target: &Target, options: &Options) -> Result<Session, Error> {
    let server = Prepared::new(target, options).map_err(|error| error.at(&target.to_string()))?;
    let mut attempts = 0;
    loop {
        attempts += 1;
        let error = match attempt(&server, target, options).await {
            Ok(session) => return Ok(session),
            Err(error) => error.at(&target.to_string()),
        };
        if options.retry.is_never() || !is_worth_another(&error) {
            return Err(error);
        }
        if !options.retry.goes_on(attempts) {
            return Err(error.after_attempts(attempts));
        }
        tracing::info!(attempts, %error, "cannot connect yet");
        sleep(options.retry.pause()).await;
    }
}

/// Whether another attempt may help. A program that is not there does not appear by itself.
fn is_worth_another(error: &Error) -> bool {
    let source =
        std::error::Error::source(error).and_then(|source| source.downcast_ref::<io::Error>());
    let is_missing = source.is_some_and(|error| {
        matches!(
            error.kind(),
            io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied
        )
    });
    error.is_temporary() && !is_missing
}

async fn attempt(
    server: &Prepared<'_>,
    target: &Target,
    options: &Options,
) -> Result<Session, Error> {
    let name = target.to_string();
    let outputs = Outputs::default();
    let opening = async {
        match server {
            Prepared::Command(command) => open_command(command, &name, options, &outputs).await,
            Prepared::Http(connector) => open_http(connector, &name, options).await,
        }
    };
    let limit = options.timeouts.connect;
    let opened = timeout(limit, Box::pin(opening)).await;
    opened.unwrap_or_else(|_| Err(outputs.quoted_in(too_late(limit))))
}

pub(super) fn attach<R, W>(reader: R, writer: W, options: &Options) -> Connecting<'_>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let tap = Tap::new(ATTACHED);
    let streams = Stdio::new(reader, writer, options.limits.message, Arc::clone(&tap));
    open_attached(AnyTransport::Stdio(streams), tap, options)
}

fn open_attached(streams: AnyTransport, tap: Arc<Tap>, options: &Options) -> Connecting<'_> {
    let opening = open(streams, tap, ATTACHED, options);
    Box::pin(within(options.timeouts.connect, Box::pin(opening)))
}

async fn within(limit: Duration, opening: Connecting<'_>) -> Result<Session, Error> {
    let opened = timeout(limit, opening).await;
    opened.unwrap_or_else(|_| Err(too_late(limit)))
}

fn too_late(limit: Duration) -> Error {
    let message = format!("the server did not open a session within {limit:?}");
    Error::new(ErrorKind::RequestTimeout, message)
        .with_help("give it more time to connect, or choose the protocol generation")
}

/// Starts a process. Some old servers end when they get a request before the handshake. Some new servers start so slowly that they
/// accept the probe after rmcp has given it up, and then refuse the handshake. Both are started once more.
async fn open_command(
    command: &Command,
    name: &str,
    options: &Options,
    outputs: &Outputs,
) -> Result<Session, Error> {
    let tap = Tap::new(name);
    let error = match start(command, &tap, name, options, outputs).await {
        Err(error) if options.era == Era::Auto => error,
        opened => return opened,
    };
    let era = if ended_itself(&tap, &error) {
        tracing::info!(%error, "the server ended at `server/discover`; it is started again without");
        Era::Handshake
    } else if tap.accepted_late() {
        tracing::info!(%error, "the server answered `server/discover` late; it is started again without a handshake");
        Era::Stateless
    } else {
        return Err(error);
    };
    let options = options.clone().era(era);
    start(command, &Tap::new(name), name, &options, outputs).await
}

async fn start(
    command: &Command,
    tap: &Arc<Tap>,
    name: &str,
    options: &Options,
    outputs: &Outputs,
) -> Result<Session, Error> {
    let tail = outputs.follow(tap);
    let (child, stdin, stdout) = Child::start(command, options.on_stderr.clone(), tail)?;
    let streams = Stdio::new(stdout, stdin, options.limits.message, Arc::clone(tap));
    let streams = AnyTransport::Stdio(streams.of_child(child));
    open(streams, Arc::clone(tap), name, options).await
}

/// Whether the process ran before it ended.
fn ended_itself(tap: &Tap, error: &Error) -> bool {
    error.kind() == ErrorKind::Connectivity && tap.failure().is_some()
}

impl Connector<'_> {
    /// An HTTP client whose responses go through a tap.
    fn tapped(&self, tap: &Arc<Tap>, options: &Options) -> HttpClient {
        let (client, limit) = (self.client.clone(), options.limits.message);
        HttpClient::new(client, self.http, limit, Arc::clone(tap)).with_bearer(self.bearer.clone())
    }
}

async fn open_http(
    connector: &Connector<'_>,
    name: &str,
    options: &Options,
) -> Result<Session, Error> {
    let transport = connector.http.chosen_transport();
    if transport == HttpTransport::Sse {
        return open_sse(connector, name, options).await;
    }
    let tap = Tap::new(name);
    let client = connector.tapped(&tap, options);
    let streamable = Streamable::new(client, connector.http.url().as_str());
    let streamable = AnyTransport::Http(streamable);
    let error = match open(streamable, tap, name, options).await {
        Err(error) if matches!(error.http_status(), Some(404 | 405)) => error,
        opened => return opened,
    };
    if transport == HttpTransport::Streamable {
        return Err(error);
    }
    let opened = open_sse(connector, name, options)
        .await
        .map_err(|sse| neither(error, sse))?;
    tracing::info!(
        server = name,
        "the server speaks HTTP+SSE, the transport before 2025-03-26"
    );
    Ok(opened)
}

/// The error for a URL where neither transport works.
fn neither(streamable: Error, sse: Error) -> Error {
    if sse.kind() == ErrorKind::Authentication {
        return sse;
    }
    let more = format!(", and over HTTP+SSE: {}", sse.message());
    streamable.with_message(&more).with_source(sse)
}

async fn open_sse(
    connector: &Connector<'_>,
    name: &str,
    options: &Options,
) -> Result<Session, Error> {
    let tap = Tap::new(name);
    let client = connector.tapped(&tap, options);
    let events = sse::SseSession::open(client, &connector.http.sse_url(), options.retry).await?;
    // Servers of that time know nothing of later versions.
    let options = options.clone().era(Era::Handshake);
    open(AnyTransport::Sse(events), tap, name, &options).await
}

/// Opens a session on a transport.
async fn open(
    transport: AnyTransport,
    tap: Arc<Tap>,
    target: &str,
    options: &Options,
) -> Result<Session, Error> {
    let asking = Arc::new(Asking::default());
    let handler = Handler::new(options, Arc::clone(&asking));
    let mode = lifecycle(options.era);
    let mut serving = Box::pin(handler.serve_with_lifecycle(transport, mode));
    let served = tokio::select! {
        served = &mut serving => served,
        () = sleep(PROBE_HINT_DELAY) => {
            tracing::info!(server = target, "no answer to `server/discover` yet; an old server connects sooner with the handshake chosen");
            serving.await
        }
    };
    let service = match served {
        Ok(service) => service,
        Err(error) => return Err(not_opened(error, &tap).at(target)),
    };
    let info = service.peer_info();
    let protocol = info.map(|info| info.protocol_version.to_string());
    let opening = tap.opening().unwrap_or_default();
    Ok(Session {
        service,
        server: Server::new(protocol.unwrap_or_default(), &opening),
        tap,
        asking,
        target: target.to_owned(),
        timeouts: options.timeouts,
        limits: options.limits,
        retry: options.retry,
        cancellations: TaskTracker::new(),
    })
}

fn lifecycle(era: Era) -> ClientLifecycleMode {
    let stateless = vec![ProtocolVersion::V_2026_07_28];
    match era {
        Era::Handshake => ClientLifecycleMode::Initialize,
        Era::Stateless => ClientLifecycleMode::Discover {
            preferred_versions: stateless,
        },
        Era::Auto => ClientLifecycleMode::Auto {
            preferred_versions: stateless,
            legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
        },
    }
}

/// The error for a session that could not be opened. The transport's error is more exact than rmcp's.
fn not_opened(error: ClientInitializeError, tap: &Tap) -> Error {
    let protocol = |message: String| Error::new(ErrorKind::Protocol, message);
    let error = match error {
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => {
            let error = not_opened(*fallback, tap);
            return match tap.flaw_of_probe() {
                Some(flaw) => error.with_message(&format!("; before that, {}", flaw.message())),
                None => error,
            };
        }
        ClientInitializeError::JsonRpcError(error) => match tap.flaw() {
            Some(flaw) => flaw,
            None => Error::from_rmcp(&error).during("initialize"),
        },
        ClientInitializeError::NoCompatibleProtocolVersion {
            server_supported, ..
        } => {
            let versions = server_supported.iter().map(ProtocolVersion::as_str);
            no_common_version(&versions.collect::<Vec<_>>())
        }
        ClientInitializeError::ExpectedInitResponse(Some(_)) => {
            protocol("the server sent another message before it answered `initialize`".to_owned())
        }
        ClientInitializeError::ExpectedInitResult(_) => protocol(
            "the server answered `initialize` with the result of another request".to_owned(),
        ),
        ClientInitializeError::ConflictInitResponseId(..)
        | ClientInitializeError::UncorrelatedErrorResponse { .. } => {
            protocol("the server answered the handshake with the id of another request".to_owned())
        }
        error => tap.failure().unwrap_or_else(|| {
            let message = "the connection ended before the session was open";
            Error::new(ErrorKind::Connectivity, message).with_source(error)
        }),
    };
    match ignored(tap) {
        Some(help) => error.with_help(help),
        None => error,
    }
}

/// What a server writes instead of messages.
fn ignored(tap: &Tap) -> Option<String> {
    let (first, last) = tap.ignored_lines();
    if first.is_empty() {
        return None;
    }
    let first = first.join("`, `");
    let last = last.map_or_else(String::new, |last| format!(", and ends with `{last}`,"));
    Some(format!(
        "its output begins with `{first}`{last} instead of MCP messages"
    ))
}

/// The outputs of a process that opens no session in time.
#[derive(Default)]
struct Outputs(Mutex<Option<Followed>>);

/// The standard output and the standard error of a process.
type Followed = (Arc<Tap>, Arc<Mutex<Tail>>);

impl Outputs {
    /// Follows a process from its start.
    fn follow(&self, tap: &Arc<Tap>) -> Arc<Mutex<Tail>> {
        let tail = Arc::<Mutex<Tail>>::default();
        *lock(&self.0) = Some((Arc::clone(tap), Arc::clone(&tail)));
        tail
    }

    /// The error with what the process has written.
    fn quoted_in(&self, error: Error) -> Error {
        let Some((tap, tail)) = &*lock(&self.0) else {
            return error;
        };
        let stderr = lock(tail).lines();
        let (first, last) = tap.ignored_lines();
        let mut lines = first.iter().chain(&last).chain(&stderr);
        let help = match lines.find_map(|line| listening_at(line)) {
            Some(url) => Some(format!(
                "it listens on `{url}` instead of standard input: connect to that URL, or start it with its option for \
                 standard input and output"
            )),
            None => ignored(tap),
        };
        let error = error.with_stderr(stderr);
        match help {
            Some(help) => error.with_help(help),
            None => error,
        }
    }
}

/// The URL in a line such as `listening on http://localhost:3001/mcp`.
fn listening_at(line: &str) -> Option<&str> {
    let lower = line.to_ascii_lowercase();
    let verbs = ["listen", "running", "serving", "started", "available"];
    let has_verb = verbs.iter().any(|verb| lower.contains(verb));
    let start = lower.find("http://").or_else(|| lower.find("https://"));
    let url = &line[start.filter(|_| has_verb)?..];
    let end = url.find(|one: char| one.is_whitespace() || "\"'`)>,".contains(one));
    Some(url[..end.unwrap_or(url.len())].trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_over_http_says_where_it_listens() {
        for (line, expected) in [
            (
                "MCP server listening on http://localhost:3001/mcp",
                Some("http://localhost:3001/mcp"),
            ),
            (
                "Server running at \"https://a.example:1/\".",
                Some("https://a.example:1/"),
            ),
            ("see http://docs.example for help", None),
            ("listening on port 3001", None),
        ] {
            assert_eq!(listening_at(line), expected, "{line}");
        }
    }
}
