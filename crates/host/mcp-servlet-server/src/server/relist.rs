//! Takes over lists that have changed: servlets are asked for theirs, and remotes have read theirs.

use std::sync::{Arc, Weak};

use mcp_servlet_call::chain;
use mcp_servlet_host::Relisted;
use tokio::sync::Notify;

use crate::server::{Process, Server, changes::differences};

/// Requests to take over lists.
#[derive(Clone, Debug, Default)]
pub(crate) struct Relisting {
    servlets: Arc<Notify>,
    remotes: Arc<Notify>,
}

impl Relisting {
    /// Requests to ask all servlets that announce changes. Requests until that begins are one.
    pub(crate) fn want_servlets(&self) {
        self.servlets.notify_one();
    }

    /// Requests to take over the current lists of remotes. Requests until that begins are one.
    pub(crate) fn want_remotes(&self) {
        self.remotes.notify_one();
    }

    /// Takes over lists whenever that is wanted. Ends with the process. A servlet that is busy holds up no list of a remote.
    pub(super) async fn serve(self, process: Weak<Process>) {
        tokio::join!(
            serve(&self.servlets, &process, Relisted::default),
            serve(&self.remotes, &process, Relisted::of_remotes),
        );
    }
}

async fn serve(wanted: &Notify, process: &Weak<Process>, start: fn() -> Relisted) {
    loop {
        wanted.notified().await;
        let Some(process) = process.upgrade() else {
            return;
        };
        let read = tokio::task::spawn_blocking(move || relist(process.servers(), start()));
        if let Err(error) = read.await {
            tracing::error!(%error, "changed lists were not read again");
        }
    }
}

/// Takes over lists for all endpoints, and notifies clients of the differences. Waits for running calls of the servlets that it asks.
fn relist(servers: Vec<Server>, mut relisted: Relisted) {
    for server in servers {
        server.relist(&mut relisted);
    }
}

impl Server {
    fn relist(&self, relisted: &mut Relisted) {
        let (old, new, changes) = loop {
            let old = self.host();
            let new = Arc::new(old.relisted_with(relisted));
            let _turn = self.replacing();
            // Otherwise the host was replaced meanwhile. Servlets that were asked are not asked again.
            if Arc::ptr_eq(&self.host(), &old) {
                let changes = differences(&old, &new);
                self.set_host(Arc::clone(&new));
                break (old, new, changes);
            }
        };
        let known: Vec<_> = old.problems().map(|problem| chain(problem)).collect();
        let problems = new.problems().map(|problem| chain(problem));
        for problem in problems.filter(|problem| !known.contains(problem)) {
            tracing::warn!("{problem}");
        }
        self.announce(changes);
    }
}
