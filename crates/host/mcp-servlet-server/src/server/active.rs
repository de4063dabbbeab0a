//! Tracks running work, so that stopping can wait for it.

use std::{
    borrow::Cow,
    future::Future,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use axum::http::request::Parts;
use rmcp::{
    ErrorData, RoleServer, Service,
    model::{ClientNotification, ClientRequest, ProtocolVersion, ServerConfig, ServerResult},
    service::{NotificationContext, RequestContext},
};
use tokio_util::{
    sync::CancellationToken,
    task::{TaskTracker, task_tracker::TaskTrackerToken},
};

use crate::server::Server;

/// The running work of all transports, and the signal to stop.
#[derive(Debug, Default)]
pub(crate) struct Active {
    work: TaskTracker,
    leaving: AtomicBool,
    stop: CancellationToken,
}

impl Active {
    /// Marks work as running until the token is dropped.
    pub(crate) fn begin(&self) -> TaskTrackerToken {
        self.work.token()
    }

    /// Notes that the process will stop soon.
    pub(crate) fn leave(&self) {
        self.leaving.store(true, Ordering::Relaxed);
    }

    /// Whether the process will stop soon, or is stopping.
    pub(crate) fn is_leaving(&self) -> bool {
        self.leaving.load(Ordering::Relaxed) || self.is_stopping()
    }

    pub(crate) fn stop(&self) {
        self.stop.cancel();
        self.work.close();
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.stop.is_cancelled()
    }

    /// Returns when the server is stopped.
    pub(crate) async fn stopping(&self) {
        self.stop.cancelled().await;
    }

    /// Runs a future. None if the server is stopped first.
    pub(crate) async fn unless_stopping<F: Future>(&self, work: F) -> Option<F::Output> {
        self.stop.run_until_cancelled(work).await
    }

    /// Waits until no work is running, but no longer than `limit`.
    pub(crate) async fn idle(&self, limit: Duration) {
        if tokio::time::timeout(limit, self.work.wait()).await.is_err() {
            let left = self.work.len();
            tracing::warn!(
                left,
                "stopping while requests are running; they get no answer"
            );
        }
    }
}

/// Request extension: cancelled when the HTTP session of the request ends, or when its client hangs up.
#[derive(Clone, Debug)]
pub(crate) struct RequestEnd(pub(crate) CancellationToken);

/// Returns when the request was cancelled or answered: rmcp cancels its token in both cases.
pub(crate) async fn cancelled(context: &RequestContext<RoleServer>) {
    let parts = context.extensions.get::<Parts>();
    match parts.and_then(|parts| parts.extensions.get::<RequestEnd>()) {
        Some(RequestEnd(end)) => tokio::select! {
            () = context.ct.cancelled() => {}
            () = end.cancelled() => {}
        },
        None => context.ct.cancelled().await,
    }
}

/// A service whose requests count as running work.
pub(crate) struct Counted<H> {
    server: Server,
    inner: H,
}

impl<H: Service<RoleServer>> Counted<H> {
    pub(crate) fn new(server: Server, inner: H) -> Self {
        Self { server, inner }
    }
}

impl<H: Service<RoleServer>> Service<RoleServer> for Counted<H> {
    async fn handle_request(
        &self,
        request: ClientRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        let _active = self.server.0.process.active.begin();
        self.inner.handle_request(request, context).await
    }

    async fn handle_notification(
        &self,
        notification: ClientNotification,
        context: NotificationContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.inner.handle_notification(notification, context).await
    }

    fn get_info(&self) -> ServerConfig {
        self.inner.get_info()
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        self.inner.supported_protocol_versions()
    }
}
