//! Whether a server has its first servlets.

use std::time::Duration;

use mcp_servlet_runtime::JsonObject;
use rmcp::model::{PromptsCapability, ResourcesCapability, ServerCapabilities};
use tokio_util::sync::CancellationToken;

/// Whether the servlets of a server are there.
#[derive(Debug)]
pub(crate) struct Startup {
    ended: CancellationToken,
    /// Whether the server began without servlets: then it does not know what to declare.
    began_empty: bool,
}

impl Startup {
    /// Of a server that has its servlets from the beginning.
    pub(crate) fn done() -> Self {
        let startup = Self {
            began_empty: false,
            ..Self::running()
        };
        startup.end();
        startup
    }

    /// Of a server whose servlets come later.
    pub(crate) fn running() -> Self {
        Self {
            ended: CancellationToken::new(),
            began_empty: true,
        }
    }

    pub(crate) fn end(&self) {
        self.ended.cancel();
    }

    /// Adds everything that servlets may offer, if nobody knew what they offer when the first client came.
    pub(crate) fn declare(&self, capabilities: &mut ServerCapabilities) {
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
    pub(crate) async fn wait(&self, limit: Duration) -> bool {
        tokio::time::timeout(limit, self.ended.cancelled())
            .await
            .is_ok()
    }
}
