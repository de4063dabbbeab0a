//! A listener that shows which calls run, and that can hold them.

use std::sync::Arc;

use mcp_servlet_call::{Listener, Notification, RequestMeta, Sending};
use puppet::PATIENCE;
use tokio::{sync::Semaphore, time::timeout};
use tokio_util::sync::CancellationToken;

/// Imports the notification that calls send to the gate.
pub(crate) const CHANGED: &str =
    r#"(import "extism:host/user" "notify_tool_list_changed" (func $changed))"#;

/// Holds calls at their notification until it is open.
#[derive(Debug)]
pub(crate) struct Gate {
    arrived: Semaphore,
    opened: CancellationToken,
}

impl Gate {
    pub(crate) fn closed() -> Arc<Self> {
        Arc::new(Self {
            arrived: Semaphore::new(0),
            opened: CancellationToken::new(),
        })
    }

    /// A gate that only counts the calls.
    pub(crate) fn opened() -> Arc<Self> {
        let gate = Self::closed();
        gate.open();
        gate
    }

    pub(crate) fn open(&self) {
        self.opened.cancel();
    }

    /// Waits until this many calls have arrived that no one has waited for.
    pub(crate) async fn arrived(&self, calls: usize) {
        let calls = u32::try_from(calls).expect("a small number");
        let arrived = timeout(PATIENCE, self.arrived.acquire_many(calls)).await;
        let arrived =
            arrived.unwrap_or_else(|_| panic!("waited {PATIENCE:?} for {calls} calls at the gate"));
        arrived.expect("nothing closes it").forget();
    }

    /// What a call needs for its notification to arrive here.
    pub(crate) fn meta(self: &Arc<Self>) -> RequestMeta {
        let mut meta = RequestMeta::default();
        meta.listener = Some(Arc::clone(self) as Arc<dyn Listener>);
        meta
    }
}

impl Listener for Gate {
    fn notify(&self, _: Notification) -> Sending<'_> {
        Box::pin(async {
            self.arrived.add_permits(1);
            self.opened.cancelled().await;
        })
    }
}
