//! What all endpoints of a process share.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::Semaphore;

use super::{
    Server, Shared, TaskOptions, active::Active, metrics::Metrics, relist::Relisting, semaphore,
    task_results::Results,
};

/// The running work, the limits and the counters of a process.
#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) active: Active,
    pub(crate) metrics: Metrics,
    pub(crate) relisting: Relisting,
    /// Permits for tasks.
    pub(crate) tasks: Arc<Semaphore>,
    /// Room for the results of tasks.
    pub(crate) results: Results,
    /// One server for each endpoint.
    servers: Mutex<Vec<Weak<Shared>>>,
}

impl Process {
    pub(super) fn new(tasks: &TaskOptions) -> Self {
        Self {
            active: Active::default(),
            metrics: Metrics::default(),
            relisting: Relisting::default(),
            tasks: semaphore(tasks.max),
            results: Results::new(tasks.results),
            servers: Mutex::default(),
        }
    }

    pub(super) fn add(&self, server: &Server) {
        let mut servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        servers.retain(|server| server.strong_count() > 0);
        servers.push(Arc::downgrade(&server.0));
    }

    /// The servers of all endpoints.
    pub(crate) fn servers(&self) -> Vec<Server> {
        let servers = self.servers.lock().unwrap_or_else(PoisonError::into_inner);
        servers
            .iter()
            .filter_map(Weak::upgrade)
            .map(Server)
            .collect()
    }
}
