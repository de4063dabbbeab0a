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
use crate::transport::sse::SseSession;
use crate::transport::stderr::Tail;
use crate::transport::stdio::Stdio;

/// How long a server may take to answer `server/discover`, before the handshake is tried. Some servers never answer it.
const PROBE_TIMEOUT: Duration = Duration::from_secs(3);
/// How long it may take the second time, if it has refused the handshake.
const SLOW_PROBE_TIMEOUT: Duration = Duration::from_secs(10);
/// How long an event stream of HTTP+SSE may take to begin, if it is not known that the server speaks that.
const FALLBACK_TIMEOUT: Duration = Duration::from_secs(5);

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
    match server {
        // Each start of the process has the time.
        Prepared::Command(command) => open_command(command, &name, options).await,
        Prepared::Http(connector) => {
            let opening = open_http(connector, &name, options);
            within(options.timeouts.connect, Box::pin(opening)).await
        }
    }
}

pub(super) fn attach<R, W>(reader: R, writer: W, options: &Options) -> Connecting<'_>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let tap = Tap::new(ATTACHED);
    let streams = Stdio::new(reader, writer, options.limits.message, Arc::clone(&tap));
    let streams = streams.with_probe_timeout(probe_timeout(options));
    open_attached(AnyTransport::Stdio(Box::new(streams)), tap, options)
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
    Error::new(ErrorKind::RequestTimeout, message).with_help("give it more time to connect")
}

/// Starts a process. Some old servers end when they get a request before the handshake. Some new servers start so slowly that they
/// accept the probe after rmcp has given it up, and then refuse the handshake. Both are started once more. The second start has
/// the same time as the first, because it may take as long.
async fn open_command(command: &Command, name: &str, options: &Options) -> Result<Session, Error> {
    let tap = Tap::new(name);
    let error = match start(command, &tap, name, options).await {
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
    start(command, &Tap::new(name), name, &options).await
}

async fn start(
    command: &Command,
    tap: &Arc<Tap>,
    name: &str,
    options: &Options,
) -> Result<Session, Error> {
    let tail = Arc::<Mutex<Tail>>::default();
    let on_stderr = options.on_stderr.clone();
    let (child, stdin, stdout) = Child::start(command, on_stderr, Arc::clone(&tail))?;
    let streams = Stdio::new(stdout, stdin, options.limits.message, Arc::clone(tap));
    let streams = streams
        .of_child(child)
        .with_probe_timeout(probe_timeout(options));
    let streams = AnyTransport::Stdio(Box::new(streams));
    let limit = options.timeouts.connect;
    let opening = open(streams, Arc::clone(tap), name, options);
    let opened = timeout(limit, Box::pin(opening)).await;
    opened.unwrap_or_else(|_| Err(with_outputs(too_late(limit), tap, &tail)))
}

/// Whether the process ran before it ended.
fn ended_itself(tap: &Tap, error: &Error) -> bool {
    error.kind() == ErrorKind::Connectivity && tap.failure().is_some()
}

/// How long the server may take to answer the probe. None if nothing would follow it.
fn probe_timeout(options: &Options) -> Option<Duration> {
    (options.era == Era::Auto).then_some(PROBE_TIMEOUT)
}

impl Connector<'_> {
    /// An HTTP client whose responses go through a tap.
    fn tapped(&self, tap: &Arc<Tap>, options: &Options) -> HttpClient {
        let (client, limit) = (self.client.clone(), options.limits.message);
        HttpClient::new(client, self.http, limit, Arc::clone(tap))
            .with_bearer(self.bearer.clone())
            .with_probe_timeout(probe_timeout(options))
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
    let error = match open_streamable(connector, name, options).await {
        Err(error) if may_speak_http_sse(&error) => error,
        opened => return opened,
    };
    if transport == HttpTransport::Streamable {
        return Err(error);
    }
    let opened = match timeout(FALLBACK_TIMEOUT, open_sse_stream(connector, name, options)).await {
        Ok(Ok((events, tap))) => open_on_sse(events, tap, name, options).await,
        Ok(Err(error)) => Err(error),
        Err(_) => {
            let message = format!("no event `endpoint` within {FALLBACK_TIMEOUT:?}");
            Err(Error::new(ErrorKind::Protocol, message))
        }
    };
    let opened = opened.map_err(|sse| neither(error, sse))?;
    tracing::info!(
        server = name,
        "the server speaks HTTP+SSE, the transport before 2025-03-26"
    );
    Ok(opened)
}

/// Opens a session over streamable HTTP. A server that is slow to answer the probe and refuses the handshake gets the probe again.
async fn open_streamable(
    connector: &Connector<'_>,
    name: &str,
    options: &Options,
) -> Result<Session, Error> {
    let tap = Tap::new(name);
    let error = match open_streamable_once(connector, &tap, name, options).await {
        Err(error) if tap.has_unanswered_probe() && error.was_answered() => error,
        opened => return opened,
    };
    tracing::info!(%error, "the server refuses the handshake; it gets `server/discover` again");
    let options = options.clone().era(Era::Stateless);
    let tap = Tap::new(name);
    let opening = open_streamable_once(connector, &tap, name, &options);
    match timeout(SLOW_PROBE_TIMEOUT, opening).await {
        Ok(Ok(session)) => Ok(session),
        _ => Err(error),
    }
}

async fn open_streamable_once(
    connector: &Connector<'_>,
    tap: &Arc<Tap>,
    name: &str,
    options: &Options,
) -> Result<Session, Error> {
    let client = connector.tapped(tap, options);
    let streamable = Streamable::new(client, connector.http.url().as_str());
    let streamable = AnyTransport::Http(streamable);
    open(streamable, Arc::clone(tap), name, options).await
}

/// Whether a server may have refused streamable HTTP because it only speaks HTTP+SSE. One that answers with JSON-RPC does not.
fn may_speak_http_sse(error: &Error) -> bool {
    let is_refusal = matches!(error.http_status(), Some(400 | 404 | 405 | 406 | 415 | 422));
    error.is_of_http_sse() || is_refusal && error.code().is_none()
}

/// The error for a URL where neither transport works.
fn neither(streamable: Error, sse: Error) -> Error {
    if sse.kind() == ErrorKind::Authentication {
        return sse;
    }
    let more = format!(", and over HTTP+SSE: {}", sse.message());
    let error = streamable.with_message(&more);
    // The help for a status over HTTP+SSE blames the path. It only fits if the other error has help for its status, too.
    let is_apt = sse.http_status().is_none() || error.help().is_some();
    match sse.help().filter(|_| is_apt) {
        Some(help) => error.with_help(help),
        None => error,
    }
    .with_source(sse)
}

async fn open_sse(
    connector: &Connector<'_>,
    name: &str,
    options: &Options,
) -> Result<Session, Error> {
    let (events, tap) = open_sse_stream(connector, name, options).await?;
    open_on_sse(events, tap, name, options).await
}

async fn open_sse_stream(
    connector: &Connector<'_>,
    name: &str,
    options: &Options,
) -> Result<(SseSession, Arc<Tap>), Error> {
    let tap = Tap::new(name);
    let client = connector.tapped(&tap, options);
    let events = SseSession::open(client, &connector.http.sse_url(), options.retry).await?;
    Ok((events, tap))
}

async fn open_on_sse(
    events: SseSession,
    tap: Arc<Tap>,
    name: &str,
    options: &Options,
) -> Result<Session, Error> {
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
    let handler = Handler::new(options, Arc::clone(&asking), Arc::clone(&tap));
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

/// The error for a process that opened no session in time, with what it has written.
fn with_outputs(error: Error, tap: &Tap, tail: &Mutex<Tail>) -> Error {
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

    #[test]
    fn the_path_is_not_blamed_for_another_refusal() {
        const HELP: &str = "check the path";
        let status = |status| Error::new(ErrorKind::Protocol, "refused").with_http(status, None);
        let sse = status(405).with_help(HELP);
        assert_eq!(neither(status(400), sse.clone()).help(), None);
        let not_found = status(404).with_help("look");
        assert_eq!(neither(not_found, sse).help(), Some(HELP));
        let no_stream = Error::new(ErrorKind::Connectivity, "it ended").with_help(HELP);
        assert_eq!(neither(status(400), no_stream).help(), Some(HELP));
    }
}
