//! Follows the lists of remotes, and the resources that they report as changed.

use std::sync::{Arc, Weak};

use mcp_servlet_call::Change;
use mcp_servlet_host::{Member, Remote};
use tokio::sync::broadcast::error::RecvError;
use tokio_util::task::AbortOnDropHandle;

use super::{Server, Shared};

/// The tasks that follow the remotes of a host. Dropping one ends it.
pub(super) type Followers = Vec<AbortOnDropHandle<Option<()>>>;

/// Follows the remotes of the current host.
pub(super) fn follow(server: &Server) -> Followers {
    let nursery = &server.0.process.nursery;
    let host = server.host();
    let shared = || Arc::downgrade(&server.0);
    // Handlers of virtual tools are called, and nothing else of them is served.
    let members = host.members().filter_map(Member::as_remote);
    let resources = members.map(|one| nursery.spawn(follow_resources(&**one.remote(), shared())));
    let remotes = host
        .members()
        .chain(host.handlers())
        .filter_map(Member::as_remote);
    let lists = remotes.map(|one| nursery.spawn(follow_lists(&**one.remote(), shared())));
    let tasks = resources.chain(lists);
    tasks.map(AbortOnDropHandle::new).collect()
}

/// Reads the lists of the current host again whenever those of a remote have changed.
fn follow_lists(remote: &dyn Remote, server: Weak<Shared>) -> impl Future<Output = ()> + use<> {
    let mut lists = remote.lists();
    // They may have changed since the host was made.
    lists.mark_changed();
    async move {
        while lists.changed().await.is_ok() {
            let Some(shared) = server.upgrade() else {
                return;
            };
            let server = Server(shared);
            // Another endpoint may have read the lists for all of them.
            let is_current = server.host().has_current_lists();
            if !is_current {
                server.0.process.relisting.want_remotes();
            }
        }
    }
}

/// Notifies the clients of an endpoint of the resources that a remote reports as changed.
fn follow_resources(remote: &dyn Remote, server: Weak<Shared>) -> impl Future<Output = ()> + use<> {
    let mut updates = remote.updated_resources();
    async move {
        loop {
            let next = updates.recv().await;
            let Some(server) = server.upgrade().map(Server) else {
                return;
            };
            let uris = match next {
                Ok(uri) => vec![uri],
                // Some were lost.
                Err(RecvError::Lagged(_)) => server.0.watches.uris(),
                Err(RecvError::Closed) => return,
            };
            for uri in uris {
                server.notify(Change::Resource(uri));
            }
        }
    }
}
