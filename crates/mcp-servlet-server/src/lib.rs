//! MCP for a [`Host`]: every revision from 2024-11-05 to 2026-07-28, over pipes and over HTTP.

mod active;
mod call;
mod changes;
pub mod config;
mod era;
mod exact;
mod features;
mod handler;
mod http;
mod legacy;
mod lines;
mod message;
mod metrics;
mod page;
mod panics;
mod params;
mod relist;
mod rounds;
mod seal;
mod startup;
mod structured;
mod tasks;
mod tell;
pub mod watch;

use std::{
    future::Future,
    sync::{Arc, PoisonError, RwLock},
    thread,
    time::Duration,
};

use mcp_servlet_host::{Host, Introduction};
use mcp_servlet_runtime::Change;
use rmcp::{
    ServiceExt as _,
    service::{QuitReason, ServerInitializeError},
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::Semaphore,
};

use active::{Active, Counted};
use changes::{Changes, differences};
use handler::Handler;
pub use http::{HttpOptions, http, operations};
use lines::{Closed, Lines};
use metrics::Metrics;
use relist::Relisting;
use seal::Seal;
use startup::Startup;
pub use tasks::TaskOptions;
use tasks::{Results, Tasks};

/// How long calls may go on once a client on a pipe sends nothing more. Clients kill servers that stay for longer than two
/// seconds.
const LEAVING: Duration = Duration::from_millis(1500);

/// What holds for every client, however it is connected.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ServeOptions {
    /// How many entries a list has before it goes on in another page.
    pub page_size: usize,
    /// How long a client may take a list for current without asking again.
    pub list_ttl: Duration,
    /// How long calls may go on once the server was told to stop.
    pub drain: Duration,
    /// When calls become tasks, and for how long.
    pub tasks: TaskOptions,
    /// How long requests wait for the servlets of a server that is [`starting`](Server::starting).
    pub startup: Duration,
}

impl Default for ServeOptions {
    fn default() -> Self {
        Self {
            page_size: 1000,
            list_ttl: Duration::from_mins(1),
            drain: Duration::from_secs(10),
            tasks: TaskOptions::default(),
            startup: Duration::from_mins(10),
        }
    }
}

/// A [`Host`] that clients talk to. Clones are handles to the same server.
#[derive(Clone, Debug)]
pub struct Server(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    host: RwLock<Arc<Host>>,
    options: ServeOptions,
    changes: Changes,
    relisting: Relisting,
    active: Active,
    metrics: Metrics,
    seal: Seal,
    startup: Startup,
    /// Room for tasks.
    tasks: Arc<Semaphore>,
    /// Room for their results.
    results: Results,
}

impl Server {
    /// A server for any number of transports.
    pub fn new(host: Arc<Host>, options: ServeOptions) -> Self {
        Self::with(host, options, Startup::done())
    }

    /// A server whose servlets are still being built or loaded.
    ///
    /// Clients connect at once. Their lists, calls and reads wait for the first [`replace`](Self::replace), or for
    /// [`started`](Self::started) if there is nothing to serve, for as long as [`ServeOptions::startup`] allows. As nobody knows
    /// yet what the servlets will offer, the server declares all features: tools, resources, prompts, completions and logging.
    pub fn starting(introduction: Introduction, options: ServeOptions) -> Self {
        let host = Host::new(Vec::new()).introduced(introduction);
        Self::with(Arc::new(host), options, Startup::running())
    }

    fn with(host: Arc<Host>, options: ServeOptions, startup: Startup) -> Self {
        Self(Arc::new(Shared {
            host: RwLock::new(host),
            tasks: tasks::semaphore(options.tasks.max),
            results: Results::new(options.tasks.results),
            options,
            changes: Changes::default(),
            relisting: Relisting::default(),
            active: Active::default(),
            metrics: Metrics::default(),
            seal: Seal::default(),
            startup,
        }))
    }

    /// The host that answers requests now.
    pub fn host(&self) -> Arc<Host> {
        let host = self.0.host.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&host)
    }

    /// Lets another host answer from now on, and tells clients whose lists are different now.
    ///
    /// Calls that have begun end with the host that they began with. Lists that servlets changed while the new host was made
    /// are read again.
    pub fn replace(&self, host: Arc<Host>) {
        let changes_lists = host.changes_lists();
        let mut current = self.0.host.write().unwrap_or_else(PoisonError::into_inner);
        let changes = differences(&current, &host);
        *current = host;
        drop(current);
        self.started();
        for change in changes {
            self.notify(change);
        }
        if changes_lists && self.0.relisting.want() {
            let server = self.clone();
            if let Err(error) = thread::Builder::new().spawn(move || server.relist()) {
                self.0.relisting.forget();
                tracing::warn!(%error, "lists that have changed meanwhile stay as they were");
            }
        }
    }

    /// Lets the requests go on that wait for a server which is [`starting`](Self::starting): its servlets are there, or it has
    /// none for now.
    pub fn started(&self) {
        self.0.startup.end();
    }

    /// Tells every client that wants to know of it what has changed.
    pub fn notify(&self, change: Change) {
        self.0.changes.send(change);
    }

    /// All counters in the text format of Prometheus.
    pub fn metrics(&self) -> String {
        self.0.metrics.encode()
    }

    /// Stops all transports: they take nothing new, let what runs end for [`ServeOptions::drain`], and return.
    pub fn stop(&self) {
        self.0.active.stop();
    }

    /// Whether [`stop`](Self::stop) was called.
    pub fn is_stopping(&self) -> bool {
        self.0.active.is_stopping()
    }

    /// The output of a future, or nothing if the server is stopped before it is there.
    pub async fn unless_stopping<F: Future>(&self, work: F) -> Option<F::Output> {
        self.0.active.unless_stopping(work).await
    }

    /// What serves one connection.
    fn service(&self) -> Counted<Handler> {
        let tasks = Tasks::new(self.0.options.tasks.max_per_connection);
        Counted::new(self.clone(), Handler::new(self.clone(), tasks))
    }
}

/// Why serving stopped before the client was done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// The client and this server could not agree on how to begin.
    #[error("the client did not open the session as MCP wants")]
    Opening {
        /// What happened instead.
        source: Box<ServerInitializeError>,
    },
    /// The task that answers requests died.
    #[error("the server stopped in the middle of its work")]
    Stopped {
        /// How it died.
        source: tokio::task::JoinError,
    },
}

/// Serves on standard input and output until the client closes them or the server is stopped.
///
/// # Errors
/// [`ServeError`]. A client that leaves is no error.
pub async fn stdio(server: &Server) -> Result<(), ServeError> {
    let (reader, writer) = rmcp::transport::stdio_pipes();
    lines(server, reader, writer).await
}

/// Serves one client on any pair of streams, a message per line, until it closes its own or the server is stopped.
///
/// # Errors
/// [`ServeError`]. A client that leaves is no error.
pub async fn lines<R, W>(server: &Server, reader: R, writer: W) -> Result<(), ServeError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let transport = Lines::new(server.clone(), reader, writer);
    let closed = transport.closed();
    // Boxed, because it is large.
    let opening = Box::pin(server.service().serve(transport));
    let Some(opened) = server.0.active.unless_stopping(opening).await else {
        return Ok(());
    };
    let running = match opened {
        Ok(running) => running,
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(source) => {
            return Err(ServeError::Opening {
                source: Box::new(source),
            });
        }
    };
    let cancel = running.cancellation_token();
    let mut waiting = std::pin::pin!(running.waiting());
    let ended = tokio::select! {
        ended = &mut waiting => ended,
        () = drained(server) => {
            cancel.cancel();
            waiting.await
        }
        () = left(&closed) => {
            cancel.cancel();
            waiting.await
        }
    };
    match ended {
        Ok(QuitReason::JoinError(source)) | Err(source) => Err(ServeError::Stopped { source }),
        Ok(_) => Ok(()),
    }
}

/// Returns when the server is told to stop and what was running has ended, or has had its time.
async fn drained(server: &Server) {
    server.0.active.stopping().await;
    server.0.active.idle(server.0.options.drain).await;
}

/// Returns when nobody waits for an answer any more: the client reads nothing more, or sends nothing more and has waited.
async fn left(closed: &Closed) {
    let sends_nothing = async {
        closed.input.cancelled().await;
        tokio::time::sleep(LEAVING).await;
    };
    tokio::select! {
        () = closed.output.cancelled() => {}
        () = sends_nothing => {}
    }
}

/// Returns when the process is asked to end: by Ctrl-C or, on Unix, SIGTERM.
///
/// # Errors
/// If the system does not let this process listen for signals.
pub async fn asked_to_end() -> std::io::Result<()> {
    #[cfg(unix)]
    let terminated = {
        let mut signal = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
        async move { signal.recv().await }
    };
    #[cfg(not(unix))]
    let terminated = std::future::pending::<Option<()>>();
    either(tokio::signal::ctrl_c(), terminated).await
}

async fn either(
    first: impl Future<Output = std::io::Result<()>>,
    second: impl Future<Output = Option<()>>,
) -> std::io::Result<()> {
    tokio::select! {
        result = first => result,
        _ = second => Ok(()),
    }
}
