//! Requests that wait until a server has its first servlets.

use std::{sync::Arc, time::Duration};

use mcp_servlet_host::Host;
use mcp_servlet_runtime::{Fault, JsonObject};
use rmcp::{
    ErrorData, RoleServer,
    model::{ErrorCode, PromptsCapability, ResourcesCapability, ServerCapabilities},
    service::RequestContext,
};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::{Server, active::cancelled, handler::Handler};

/// Whether the servlets of a server are there.
#[derive(Debug)]
pub(super) struct Startup {
    ended: CancellationToken,
    /// Whether the server began without servlets: then it does not know what to declare.
    began_empty: bool,
}

impl Startup {
    /// Of a server that has its servlets from the beginning.
    pub(super) fn done() -> Self {
        let startup = Self {
            began_empty: false,
            ..Self::running()
        };
        startup.end();
        startup
    }

    /// Of a server whose servlets come later.
    pub(super) fn running() -> Self {
        Self {
            ended: CancellationToken::new(),
            began_empty: true,
        }
    }

    pub(super) fn end(&self) {
        self.ended.cancel();
    }

    /// Adds everything that servlets may offer, if nobody knew what they offer when the first client came.
    pub(super) fn declare(&self, capabilities: &mut ServerCapabilities) {
        if !self.began_empty {
            return;
        }
        let mut resources = ResourcesCapability::default();
        resources.list_changed = Some(true);
        resources.subscribe = Some(true);
        capabilities.resources = Some(resources);
        let mut prompts = PromptsCapability::default();
        prompts.list_changed = Some(true);
        capabilities.prompts = Some(prompts);
        capabilities.completions = Some(JsonObject::new());
        capabilities.logging = Some(JsonObject::new());
    }

    /// Waits until the servlets are there. False if they are not within this time.
    async fn wait(&self, limit: Duration) -> bool {
        tokio::time::timeout(limit, self.ended.cancelled())
            .await
            .is_ok()
    }
}

impl Handler {
    /// The host that answers a request. While the server is starting, the request waits for its servlets.
    pub(super) async fn host(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> Result<Arc<Host>, ErrorData> {
        let Server(shared) = &self.server;
        let is_ready = tokio::select! {
            biased;
            is_ready = shared.startup.wait(shared.options.startup) => is_ready,
            () = cancelled(context) => false,
            () = shared.active.stopping() => false,
        };
        if is_ready {
            return Ok(self.server.host());
        }
        Err(ErrorData::new(
            ErrorCode(Fault::BUSY),
            "the servlets are not built yet; try again later",
            Some(json!({ "retry": true })),
        ))
    }
}
