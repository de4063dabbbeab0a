//! A connection that a task keeps open.

use std::sync::{Arc, Mutex};

use mcp_servlet_common::lock;
use tokio::task::JoinHandle;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::shared::Shared;
use crate::supervisor::supervise;

/// A connection to a server. It ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Supervised {
    pub(crate) shared: Arc<Shared>,
    task: Mutex<Option<JoinHandle<Option<()>>>>,
    stop: CancellationToken,
    _stop: DropGuard,
}

impl Supervised {
    /// Connects in the background.
    pub(crate) fn start(shared: Shared) -> Self {
        let shared = Arc::new(shared);
        // Clients may ask for the lists before the task runs.
        shared.publish_known();
        let stop = CancellationToken::new();
        let task = shared
            .keepers
            .spawn(supervise(Arc::clone(&shared), stop.clone()));
        Self {
            shared,
            task: Mutex::new(Some(task)),
            _stop: stop.clone().drop_guard(),
            stop,
        }
    }

    /// Lets the connection end, without waiting for it.
    pub(crate) fn stop(&self) {
        self.stop.cancel();
    }

    /// Lets the connection end at once, with the requests that use it.
    pub(crate) fn abort(&self) {
        self.shared.aborted.cancel();
        self.stop();
    }

    /// Closes the connection and waits until it is closed. If a call still runs on it, the connection closes when that
    /// call ends, and this does not wait for it.
    pub(crate) async fn close(&self) {
        self.stop();
        let task = lock(&self.task).take();
        if let Some(task) = task {
            // An error means that the task has panicked, and with it the connection is closed.
            let _ = task.await;
        }
    }
}
