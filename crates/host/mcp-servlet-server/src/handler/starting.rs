//! Requests that wait until the server has loaded its servlets.

use std::{sync::Arc, time::Duration};

use mcp_servlet_call::RpcError;
use mcp_servlet_host::Host;
use rmcp::{RoleServer, service::RequestContext};
use serde_json::json;

use super::Handler;
use crate::server::{Server, active::cancelled};

/// How long a list waits. Clients commonly give a server a minute to connect and to list everything, one list after the other.
const LIST_WAIT: Duration = Duration::from_secs(8);

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

    /// The host that answers a list, and whether the list is final. A list that has waited for some time while the server starts is
    /// empty. Clients are notified when there are servlets.
    pub(super) async fn host_of_list(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> Result<(Arc<Host>, bool), RpcError> {
        let wait = LIST_WAIT.min(self.server.0.options.startup);
        let is_final = self.started(context, wait).await;
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
