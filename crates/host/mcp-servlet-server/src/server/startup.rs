//! Whether a server has loaded its first servlets.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

/// The startup of a server.
#[derive(Debug)]
pub(crate) struct Startup {
    ended: CancellationToken,
    began_empty: bool,
}

impl Startup {
    /// For a server that has its servlets from the beginning.
    pub(crate) fn done() -> Self {
        let startup = Self {
            began_empty: false,
            ..Self::running()
        };
        startup.end();
        startup
    }

    /// For a server that gets its servlets later.
    pub(crate) fn running() -> Self {
        Self {
            ended: CancellationToken::new(),
            began_empty: true,
        }
    }

    pub(crate) fn end(&self) {
        self.ended.cancel();
    }

    /// Whether the startup has not ended.
    pub(crate) fn is_running(&self) -> bool {
        !self.ended.is_cancelled()
    }

    /// Whether the server began without servlets, so that it does not know which capabilities to declare.
    pub(crate) fn began_empty(&self) -> bool {
        self.began_empty
    }

    /// Waits until the startup has ended. False if that takes longer than `limit`.
    pub(crate) async fn wait(&self, limit: Duration) -> bool {
        if self.ended.is_cancelled() {
            return true;
        }
        tokio::time::timeout(limit, self.ended.cancelled())
            .await
            .is_ok()
    }
}
