//! Requests that wait until the server has loaded its servlets.

use std::sync::Arc;

use mcp_servlet_host::Host;
use mcp_servlet_runtime::Fault;
use rmcp::{ErrorData, RoleServer, model::ErrorCode, service::RequestContext};
use serde_json::json;

use super::Handler;
use crate::server::{Server, active::cancelled};

impl Handler {
    /// The host that answers a request. While the server starts, the request waits.
    pub(super) async fn host(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> Result<Arc<Host>, ErrorData> {
        let Server(shared) = &self.server;
        let is_ready = tokio::select! {
            biased;
            is_ready = shared.startup.wait(shared.options.startup) => is_ready,
            () = cancelled(context) => false,
            () = shared.process.active.stopping() => false,
        };
        if is_ready {
            return Ok(self.server.host());
        }
        let message = if shared.process.active.is_stopping() {
            "the server is stopping"
        } else {
            "the servlets are not loaded yet; try again later"
        };
        let data = Some(json!({ "retry": true }));
        Err(ErrorData::new(ErrorCode(Fault::BUSY), message, data))
    }
}
