//! The server behind all transports.

pub(crate) mod active;
pub(crate) mod changes;
mod followers;
mod metrics;
mod options;
mod relist;
pub(crate) mod seal;
mod startup;
pub(crate) mod task_results;

use std::{
    future::Future,
    sync::{Arc, Mutex, PoisonError, RwLock},
    thread,
};

use mcp_servlet_host::{Host, Introduction};
use mcp_servlet_runtime::Change;
use tokio::sync::Semaphore;

use active::Active;
use changes::{Changes, differences};
use followers::{Followers, follow};
pub(crate) use metrics::Metrics;
pub use options::{ServeOptions, TaskOptions};
use relist::Relisting;
use seal::Seal;
use startup::Startup;
use task_results::Results;

/// A server for the servlets of a [`Host`]. Clones are handles to the same server.
#[derive(Clone, Debug)]
pub struct Server(pub(crate) Arc<Shared>);

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) host: RwLock<Arc<Host>>,
    pub(crate) options: ServeOptions,
    pub(crate) changes: Changes,
    pub(crate) relisting: Relisting,
    pub(crate) active: Active,
    pub(crate) metrics: Metrics,
    pub(crate) seal: Seal,
    pub(crate) startup: Startup,
    /// Tasks that follow the remotes of the host.
    followers: Mutex<Followers>,
    /// Permits for tasks.
    pub(crate) tasks: Arc<Semaphore>,
    /// Room for the results of tasks.
    pub(crate) results: Results,
}

impl Server {
    /// Creates a server for any number of transports. With remotes, it needs the tokio runtime that they run in.
    pub fn new(host: Arc<Host>, options: ServeOptions) -> Self {
        Self::with(host, options, Startup::done())
    }

    /// Creates a server whose servlets are still being built or loaded.
    ///
    /// Clients can connect at once. Their lists, calls and reads wait for the first
    /// [`replace`](Self::replace), or for [`started`](Self::started) if there is nothing to serve,
    /// but no longer than [`ServeOptions::startup`]. The features of the servlets are unknown until
    /// then, so the server declares all of them: tools, resources, prompts, completions and
    /// logging.
    pub fn starting(introduction: Introduction, options: ServeOptions) -> Self {
        let host = Host::new(Vec::new()).introduced(introduction);
        Self::with(Arc::new(host), options, Startup::running())
    }

    fn with(host: Arc<Host>, options: ServeOptions, startup: Startup) -> Self {
        let server = Self(Arc::new(Shared {
            host: RwLock::new(host),
            tasks: semaphore(options.tasks.max),
            results: Results::new(options.tasks.results),
            options,
            changes: Changes::default(),
            relisting: Relisting::default(),
            active: Active::default(),
            metrics: Metrics::default(),
            seal: Seal::default(),
            startup,
            followers: Mutex::default(),
        }));
        server.follow();
        server
    }

    /// Follows the remotes of the current host.
    fn follow(&self) {
        let followers = follow(self);
        *self
            .0
            .followers
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = followers;
    }

    /// The host that answers new requests.
    pub fn host(&self) -> Arc<Host> {
        let host = self.0.host.read().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&host)
    }

    /// Replaces the host, and notifies clients whose lists have changed.
    ///
    /// Running calls finish on the previous host. Lists that servlets changed while the new host
    /// was being made are read again.
    pub fn replace(&self, host: Arc<Host>) {
        let changes_lists = host.changes_lists();
        let mut current = self.0.host.write().unwrap_or_else(PoisonError::into_inner);
        let changes = differences(&current, &host);
        *current = host;
        drop(current);
        self.started();
        self.follow();
        for change in changes {
            self.notify(change);
        }
        if changes_lists && self.0.relisting.want() {
            let server = self.clone();
            if let Err(error) = thread::Builder::new().spawn(move || server.relist()) {
                self.0.relisting.forget();
                tracing::warn!(%error, "cannot update changed lists");
            }
        }
    }

    /// Ends the startup of a server that is [`starting`](Self::starting). Waiting requests
    /// continue, even if there are no servlets yet.
    pub fn started(&self) {
        self.0.startup.end();
    }

    /// Notifies all clients that receive this kind of change.
    pub fn notify(&self, change: Change) {
        self.0.changes.send(change);
    }

    /// All counters, in the Prometheus text format.
    pub fn metrics(&self) -> String {
        self.0.metrics.encode()
    }

    /// Stops all transports. They refuse new requests, let running calls finish for up to
    /// [`ServeOptions::drain`], and return.
    pub fn stop(&self) {
        self.0.active.stop();
    }

    /// Whether [`stop`](Self::stop) was called.
    pub fn is_stopping(&self) -> bool {
        self.0.active.is_stopping()
    }

    /// Runs a future. None if the server is stopped first.
    pub async fn unless_stopping<F: Future>(&self, work: F) -> Option<F::Output> {
        self.0.active.unless_stopping(work).await
    }
}

/// A semaphore with that many permits, or the maximum.
pub(crate) fn semaphore(max: usize) -> Arc<Semaphore> {
    Arc::new(Semaphore::new(max.min(Semaphore::MAX_PERMITS)))
}
