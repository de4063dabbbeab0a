//! Reads the lists of servlets again after they have changed.

use std::sync::{Arc, Mutex};

use mcp_servlet_common::lock;
use mcp_servlet_host::Relisted;
use mcp_servlet_runtime::chain;
use tokio::{runtime::Handle, sync::Notify};
use tokio_util::task::AbortOnDropHandle;

use crate::server::{Server, changes::differences};

/// The task that reads lists again.
#[derive(Debug, Default)]
pub(crate) struct Relisting {
    wanted: Arc<Notify>,
    task: Mutex<Option<AbortOnDropHandle<()>>>,
}

impl Relisting {
    /// Requests a new read. Requests until it begins are one. Without a tokio runtime, it begins when a transport does.
    pub(crate) fn want(&self) {
        self.wanted.notify_one();
    }
}

/// Reads the lists of servlets that announce changes, for all endpoints, and notifies clients of the differences. Waits for
/// running calls of these servlets.
fn relist(servers: Vec<Server>) {
    let mut relisted = Relisted::default();
    for server in servers {
        server.relist(&mut relisted);
    }
}

impl Server {
    /// Starts the task that reads lists again, unless it runs already. Without a tokio runtime it does not.
    pub(crate) fn start_relisting(&self) {
        let Ok(runtime) = Handle::try_current() else {
            return;
        };
        let relisting = &self.0.process.relisting;
        let mut task = lock(&relisting.task);
        if !task.as_ref().is_none_or(AbortOnDropHandle::is_finished) {
            return;
        }
        let (wanted, process) = (
            Arc::clone(&relisting.wanted),
            Arc::downgrade(&self.0.process),
        );
        let relist = async move {
            loop {
                wanted.notified().await;
                let Some(process) = process.upgrade() else {
                    return;
                };
                let read = tokio::task::spawn_blocking(move || relist(process.servers()));
                if let Err(error) = read.await {
                    tracing::error!(%error, "changed lists were not read again");
                }
            }
        };
        *task = Some(AbortOnDropHandle::new(runtime.spawn(relist)));
    }

    fn relist(&self, relisted: &mut Relisted) {
        let old = self.host();
        let new = Arc::new(old.relisted_with(relisted));
        let known: Vec<_> = old.problems().map(|problem| chain(problem)).collect();
        let problems = new.problems().map(|problem| chain(problem));
        for problem in problems.filter(|problem| !known.contains(problem)) {
            tracing::warn!("{problem}");
        }
        let changes = {
            let _turn = self.replacing();
            if !Arc::ptr_eq(&self.host(), &old) {
                // The servlets were replaced meanwhile, and `replace` reads the new lists.
                return;
            }
            let changes = differences(&old, &new);
            self.set_host(new);
            changes
        };
        self.announce(changes);
    }
}
