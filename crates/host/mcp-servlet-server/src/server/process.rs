//! What all endpoints of a process share.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, OnceLock, Weak},
};

use futures_util::future::join_all;
use mcp_servlet_access::audit::{Event, Fields};
use mcp_servlet_call::Nursery;
use mcp_servlet_common::lock;
use mcp_servlet_host::Member;
use tokio::sync::Semaphore;

use super::{
    CurrentKeys, Server, Shared, TaskOptions,
    active::Active,
    metrics::{Metrics, ReloadOutcome},
    relist::Relisting,
    semaphore,
    task_results::Results,
};
use crate::{
    records::{RecordOptions, Records, RecordsError},
    store::{Store, StoreOptions},
};

/// The running work, the limits and the counters of a process.
#[derive(Debug)]
pub(crate) struct Process {
    /// The tasks of everything.
    pub(crate) nursery: Nursery,
    /// The tasks of transports, which end by themselves after the process is stopped.
    pub(crate) transports: Nursery,
    pub(crate) active: Active,
    pub(crate) metrics: Metrics,
    pub(crate) relisting: Relisting,
    /// The keys with which state is sealed that leaves the process.
    pub(crate) state_keys: CurrentKeys,
    /// The stores that processes share.
    stores: Mutex<Vec<Arc<Store>>>,
    /// The audit log and the traces, if there are any. They are opened before anything is served.
    pub(crate) records: OnceLock<Records>,
    /// Permits for tasks.
    pub(crate) tasks: Arc<Semaphore>,
    /// Room for the results of tasks.
    pub(crate) results: Results,
    /// The names of servlets that could not be loaded.
    skipped: Mutex<Vec<String>>,
    /// One server for each endpoint.
    servers: Mutex<Vec<Weak<Shared>>>,
}

/// The state of a remote.
#[derive(Debug)]
pub(crate) struct RemoteState {
    /// Why it is not served, if it is not.
    pub(crate) outage: Option<&'static str>,
    /// How many of its entries are hidden.
    pub(crate) hidden: usize,
}

/// The parts of a configuration that are not served.
#[derive(Debug)]
pub(crate) struct Readiness {
    /// Whether the process stops soon.
    pub(crate) is_leaving: bool,
    /// Whether servlets are still being built or loaded.
    pub(crate) is_starting: bool,
    /// The servlets that could not be loaded.
    pub(crate) servlets: Vec<String>,
    /// The remotes that are not served, and why.
    pub(crate) remotes: BTreeMap<String, &'static str>,
    /// Whether calls are refused, because the audit log cannot be written.
    pub(crate) lacks_audit: bool,
    /// The stores with `ready` that cannot be reached.
    pub(crate) stores: Vec<String>,
}

impl Drop for Process {
    fn drop(&mut self) {
        self.nursery.cancel();
    }
}

impl Process {
    /// # Panics
    /// Outside of a tokio runtime.
    pub(crate) fn start(tasks: &TaskOptions) -> Arc<Self> {
        let nursery = Nursery::new();
        let process = Arc::new(Self {
            transports: nursery.child(),
            nursery,
            active: Active::default(),
            metrics: Metrics::default(),
            relisting: Relisting::default(),
            state_keys: CurrentKeys::default(),
            stores: Mutex::default(),
            records: OnceLock::new(),
            tasks: semaphore(tasks.max),
            results: Results::new(tasks.results),
            skipped: Mutex::default(),
            servers: Mutex::default(),
        });
        let relisting = process.relisting.clone();
        process
            .nursery
            .spawn(relisting.serve(Arc::downgrade(&process)));
        process
    }

    pub(super) fn add(&self, server: &Server) {
        let mut servers = lock(&self.servers);
        servers.retain(|server| server.strong_count() > 0);
        servers.push(Arc::downgrade(&server.0));
    }

    pub(crate) fn set_skipped(&self, servlets: Vec<String>) {
        *lock(&self.skipped) = servlets;
    }

    /// All metrics, in the Prometheus text format.
    pub(crate) fn encode_metrics(&self) -> String {
        self.metrics.encode(&self.remotes())
    }

    /// Each remote of the process.
    pub(crate) fn remotes(&self) -> BTreeMap<String, RemoteState> {
        let mut remotes = BTreeMap::new();
        for server in self.servers() {
            let host = server.host();
            let members = host.members().chain(host.handlers());
            for member in members.filter_map(Member::as_remote) {
                let remote = member.remote();
                let state = RemoteState {
                    outage: remote.outage(),
                    hidden: remote.lists().borrow().hidden.len(),
                };
                remotes.insert(remote.name().to_owned(), state);
            }
        }
        remotes
    }

    /// The parts of the configuration that are not served now.
    pub(crate) async fn readiness(&self) -> Readiness {
        let stores = self.stores_away().await;
        let remotes = self.remotes().into_iter();
        Readiness {
            is_leaving: self.active.is_leaving(),
            is_starting: self.servers().iter().any(|one| one.0.startup.is_running()),
            servlets: lock(&self.skipped).clone(),
            remotes: remotes
                .filter_map(|(name, state)| Some((name, state.outage?)))
                .collect(),
            lacks_audit: self.records.get().is_some_and(Records::refuse_calls),
            stores,
        }
    }

    /// The connection to a store. Endpoints with the same store have the same connection. It is tried at once, so that the log has a
    /// wrong address or password before the first session.
    pub(crate) fn store(&self, options: &StoreOptions) -> Arc<Store> {
        let mut stores = lock(&self.stores);
        let known = stores.iter().find(|store| store.options() == options);
        if let Some(known) = known {
            return Arc::clone(known);
        }
        let store = Arc::new(Store::new(options.clone(), self.nursery.clone()));
        stores.push(Arc::clone(&store));
        let tried = Arc::clone(&store);
        self.nursery
            .spawn(async move { tried.takes_writes().await });
        store
    }

    async fn stores_away(&self) -> Vec<String> {
        let required = lock(&self.stores).clone();
        let required = required.iter().filter(|store| store.options().ready);
        let asked = required.map(async |store| {
            let name = store.options().name.clone();
            (!store.takes_writes().await).then_some(name)
        });
        join_all(asked).await.into_iter().flatten().collect()
    }

    /// Counts a reload, and writes it to the audit log.
    pub(crate) fn reloaded(&self, outcome: ReloadOutcome) {
        let outcome = self.metrics.reloaded(outcome);
        if let Some(records) = self.records.get() {
            let fields = Fields {
                outcome: Some(outcome),
                ..Fields::default()
            };
            records.note(Event::Reload, fields);
        }
    }

    /// Opens the records, before anything is served.
    pub(crate) fn open_records(&self, options: &RecordOptions) -> Result<(), RecordsError> {
        if let Some(records) = Records::open(options, self.metrics.audit_lost.clone())? {
            // A service opens them once.
            let _ = self.records.set(records);
        }
        Ok(())
    }

    #[cfg(unix)]
    pub(crate) fn has_audit_log(&self) -> bool {
        self.records.get().is_some_and(|all| all.audit().is_some())
    }

    pub(crate) fn reopen_audit_log(&self) {
        if let Some(records) = self.records.get() {
            records.reopen();
        }
    }

    /// Writes what waits.
    pub(crate) async fn close_records(&self) {
        if let Some(records) = self.records.get() {
            records.close().await;
        }
    }

    /// The servers of all endpoints.
    pub(crate) fn servers(&self) -> Vec<Server> {
        let servers = lock(&self.servers);
        servers
            .iter()
            .filter_map(Weak::upgrade)
            .map(Server)
            .collect()
    }
}
