//! The server behind all transports.

pub(crate) mod active;
pub(crate) mod changes;
mod followers;
pub(crate) mod lists;
pub(crate) mod metrics;
mod options;
mod process;
mod relist;
pub(crate) mod seal;
mod startup;
pub(crate) mod task_results;
pub(crate) mod watches;

use std::{
    future::Future,
    sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock},
};

use mcp_servlet_access::rules::Rules;
use mcp_servlet_common::lock;
use mcp_servlet_host::{Host, Introduction, Member, Servlet};
use mcp_servlet_runtime::Change;
use tokio::sync::Semaphore;

use crate::{access::Access, response_headers::EndpointHeaders};
use changes::{Changes, differences};
use followers::{Followers, follow};
use lists::ListCache;
pub use options::{ServeOptions, TaskOptions};
pub(crate) use process::{Process, Readiness};
use seal::Seal;
use startup::Startup;
use watches::Watches;

/// A server for the servlets of a [`Host`]. Clones are handles to the same server.
///
/// A process with several endpoints has one server for each of them: see
/// [`endpoint`](Self::endpoint).
#[derive(Clone, Debug)]
pub struct Server(pub(crate) Arc<Shared>);

#[derive(Debug)]
pub(crate) struct Shared {
    host: RwLock<Arc<Host>>,
    /// Held while the host is replaced, so that what was compared is what is replaced.
    replacing: Mutex<()>,
    pub(crate) lists: ListCache,
    pub(crate) options: ServeOptions,
    pub(crate) changes: Changes,
    pub(crate) watches: Watches,
    pub(crate) seal: Seal,
    pub(crate) access: Access,
    pub(crate) startup: Startup,
    /// The headers of HTTP responses, if a reload has replaced those that the endpoint began with.
    headers: RwLock<Option<Arc<EndpointHeaders>>>,
    /// Tasks that follow the remotes of the host.
    followers: Mutex<Followers>,
    pub(crate) process: Arc<Process>,
}

impl Server {
    /// Creates a server for any number of transports. With remotes, it needs the tokio runtime that they run in.
    pub fn new(host: Arc<Host>, options: ServeOptions) -> Self {
        let process = Arc::new(Process::new(&options.tasks));
        Self::with(host, options, Startup::done(), process)
    }

    /// Creates the server of another endpoint in the same process.
    ///
    /// It has its own list of servlets, options and sessions. Servlets that both hosts contain are
    /// not loaded twice. The limits for tasks, the metrics and [`stop`](Self::stop) are common to
    /// all endpoints.
    #[must_use]
    pub fn endpoint(&self, host: Arc<Host>, options: ServeOptions) -> Self {
        let process = Arc::clone(&self.0.process);
        Self::with(host, options, Startup::done(), process)
    }

    /// Creates a server whose servlets are still being built or loaded.
    ///
    /// Clients can connect at once. Their lists, calls and reads wait for the first
    /// [`replace`](Self::replace), or for [`started`](Self::started) if there is nothing to serve,
    /// but no longer than [`ServeOptions::startup`]. A list that has waited for eight seconds is
    /// empty, and [`replace`](Self::replace) notifies the client that it has changed. The features
    /// of the servlets are unknown until then, so the server declares all of them: tools,
    /// resources, prompts, completions and logging.
    pub fn starting(introduction: Introduction, options: ServeOptions) -> Self {
        let host = Host::new(Vec::new()).introduced(introduction);
        let process = Arc::new(Process::new(&options.tasks));
        Self::with(Arc::new(host), options, Startup::running(), process)
    }

    fn with(
        host: Arc<Host>,
        mut options: ServeOptions,
        startup: Startup,
        process: Arc<Process>,
    ) -> Self {
        let rules = std::mem::take(&mut options.rules);
        let server = Self(Arc::new(Shared {
            host: RwLock::new(host),
            replacing: Mutex::default(),
            lists: ListCache::default(),
            options,
            changes: Changes::default(),
            watches: Watches::default(),
            seal: Seal::default(),
            access: Access::new(rules),
            startup,
            headers: RwLock::default(),
            followers: Mutex::default(),
            process: Arc::clone(&process),
        }));
        process.add(&server);
        server.follow();
        server
    }

    /// Follows the remotes of the current host.
    fn follow(&self) {
        self.start_relisting();
        let followers = follow(self);
        *lock(&self.0.followers) = followers;
    }

    /// Replaces the rules, and notifies clients whose lists have changed.
    pub(crate) fn replace_rules(&self, rules: &Rules) {
        if self.0.access.replace_rules(rules) {
            self.announce(vec![Change::Tools, Change::Prompts, Change::Resources]);
        }
    }

    /// Replaces the headers of HTTP responses.
    pub(crate) fn replace_headers(&self, headers: EndpointHeaders) {
        let mut current = self
            .0
            .headers
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        *current = Some(Arc::new(headers));
    }

    /// The headers that replace those with which the endpoint began.
    pub(crate) fn headers(&self) -> Option<Arc<EndpointHeaders>> {
        let headers = self
            .0
            .headers
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        headers.clone()
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
        let changes = {
            let _turn = self.replacing();
            let changes = differences(&self.host(), &host);
            self.set_host(host);
            changes
        };
        self.started();
        self.follow();
        self.announce(changes);
        if changes_lists {
            self.0.process.relisting.want();
        }
    }

    /// The right to replace the host.
    fn replacing(&self) -> MutexGuard<'_, ()> {
        lock(&self.0.replacing)
    }

    /// Lets a host answer new requests. The lock that each request needs is held for this exchange only.
    fn set_host(&self, host: Arc<Host>) {
        let mut current = self.0.host.write().unwrap_or_else(PoisonError::into_inner);
        let previous = std::mem::replace(&mut *current, host);
        drop(current);
        drop(previous);
    }

    /// Notifies clients of the lists that differ in a new host.
    fn announce(&self, changes: Vec<Change>) {
        self.0.watches.resolve(self);
        for change in changes {
            self.notify(change);
        }
    }

    /// Ends the startup of a server that is [`starting`](Self::starting). Waiting requests
    /// continue, even if there are no servlets yet.
    pub fn started(&self) {
        self.0.startup.end();
    }

    /// Notifies all clients of this endpoint that receive this kind of change.
    pub fn notify(&self, change: Change) {
        self.0.changes.send(change);
    }

    /// Notifies the clients of every endpoint that has a servlet of this one.
    pub(crate) fn notify_sharing(&self, change: &Change) {
        let host = self.host();
        for server in self.0.process.servers() {
            let other = server.host();
            if !Arc::ptr_eq(&server.0, &self.0) && !share_a_servlet(&host, &other) {
                continue;
            }
            if let Change::Resource(uri) = change {
                other
                    .servlets()
                    .iter()
                    .for_each(|servlet| servlet.forget_resource(uri));
            }
            server.notify(change.clone());
        }
    }

    /// The name of the endpoint in the configuration.
    pub(crate) fn endpoint_name(&self) -> Option<&str> {
        self.0.options.endpoint.as_deref()
    }

    /// All metrics of the process, in the Prometheus text format.
    pub fn metrics(&self) -> String {
        let process = &self.0.process;
        process.metrics.encode(&process.remotes())
    }

    /// Notes which servlets are not served, because they could not be loaded. Then the path `/ready` answers with status 503.
    pub fn set_skipped(&self, servlets: Vec<String>) {
        self.0.process.set_skipped(servlets);
    }

    /// Lets the path `/ready` answer with status 503 from now on, so that load balancers send no new clients. Requests are
    /// still served until [`stop`](Self::stop).
    pub fn leave(&self) {
        self.0.process.active.leave();
    }

    /// Stops all transports of all endpoints. They refuse new requests, let running calls finish for up to
    /// [`ServeOptions::drain`], and return.
    pub fn stop(&self) {
        self.0.process.active.stop();
    }

    /// Whether [`stop`](Self::stop) was called.
    pub fn is_stopping(&self) -> bool {
        self.0.process.active.is_stopping()
    }

    /// Runs a future. None if the server is stopped first.
    pub async fn unless_stopping<F: Future>(&self, work: F) -> Option<F::Output> {
        self.0.process.active.unless_stopping(work).await
    }
}

fn share_a_servlet(one: &Host, other: &Host) -> bool {
    let is_same = |a: &Servlet, b: &Servlet| a.name() == b.name() && a.digest() == b.digest();
    // Virtual tools also call servlets that the host does not list.
    let handlers = one.handlers().iter().filter_map(Member::as_servlet);
    let mut servlets = one.servlets().iter().chain(handlers);
    servlets.any(|a| other.servlets().iter().any(|b| is_same(a, b)))
}

/// A semaphore with that many permits, or the maximum.
pub(crate) fn semaphore(max: usize) -> Arc<Semaphore> {
    Arc::new(Semaphore::new(max.min(Semaphore::MAX_PERMITS)))
}
