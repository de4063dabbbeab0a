//! The server that all transports share.

pub(crate) mod active;
pub(crate) mod changes;
mod metrics;
mod options;
mod relist;
pub(crate) mod seal;
mod startup;
pub(crate) mod task_results;

use std::{
    future::Future,
    sync::{Arc, PoisonError, RwLock},
    thread,
};

use mcp_servlet_host::{Host, Introduction};
use mcp_servlet_runtime::Change;
use tokio::sync::Semaphore;

use active::Active;
use changes::{Changes, differences};
pub(crate) use metrics::Metrics;
pub use options::{ServeOptions, TaskOptions};
use relist::Relisting;
use seal::Seal;
use startup::Startup;
use task_results::{Results, semaphore};

/// A [`Host`] that clients talk to. Clones are handles to the same server.
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
    /// Room for tasks.
    pub(crate) tasks: Arc<Semaphore>,
    /// Room for their results.
    pub(crate) results: Results,
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
            tasks: semaphore(options.tasks.max),
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
}
