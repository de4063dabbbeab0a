//! Reads the lists of servlets again after they have changed.

use std::sync::{Arc, Weak};

use mcp_servlet_host::Relisted;
use mcp_servlet_runtime::chain;
use tokio::sync::Notify;

use crate::server::{Process, Server, changes::differences};

/// Requests to read lists again.
#[derive(Clone, Debug, Default)]
pub(crate) struct Relisting(Arc<Notify>);

impl Relisting {
    /// Requests a new read. Requests until it begins are one.
    pub(crate) fn want(&self) {
        self.0.notify_one();
    }

    /// Reads lists again whenever that is wanted. Ends with the process.
    pub(super) async fn serve(self, process: Weak<Process>) {
        loop {
            self.0.notified().await;
            let Some(process) = process.upgrade() else {
                return;
            };
            let read = tokio::task::spawn_blocking(move || relist(process.servers()));
            if let Err(error) = read.await {
                tracing::error!(%error, "changed lists were not read again");
            }
        }
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
