//! Requests that wait until the server has loaded its servlets, and until remotes have been tried once.

use std::{sync::Arc, time::Duration};

use mcp_servlet_call::RpcError;
use mcp_servlet_host::Host;
use rmcp::{RoleServer, service::RequestContext};
use serde_json::json;
use tokio::time::{Instant, timeout_at};

use super::Handler;
use crate::server::{Server, active::cancelled};

/// How long a list waits, or a request for an entry that no member lists. Clients commonly give a server a minute to connect and to
/// list everything, one list after the other.
const LIST_WAIT: Duration = Duration::from_secs(8);

/// How long the answer with the instructions waits for remotes. Some clients give a server ten seconds to connect and to list its tools.
const INSTRUCTIONS_WAIT: Duration = Duration::from_secs(3);

impl Handler {
    /// The host that answers a request. While the server starts, the request waits.
    pub(super) async fn host(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> Result<Arc<Host>, RpcError> {
        if self.started(context, self.server.0.options.startup).await {
            return Ok(self.server.host());
        }
        Err(self.not_started())
    }

    /// The host that answers a request for an entry. If no member lists the entry, it waits for remotes that connect for the first time.
    pub(super) async fn host_with(
        &self,
        context: &RequestContext<RoleServer>,
        is_listed: impl Fn(&Host) -> bool,
    ) -> Result<Arc<Host>, RpcError> {
        let host = self.host(context).await?;
        if is_listed(&host) {
            return Ok(host);
        }
        self.remotes_tried(context, LIST_WAIT).await;
        Ok(self.server.host())
    }

    /// Waits for the instructions of remotes that connect for the first time, unless clients get those of the operator.
    pub(super) async fn wait_for_instructions(&self, context: &RequestContext<RoleServer>) {
        let host = self.server.host();
        if host.introduction().instructions.is_none() {
            self.remotes_tried(context, INSTRUCTIONS_WAIT).await;
        }
    }

    /// The host that answers a list, and whether the list is final. A list that has waited for some time while the server starts is
    /// empty, or does not have the entries of all remotes. Clients are notified when there are more.
    pub(super) async fn host_of_list(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> Result<(Arc<Host>, bool), RpcError> {
        let wait = LIST_WAIT.min(self.server.0.options.startup);
        let is_final =
            self.started(context, wait).await && self.remotes_tried(context, LIST_WAIT).await;
        if !is_final && self.server.is_stopping() {
            return Err(self.not_started());
        }
        Ok((self.server.host(), is_final))
    }

    /// Waits until the server has started. False if it does not within `limit`.
    async fn started(&self, context: &RequestContext<RoleServer>, limit: Duration) -> bool {
        let Server(shared) = &self.server;
        tokio::select! {
            biased;
            is_ready = shared.startup.wait(limit) => is_ready,
            () = cancelled(context) => false,
            () = shared.process.active.stopping() => false,
        }
    }

    /// Waits until all remotes have been tried once. False if that takes longer than `limit`, which counts from the first request that
    /// waits: one remote that hangs must not delay each request of a client.
    async fn remotes_tried(&self, context: &RequestContext<RoleServer>, limit: Duration) -> bool {
        let Server(shared) = &self.server;
        if self.server.host().awaited_remotes().next().is_none() {
            return true;
        }
        let end = *shared.first_wait.get_or_init(Instant::now) + limit;
        tokio::select! {
            biased;
            tried = timeout_at(end, self.server.remotes_tried()) => tried.is_ok(),
            () = cancelled(context) => false,
            () = shared.process.active.stopping() => false,
        }
    }

    fn not_started(&self) -> RpcError {
        let Server(shared) = &self.server;
        let message = if shared.process.active.is_stopping() {
            "the server is stopping"
        } else {
            "the servlets are not loaded yet; try again later"
        };
        RpcError::new(RpcError::BUSY, message).with_data(json!({ "retry": true }))
    }
}
