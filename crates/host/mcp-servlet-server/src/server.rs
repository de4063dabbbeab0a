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
mod state_keys;
pub(crate) mod task_results;
pub(crate) mod watches;

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, RwLock};

use futures_util::future::join_all;
use mcp_servlet_access::rules::Rules;
use mcp_servlet_call::Change;
use mcp_servlet_common::{lock, read_lock, write_lock};
use mcp_servlet_host::{Host, Member, Servlet};
use tokio::{
    sync::{Semaphore, watch},
    time::Instant,
};

use crate::{access::Access, response_headers::EndpointHeaders};
use changes::{Changes, differences};
use followers::{Followers, follow};
use lists::ListCache;
pub use options::{ServeOptions, TaskOptions};
pub(crate) use process::{Process, Readiness};
use seal::Seal;
pub(crate) use startup::Startup;
pub(crate) use state_keys::CurrentKeys;
pub use state_keys::StateKeys;
use watches::Watches;

/// One endpoint of a [`Service`](crate::Service): what its clients see. Clones are handles to the same endpoint, and do not keep the
/// service running.
#[derive(Clone, Debug)]
pub struct Server(pub(crate) Arc<Shared>);

#[derive(Debug)]
pub(crate) struct Shared {
    host: RwLock<Arc<Host>>,
    /// Sees each replacement of the host.
    replaced: watch::Sender<()>,
    /// When a request first waited for remotes that connect for the first time.
    pub(crate) first_wait: OnceLock<Instant>,
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
    /// Creates an endpoint of this process.
    pub(crate) fn new(
        process: &Arc<Process>,
        host: Arc<Host>,
        mut options: ServeOptions,
        startup: Startup,
    ) -> Self {
        let rules = std::mem::take(&mut options.rules);
        let quotas = std::mem::take(&mut options.quotas);
        let hooks = std::mem::take(&mut options.hooks);
        let server = Self(Arc::new(Shared {
            host: RwLock::new(host),
            replaced: watch::Sender::default(),
            first_wait: OnceLock::new(),
            replacing: Mutex::default(),
            lists: ListCache::default(),
            seal: Seal::new(&process.state_keys, options.endpoint.as_deref()),
            options,
            changes: Changes::default(),
            watches: Watches::default(),
            access: Access::new(rules, quotas, process.nursery.clone()),
            startup,
            headers: RwLock::default(),
            followers: Mutex::default(),
            process: Arc::clone(process),
        }));
        // Until the servlet of the hooks is known, it gives no answer.
        server.0.access.replace_hooks(hooks, None);
        process.add(&server);
        server.follow();
        server
    }

    /// Follows the remotes of the current host.
    fn follow(&self) {
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
        *write_lock(&self.0.headers) = Some(Arc::new(headers));
    }

    /// The headers that replace those with which the endpoint began.
    pub(crate) fn headers(&self) -> Option<Arc<EndpointHeaders>> {
        read_lock(&self.0.headers).clone()
    }

    /// The host that answers new requests.
    pub fn host(&self) -> Arc<Host> {
        Arc::clone(&read_lock(&self.0.host))
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
            self.0.process.relisting.want_servlets();
        }
    }

    /// The right to replace the host.
    fn replacing(&self) -> MutexGuard<'_, ()> {
        lock(&self.0.replacing)
    }

    /// Lets a host answer new requests. The lock that each request needs is held for this exchange only.
    fn set_host(&self, host: Arc<Host>) {
        let previous = std::mem::replace(&mut *write_lock(&self.0.host), host);
        drop(previous);
        self.0.replaced.send_replace(());
    }

    /// Waits until each remote has tried to connect once, and the host has the lists of the remotes that were reached.
    pub(crate) async fn remotes_tried(&self) {
        loop {
            let mut replaced = self.0.replaced.subscribe();
            let host = self.host();
            join_all(host.awaited_remotes().map(|remote| remote.first_attempt())).await;
            // One that still connects has used up its time.
            let is_over = host.awaited_remotes().all(|remote| remote.is_connecting());
            if is_over || replaced.changed().await.is_err() {
                return;
            }
        }
    }

    /// Notifies clients of the lists that differ in a new host.
    fn announce(&self, changes: Vec<Change>) {
        self.0.watches.resolve(self);
        for change in changes {
            self.notify(change);
        }
    }

    /// Ends the startup of a service that began [without servlets](crate::Plan::without_servlets). Waiting requests continue, even if
    /// there are no servlets yet.
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
    pub fn name(&self) -> Option<&str> {
        self.0.options.endpoint.as_deref()
    }

    /// Whether the service is being stopped.
    pub(crate) fn is_stopping(&self) -> bool {
        self.0.process.active.is_stopping()
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
