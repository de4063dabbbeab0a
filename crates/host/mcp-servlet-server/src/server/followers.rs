//! Follows the lists of remotes.

use std::sync::Arc;

use mcp_servlet_host::Member;
use tokio::runtime::Handle;
use tokio_util::task::AbortOnDropHandle;

use super::Server;

/// The tasks that follow the remotes of a host. Dropping one ends it.
pub(super) type Followers = Vec<AbortOnDropHandle<()>>;

/// Reads the lists of the current host again whenever those of a remote have changed. Without a tokio runtime there are
/// no remotes.
pub(super) fn follow(server: &Server) -> Followers {
    let Ok(runtime) = Handle::try_current() else {
        return Followers::new();
    };
    let host = server.host();
    let remotes = host
        .members()
        .chain(host.handlers())
        .filter_map(Member::as_remote);
    let follow = remotes.map(|member| {
        let mut lists = member.remote().lists();
        // They may have changed since the host was made.
        lists.mark_changed();
        let shared = Arc::downgrade(&server.0);
        AbortOnDropHandle::new(runtime.spawn(async move {
            while lists.changed().await.is_ok() {
                let Some(shared) = shared.upgrade() else {
                    return;
                };
                let server = Server(shared);
                // Another endpoint may have read the lists for all of them.
                let is_current = server.host().has_current_lists();
                if !is_current && server.0.process.relisting.want() {
                    // A failure means that the runtime ends.
                    let _ = tokio::task::spawn_blocking(move || server.relist()).await;
                }
            }
        }))
    });
    follow.collect()
}
